package web

import (
	"errors"
	"net/http"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/accounts"
)

// loginPages are the logins on the page of settings.
type loginPages struct{ *site }

// routes are the routes of the logins. Whoever may read may end the logins
// that it lists.
func (s loginPages) routes() []door.Route {
	if s.Tokens == nil {
		return nil
	}
	end := change("/logins/end", s.endLogins)
	end.Scope = door.Read
	return []door.Route{read("/logins", s.moved), end}
}

// loginsPage is the data of the page.
type loginsPage struct {
	Logins []accounts.Login
	Here   string // ID of the visitor's own
	Others bool   // there are others
	Whose  bool   // they belong to several tokens
}

// moved leads to the page of settings, which has the logins.
func (s loginPages) moved(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/settings#logins", http.StatusSeeOther)
}

// page returns what the page shows of the logins.
func (s loginPages) page(r *http.Request) (*loginsPage, error) {
	p := &loginsPage{Here: door.From(r.Context()).Login}
	var err error
	if p.Logins, err = s.loginsOf(r); err != nil {
		return nil, err
	}
	p.Others = slices.ContainsFunc(p.Logins, func(l accounts.Login) bool { return l.ID != p.Here })
	p.Whose = slices.ContainsFunc(p.Logins, func(l accounts.Login) bool { return l.Access.Name != p.Logins[0].Access.Name })
	return p, nil
}

// loginsOf returns the logins that a visitor may see and end: those with the
// user's tokens or, if the token sees everybody's sessions, with that token;
// all of them if it may do everything.
func (s loginPages) loginsOf(r *http.Request) ([]accounts.Login, error) {
	v := door.From(r.Context())
	all, err := s.Tokens.Logins(r.Context())
	return slices.DeleteFunc(all, func(l accounts.Login) bool {
		switch {
		case v.Owner() != "":
			return l.Access.User != v.Owner()
		case v.Scope >= door.Admin:
			return false
		}
		return l.Access.Name != v.Token
	}), err
}

// endLogins ends the logins that the form names, or all others, or all.
func (s loginPages) endLogins(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, errors.Join(skein.ErrInvalid, err))
		return
	}
	may, err := s.loginsOf(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	here, which := door.From(r.Context()).Login, r.PostFormValue("which")
	var ids []string
	for _, l := range may {
		if which == "all" || which == "others" && l.ID != here || slices.Contains(r.PostForm["id"], l.ID) {
			ids = append(ids, l.ID)
		}
	}
	if len(ids) > 0 {
		if err := s.Tokens.EndLogins(r.Context(), ids...); err != nil && !errors.Is(err, skein.ErrNotFound) {
			s.fail(w, r, err)
			return
		}
	}
	back(w, r, "/settings#logins", "Ended.")
}
