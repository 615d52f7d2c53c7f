package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/transcript"
)

//go:embed pages/*.html
var pageFiles embed.FS

// site is what all pages share.
type site struct {
	Options
	pages       map[string]*template.Template // by name: sessions for pages/sessions.html
	assets      assets
	transcripts *transcript.Maker
}

func newSite(o Options) *site {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Listed == 0 {
		o.Listed = manyListed
	}
	if o.FindFor == 0 {
		o.FindFor = findFor
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &site{Options: o, pages: map[string]*template.Template{}, assets: newAssets(), transcripts: transcript.NewMaker(o.Secrets, o.Prices)}
	s.parse()
	return s
}

// parse parses the templates: each page together with the layout and with
// parts.html. They are embedded, so it panics if one is wrong.
func (s *site) parse() {
	frame := template.Must(template.New("layout.html").Funcs(s.funcs()).ParseFS(pageFiles, "pages/layout.html", "pages/parts.html"))
	template.Must(transcript.Parse(frame))
	files, err := fs.Glob(pageFiles, "pages/*.html")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		s.pages[name] = template.Must(template.Must(frame.Clone()).ParseFS(pageFiles, file))
	}
}

// navLink is a link of the navigation.
type navLink struct{ Name, Title, Path string }

// layoutData is the data of the layout, which surrounds a page's own template, main.
type layoutData struct {
	Title string // of the browser window
	At    string // name of the page's navigation link
	Class string // of the body, for the style sheet
	Query string // in the search field
	Data  any    // of the page, for its own template
	Once  bool   // the browser keeps no copy of the page

	Visitor door.Visitor // set by show
	Looks   lookChoice   // set by show
	Notice  string       // what the last form did; set by show
	Chats   bool         // agents answer here; set by here
	Imports bool         // the visitor may import; set by here
	Running string       // how far the running import is; set by here
}

// Nav returns the navigation.
func (p layoutData) Nav() []navLink { return append(navigation(), p.viewLinks()...) }

// In reports whether the visitor is logged in.
func (p layoutData) In() bool { return p.Visitor.Scope > door.Open }

// MayWrite reports whether the visitor may change sessions.
func (p layoutData) MayWrite() bool { return p.Visitor.Scope >= door.Write }

// MayAdmin reports whether the visitor may do everything.
func (p layoutData) MayAdmin() bool { return p.Visitor.Scope >= door.Admin }

// show answers with a page: the layout, with the template main of
// pages/NAME.html.
func (s *site) show(w http.ResponseWriter, r *http.Request, name string, p layoutData) {
	p.Visitor, p.Looks = door.From(r.Context()), looksOf(r)
	p.Notice = notice(w, r)
	if p.Notice != "" || p.Once || r.Method != http.MethodGet || r.URL.Query().Has("raw") {
		s.write(w, http.StatusOK, name, p) // it is shown once, or has secrets: nothing to keep
		return
	}
	text, ok := s.text(w, name, "layout", s.here(p))
	if !ok {
		return
	}
	sum := sha256.Sum256(text)
	tag := `W/"` + hex.EncodeToString(sum[:12]) + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache") // kept, but shown again only if it is still the same
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	answer(w, http.StatusOK, text)
}

// write answers with a page and a status.
func (s *site) write(w http.ResponseWriter, status int, name string, p layoutData) {
	s.execute(w, status, name, "layout", s.here(p))
}

// here returns p with the fields that say what this site offers.
func (s *site) here(p layoutData) layoutData {
	p.Chats = s.Chat != nil
	p.Imports, p.Running = s.mayImport(p.Visitor), s.running(p.Visitor)
	return p
}

// fragment answers with only a template of pages/NAME.html, for a script to put
// into a page.
func (s *site) fragment(w http.ResponseWriter, name, piece string, data any) {
	s.execute(w, http.StatusOK, name, piece, data)
}

func (s *site) execute(w http.ResponseWriter, status int, name, piece string, data any) {
	if text, ok := s.text(w, name, piece, data); ok {
		answer(w, status, text)
	}
}

// text returns what a template makes of data, and false if the request was answered:
// the template failed.
func (s *site) text(w http.ResponseWriter, name, piece string, data any) ([]byte, bool) {
	var b bytes.Buffer
	if err := s.pages[name].ExecuteTemplate(&b, piece, data); err != nil {
		s.Log.Error("a page failed", "page", name, "err", err)
		http.Error(w, "the page could not be made; see the server's log", http.StatusInternalServerError)
		return nil, false
	}
	return b.Bytes(), true
}

// answer sends HTML.
func answer(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	w.Write(text) //nolint:errcheck // the client has gone
}

// fail answers with an error, for people.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the client has gone
	}
	p := door.ProblemOf(err)
	if p.Code == "internal" {
		s.Log.Error("a request failed", "err", err, "path", r.URL.Path, "id", w.Header().Get("X-Request-Id"))
	}
	s.problem(w, r, problemPage{Problem: p, Path: r.URL.Path, Text: r.PostForm.Get("text")})
}

// noticeCookie carries the result of a form to the next page.
const noticeCookie = "skein_notice"

const (
	maxNotice = 300 // bytes
	onceFor   = time.Minute
)

// back answers a form: the next page, at path, shows what was done.
func back(w http.ResponseWriter, r *http.Request, path, done string) {
	if done != "" {
		setOnce(w, r, noticeCookie, render.Clip(done, maxNotice))
	}
	http.Redirect(w, r, path, http.StatusSeeOther)
}

// notice returns the result of the last form, once.
func notice(w http.ResponseWriter, r *http.Request) string {
	return once(w, r, noticeCookie, maxNotice)
}

// setOnce gives the browser a cookie for the next page.
func setOnce(w http.ResponseWriter, r *http.Request, name, text string) {
	http.SetCookie(w, door.From(r.Context()).Cookie(name, url.QueryEscape(text), onceFor))
}

// once takes a cookie that setOnce gave back from the browser, and returns at most the
// first most bytes of its text; "" if there is none.
func once(w http.ResponseWriter, r *http.Request, name string, most int) string {
	v := door.From(r.Context())
	c, err := r.Cookie(v.CookieName(name))
	if err != nil {
		return ""
	}
	http.SetCookie(w, v.Cookie(name, "", 0))
	text, err := url.QueryUnescape(c.Value)
	if err != nil {
		return ""
	}
	return render.Clip(text, most)
}

// local returns path if it leads to a page of this server, and otherwise other:
// a form may say which page to go back to, but nowhere else.
func local(path, other string) string {
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || len(path) == 0 || path[0] != '/' || len(path) > 1 && (path[1] == '/' || path[1] == '\\') {
		return other
	}
	return path
}

// Redact returns text with its secrets masked.
func (s *site) Redact(text string) string {
	if s.Secrets == nil {
		return text
	}
	return s.Secrets.Text(text)
}

// veiled returns a session with the secrets in its names masked.
func (s *site) veiled(one skein.Session) skein.Session {
	if s.Secrets == nil {
		return one
	}
	return s.Secrets.Session(one)
}

// store returns the visitor's store as the pages show it. A visitor who may not
// see secrets cannot find out about them by searching either.
func (s *site) store(ctx context.Context) skein.Store {
	switch v := door.From(ctx); {
	case s.Secrets == nil:
		return v.Store
	case v.Raw:
		return s.Secrets.Cover(v.Store)
	default:
		return s.Secrets.Veil(v.Store)
	}
}
