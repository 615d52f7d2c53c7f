package web

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/accounts"
)

// settingPages are the pages of settings: those of the browser, and those of the server for
// the people who run it.
type settingPages struct{ *site }

func (s settingPages) routes() []door.Route {
	looks := change("/settings/looks", s.setLooks)
	looks.Scope = door.Read
	all := []door.Route{read("/settings", s.settings), looks}
	if s.Tokens == nil {
		return all
	}
	for path, h := range map[string]http.HandlerFunc{
		"/settings/tokens": s.addToken, "/settings/tokens/remove": s.removeToken, "/settings/users": s.setUser,
	} {
		route := change(path, h)
		route.Scope = door.Admin
		all = append(all, route)
	}
	return all
}

// SettingTopic is a group of what the person who runs the server has set.
type SettingTopic struct {
	Title  string
	Says   string // what the topic is; "" if its title says that
	Rows   []SettingRow
	Change string // how to change it
}

// SettingRow is a thing that was set.
type SettingRow struct {
	Name  string
	Value string
	From  string // where it was set; "" if that says nothing
}

// settingsPage is the data of the page.
type settingsPage struct {
	Looks    lookChoice
	Logins   *loginsPage // nil if there are none
	MayShare bool        // the visitor may make links
	Admin    bool        // what follows is shown
	Tokens   []door.KnownToken
	Audits   bool   // there is a page of what they were used for
	Token    string // that was just made; it is not shown again
	Error    string // why that did not work
	Users    []accounts.Account
	Team     bool // the store keeps accounts
	Budgets  []price.Spent
	Topics   []SettingTopic
}

func (s settingPages) settings(w http.ResponseWriter, r *http.Request) {
	s.with(w, r, &settingsPage{})
}

// with shows the page, with what a form has set in p.
func (s settingPages) with(w http.ResponseWriter, r *http.Request, p *settingsPage) {
	if err := s.fill(r, p); err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, "settings", layoutData{Title: "Settings", At: "settings", Data: p})
}

func (s settingPages) fill(r *http.Request, p *settingsPage) (err error) {
	p.Looks, p.Admin, p.MayShare = looksOf(r), s.manages(r), door.From(r.Context()).Scope >= door.Write
	if s.Tokens != nil {
		if p.Logins, err = loginPages(s).page(r); err != nil {
			return err
		}
	}
	if !p.Admin {
		return nil
	}
	if s.Tokens != nil {
		if p.Tokens, err = s.Tokens.Known(r.Context()); err != nil {
			return err
		}
		p.Audits = s.Tokens.Audits()
		if users := s.Tokens.Accounts(); users != nil {
			p.Team = true
			if p.Users, err = users.Users(r.Context()); err != nil {
				return err
			}
		}
	}
	if s.Budgets != nil {
		if p.Budgets, err = s.Budgets(r.Context()); err != nil {
			return err
		}
	}
	if s.Settings != nil {
		p.Topics, err = s.Settings(r.Context())
	}
	return err
}

// manages reports whether a visitor manages the server: with the scope admin, and for
// everybody's sessions.
func (s settingPages) manages(r *http.Request) bool {
	v := door.From(r.Context())
	return v.Scope >= door.Admin && v.Owner() == ""
}

// lookChoice is how a browser shows the pages.
type lookChoice struct {
	Theme   string // light or dark; "" as the system has it
	Density string // compact; "" for the usual one
}

// looksCookie carries it. The two values have a dot between them.
const (
	looksCookie = "skein_looks"
	looksFor    = 365 * 24 * time.Hour
)

// looksOf returns what the browser of a request chose.
func looksOf(r *http.Request) (c lookChoice) {
	cookie, err := r.Cookie(door.From(r.Context()).CookieName(looksCookie))
	if err != nil {
		return c
	}
	theme, density, _ := strings.Cut(cookie.Value, ".")
	return looksNamed(theme, density)
}

// looksNamed returns a choice; what is not known is as usual.
func looksNamed(theme, density string) (c lookChoice) {
	if theme == "light" || theme == "dark" {
		c.Theme = theme
	}
	if density == "compact" {
		c.Density = density
	}
	return c
}

