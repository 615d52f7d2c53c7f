package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/share"
	"github.com/skein-dev/skein/server/web/transcript"
	"github.com/skein-dev/skein/store/accounts"
)

// sharePages make links to sessions that anybody can read, and end them.
type sharePages struct{ *site }

func (s sharePages) routes() []door.Route {
	if s.Shares.Shares == nil {
		return nil
	}
	for _, name := range share.StyleNames() {
		s.Shares.Styles = append(s.Shares.Styles, s.assets[name].url)
	}
	look, all := read("/sessions/{id}/share", s.look), read("/shares", s.all)
	look.Scope, all.Scope = door.Write, door.Write
	return append(share.New(s.Shares).Routes(), look, all, change("/sessions/{id}/share", s.make), change("/shares/end", s.end))
}

// sharePage is the data of the page on which a link is made.
type sharePage struct {
	*share.Preview
	*transcript.Transcript
	Session  skein.Session
	Path     string // of the page
	N, Last  int    // of the preview's pages
	Options  []shareOption
	Links    []linkRow
	Link     string // that was just made
	OnlyHere bool   // it works on this machine only
	Error    string // why that did not work
}

// shareOption is something that a link hides unless it is chosen.
type shareOption struct {
	Name, Title string
	On          bool
}

// linkRow is a link, for its row.
type linkRow struct {
	accounts.SharedLink
	Name    string // of the session
	Expired bool
}

// Modes returns the modes to choose from.
func (p *sharePage) Modes() []navLink {
	return []navLink{{"", "everything", ""}, {"talk", "the conversation", ""}, {"prompts", "prompts and answers", ""}, {"changes", "changes of files", ""}}
}

// At returns the path of a page of the preview.
func (p *sharePage) At(n int) string {
	q := p.Shows.Values()
	q.Set("page", strconv.Itoa(n))
	return p.Path + "?" + q.Encode()
}

// Earlier and Later return the path of the page before and after; "" if there is none.
func (p *sharePage) Earlier() string { return p.beside(p.N - 1) }

// Later is described at Earlier.
func (p *sharePage) Later() string { return p.beside(p.N + 1) }

func (p *sharePage) beside(n int) string {
	if n < 1 || n > p.Last {
		return ""
	}
	return p.At(n)
}

// To returns the path of a message in the preview.
func (p *sharePage) To(seq skein.Seq) string {
	return p.At(p.PageOf(seq)) + "#m" + strconv.FormatInt(int64(seq), 10)
}

// Fields returns what the form that makes the link sends of what was chosen.
func (p *sharePage) Fields() url.Values { return p.Shows.Values() }

// look shows what a link would show.
func (s sharePages) look(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	p, err := s.page(r, one, r.URL.Query())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if path, of, _ := strings.Cut(once(w, r, madeCookie, maxMade), " "); of == string(one.ID) {
		v := door.From(r.Context())
		p.Link, p.OnlyHere = v.Site()+path, v.Local()
	}
	s.preview(w, r, p)
}

// preview answers with the page. A browser keeps no copy that has a link.
func (s sharePages) preview(w http.ResponseWriter, r *http.Request, p *sharePage) {
	s.show(w, r, "share", layoutData{Title: "Share " + p.Preview.Title, At: "sessions", Class: "session", Data: p, Once: p.Link != ""})
}