// setLooks keeps how the browser shows the pages.
func (s settingPages) setLooks(w http.ResponseWriter, r *http.Request) {
	c := looksNamed(r.PostFormValue("theme"), r.PostFormValue("density"))
	http.SetCookie(w, door.From(r.Context()).Cookie(looksCookie, c.Theme+"."+c.Density, looksFor))
	back(w, r, "/settings", "This browser shows the pages like this from now on.")
}

// addToken makes a token, and shows it once.
func (s settingPages) addToken(w http.ResponseWriter, r *http.Request) {
	a := door.Token{Name: strings.TrimSpace(r.PostFormValue("name")), Scope: r.PostFormValue("scope"), User: skein.User(strings.TrimSpace(r.PostFormValue("user")))}
	if r.PostFormValue("raw") != "" {
		a.Scope += "," + door.ReadRaw
	}
	p := &settingsPage{}
	days, err := strconv.Atoi("0" + strings.TrimSpace(r.PostFormValue("days")))
	switch {
	case !s.manages(r):
		err = fmt.Errorf("this needs a token for everybody's sessions: %w", skein.ErrRefused)
	case err != nil || days > 36500:
		err = fmt.Errorf("%w: days %q: want a number up to 36500, or nothing for a token that does not expire", skein.ErrInvalid, r.PostFormValue("days"))
	case days > 0:
		a.Expires = skein.At(s.Now().AddDate(0, 0, days))
	}
	if err == nil {
		p.Token, err = s.Tokens.Issue(r.Context(), a)
	}
	if err != nil {
		p.Token, p.Error = "", wordsOf(err)
	}
	s.with(w, r, p)
}

// removeToken removes a token.
func (s settingPages) removeToken(w http.ResponseWriter, r *http.Request) {
	if err := s.mayManage(r); err != nil {
		s.fail(w, r, err)
		return
	}
	name := r.PostFormValue("name")
	if err := s.Tokens.Revoke(r.Context(), name); err != nil && !errors.Is(err, skein.ErrNotFound) {
		s.with(w, r, &settingsPage{Error: wordsOf(err)})
		return
	}
	back(w, r, "/settings#tokens", fmt.Sprintf("The token %s is removed, and its logins have ended.", name))
}

// setUser makes an account, or changes the limits of one.
func (s settingPages) setUser(w http.ResponseWriter, r *http.Request) {
	if err := s.mayManage(r); err != nil {
		s.fail(w, r, err)
		return
	}
	a := accounts.Account{User: skein.User(strings.TrimSpace(r.PostFormValue("user")))}
	var err, err2 error
	a.MaxSessions, err = limitOf(r, "sessions")
	a.MaxBytes, err2 = limitOf(r, "megabytes")
	a.MaxBytes *= 1_000_000
	users := s.Tokens.Accounts()
	switch {
	case users == nil:
		err = fmt.Errorf("%w: this store keeps no accounts", skein.ErrInvalid)
	case err != nil || err2 != nil:
		err = errors.Join(err, err2)
	case r.PostFormValue("new") != "":
		err = users.AddUser(r.Context(), a)
	default:
		err = users.SetUser(r.Context(), a)
	}
	if err != nil {
		s.with(w, r, &settingsPage{Error: wordsOf(err)})
		return
	}
	back(w, r, "/settings#users", "Saved.")
}

// limitOf returns a limit in a form: nothing or 0 for none.
func limitOf(r *http.Request, name string) (int64, error) {
	n, err := strconv.ParseInt("0"+strings.TrimSpace(r.PostFormValue(name)), 10, 64)
	if err != nil || n > 1e12 {
		return 0, fmt.Errorf("%w: %s %q: want a number, or nothing for no limit", skein.ErrInvalid, name, r.PostFormValue(name))
	}
	return n, nil
}

// mayManage returns an error unless the visitor manages the server.
func (s settingPages) mayManage(r *http.Request) error {
	if !s.manages(r) {
		return fmt.Errorf("this needs a token for everybody's sessions: %w", skein.ErrRefused)
	}
	return nil
}

// Scopes are the scopes that a token can have.
func (p *settingsPage) Scopes() []string { return []string{"read", "answer", "write", "admin"} }

// Removable reports whether a token can be removed on the page.
func (p *settingsPage) Removable(t door.KnownToken) bool { return t.Name != door.First }

// Whose reports whether tokens are for several users.
func (p *settingsPage) Whose() bool {
	return p.Team || slices.ContainsFunc(p.Tokens, func(t door.KnownToken) bool { return t.User != "" })
}