// page returns the data of the page, with what was chosen in q.
func (s sharePages) page(r *http.Request, one skein.Session, q url.Values) (p *sharePage, err error) {
	p = &sharePage{Path: transcript.SessionPath(one.ID) + "/share", Session: s.veiled(one)}
	shows, err := share.Parse(q)
	if err != nil {
		return nil, err
	}
	if p.Preview, err = s.Shares.Look(r.Context(), door.From(r.Context()).Store, one, shows); err != nil {
		return nil, err
	}
	p.Last = p.Pages()
	if p.N, err = strconv.Atoi(cmp.Or(q.Get("page"), "1")); err != nil || p.N < 1 || p.N > p.Last {
		return nil, skein.Invalidf("page %q: want 1 to %d", q.Get("page"), p.Last)
	}
	blob := func(h skein.Hash) string { return transcript.SessionPath(one.ID) + "/blobs/" + string(h) }
	if p.Transcript, err = p.Preview.Page(p.N, blob); err != nil {
		return nil, err
	}
	p.Transcript.Folding = transcript.FoldingOf(strings.Join(transcript.FoldKinds(), ".")) // what is folded is not seen
	for _, k := range share.Kinds() {
		p.Options = append(p.Options, shareOption{string(k.Name), k.Title, p.Shows.Has(string(k.Name))})
	}
	p.Options = append(p.Options,
		shareOption{"files", "Pictures, with what cameras put into them, and names of files that are attached", p.Shows.Files},
		shareOption{"reasoning", "Reasoning of models", p.Shows.Reasoning},
		shareOption{"context", "What programs put into prompts", p.Shows.Context})
	p.Links, err = s.links(r, one.ID)
	return p, err
}

// madeCookie carries the path of a link that was just made to the page that shows it
// once: reloading that page makes no other link. A space and the session's ID follow
// the path.
const (
	madeCookie = "skein_made"
	maxMade    = 1 << 10 // bytes
)

// make makes a link. The page shows it.
func (s sharePages) make(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	err := r.ParseForm()
	if err != nil {
		s.fail(w, r, skein.Invalidf("form: %v", err))
		return
	}
	form := r.PostForm
	p, err := s.page(r, one, form)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	days, err := strconv.Atoi(form.Get("days"))
	if err != nil {
		s.fail(w, r, skein.Invalidf("days %q: want a number", form.Get("days")))
		return
	}
	_, path, err := s.Shares.Add(r.Context(), one, p.Preview, form.Get("seen"), door.From(r.Context()).Token, days)
	if errors.Is(err, share.ErrUnseen) {
		p.Error = "What the link would show is not what you saw. Look at it again."
		s.preview(w, r, p)
		return
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	setOnce(w, r, madeCookie, path+" "+string(one.ID))
	back(w, r, p.At(p.N), "")
}

// links returns the visitor's links to a session, or to all.
func (s sharePages) links(r *http.Request, id skein.SessionID) (all []linkRow, err error) {
	v := door.From(r.Context())
	found, err := s.Shares.Shares.Shares(r.Context(), v.User, id)
	if err != nil {
		return nil, err
	}
	for _, a := range found {
		name, err := s.nameOf(r.Context(), a.Session)
		if err != nil {
			return nil, err
		}
		all = append(all, linkRow{a, name, a.Expires <= skein.At(s.Now())})
	}
	return all, nil
}

// nameOf returns the name of a session; its ID if it is gone.
func (s sharePages) nameOf(ctx context.Context, id skein.SessionID) (string, error) {
	one, err := door.From(ctx).Store.Session(ctx, id)
	if errors.Is(err, skein.ErrNotFound) || errors.Is(err, skein.ErrDeleted) {
		return string(id), nil
	}
	if err != nil {
		return "", err
	}
	one = s.veiled(one)
	return render.Line(one.Name()), nil
}

// sharesPage is the data of the list of links.
type sharesPage struct{ Links []linkRow }

// all lists the visitor's links.
func (s sharePages) all(w http.ResponseWriter, r *http.Request) {
	links, err := s.links(r, "")
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, "shares", layoutData{Title: "Shared links", At: "settings", Data: sharesPage{links}})
}

// end ends a link.
func (s sharePages) end(w http.ResponseWriter, r *http.Request) {
	err := s.Shares.Shares.RemoveShare(r.Context(), door.From(r.Context()).User, r.PostFormValue("id"))
	if err != nil && !errors.Is(err, skein.ErrNotFound) {
		s.fail(w, r, err)
		return
	}
	back(w, r, local(r.PostFormValue("back"), "/shares"), "The link is ended.")
}
