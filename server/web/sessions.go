package web

import (
	"archive/zip"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/search"
)

// lists are the pages that list sessions, and what is done there to several of them.
type lists struct{ *site }

// pageSize is how many sessions a page of the list has.
const pageSize = 50

// routes are the routes of the list of all sessions.
func (s lists) routes() []door.Route {
	return []door.Route{
		read("/{$}", s.sessions),
		change("/sessions/bulk", s.bulk),
	}
}

// sessionsPage is the data of the list.
type sessionsPage struct {
	Rows     []row
	Filter   url.Values // as in the URL, without the place
	Next     string     // path of the next page; "" if this is the last one
	First    bool       // this is the first page
	Filtered bool
	Write    bool
	Choices  map[string][]string // for the fields of the filter
	Path     string              // of this page
}

// Has returns the value of a filter, "" if it is not set.
func (p *sessionsPage) Has(name string) string { return p.Filter.Get(name) }

// With returns the path of the list with one more filter.
func (p *sessionsPage) With(name, value string) string {
	q := url.Values{}
	for k, v := range p.Filter {
		q[k] = v
	}
	q.Set(name, value)
	return "/?" + q.Encode()
}

// row is a session of the list.
type row struct {
	skein.Session
	Cost string
}

// Who returns the name of the session's agent.
func (r *row) Who() string {
	if r.Profile != "" && !strings.ContainsAny(r.Profile, `/\`) && r.Profile != r.Agent {
		return strings.TrimPrefix(r.Agent+"/"+r.Profile, "/")
	}
	return r.Agent
}

// filterFields returns the list's filters with a text value, as in skein list.
func filterFields() []string {
	return []string{"title", "project", "repository", "agent", "model", "profile", "origin", "surface", "tag", "since", "until"}
}

// filterMarks returns the filters that are on or off.
func filterMarks() []string { return []string{"pinned", "children", "open"} }

// sessions shows the list. With piece=1 it sends only the list, for the script
// that updates it.
func (s lists) sessions(w http.ResponseWriter, r *http.Request) {
	p, err := s.list(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if r.URL.Query().Has("piece") {
		s.fragment(w, "sessions", "list", p)
		return
	}
	s.show(w, r, "sessions", layoutData{Title: "Sessions", At: "sessions", Data: p})
}

func (s lists) list(r *http.Request) (*sessionsPage, error) {
	ctx, q := r.Context(), r.URL.Query()
	p := &sessionsPage{Filter: url.Values{}, First: !q.Has("from"), Write: door.From(ctx).Scope >= door.Write}
	f, err := s.filter(q, p)
	if err != nil {
		return nil, err
	}
	f.Limit = pageSize + 1
	if !p.First {
		if f.Before, err = placeOf(q.Get("from")); err != nil {
			return nil, err
		}
	}
	found, err := s.found(ctx, f)
	if err != nil {
		return nil, err
	}
	if len(found) > pageSize {
		found = found[:pageSize]
		p.Next = p.With("from", place(&found[pageSize-1]))
	}
	p.Path = r.URL.RequestURI()
	costs, err := s.costs(ctx, found)
	if err != nil {
		return nil, err
	}
	for _, one := range found {
		p.Rows = append(p.Rows, row{one, costs[one.ID].Money()})
	}
	p.Choices = choices(p.Rows)
	return p, nil
}

func (s lists) found(ctx context.Context, f skein.Filter) (all []skein.Session, err error) {
	for one, err := range s.store(ctx).Sessions(ctx, f) {
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// filter parses the filters of a URL, and records in p which are set.
func (s lists) filter(q url.Values, p *sessionsPage) (f skein.Filter, err error) {
	for _, name := range filterFields() {
		if v := strings.TrimSpace(q.Get(name)); v != "" {
			p.Filter.Set(name, v)
		}
	}
	for _, name := range filterMarks() {
		if q.Get(name) != "" {
			p.Filter.Set(name, "1")
		}
	}
	p.Filtered = len(p.Filter) > 0
	f = skein.Filter{
		Title: p.Has("title"), Project: p.Has("project"), Repository: p.Has("repository"), Agent: p.Has("agent"), Model: p.Has("model"), Profile: p.Has("profile"),
		Origin: p.Has("origin"), Surface: p.Has("surface"), Tag: p.Has("tag"),
		Pinned: p.Has("pinned") != "", NoChildren: p.Has("children") == "", WithOpenCalls: p.Has("open") != "",
	}
	if v := p.Has("since"); v != "" {
		if f.Since, err = search.ParseSince(v, s.Now()); err != nil {
			return f, err
		}
	}
	if v := p.Has("until"); v != "" {
		f.Until, err = search.ParseUntil(v, s.Now())
	}
	return f, err
}

// place returns the place of a session in the list, for the next page.
func place(s *skein.Session) string {
	return strconv.FormatInt(int64(s.Updated), 36) + "." + string(s.ID)
}

func placeOf(text string) (*skein.Session, error) {
	at, id, ok := strings.Cut(text, ".")
	n, err := strconv.ParseInt(at, 36, 64)
	if !ok || err != nil || skein.SessionID(id).Check() != nil {
		return nil, fmt.Errorf("from=%q: %w: want the cursor of a page of the list", text, skein.ErrInvalid)
	}
	return &skein.Session{ID: skein.SessionID(id), Updated: skein.Time(n)}, nil
}

// choices returns the values of the rows, to choose filters from.
func choices(rows []row) map[string][]string {
	all := map[string][]string{}
	seen := map[string]bool{}
	add := func(name, value string) {
		if value != "" && !seen[name+"\x00"+value] {
			seen[name+"\x00"+value] = true
			all[name] = append(all[name], value)
		}
	}
	for i := range rows {
		r := &rows[i]
		add("project", r.Project)
		add("repository", r.Checkout.Repository)
		add("agent", r.Agent)
		add("model", r.Model)
		add("surface", r.Surface)
		if r.Origin != nil {
			add("origin", r.Origin.Format)
		}
		for _, t := range r.Tags {
			add("tag", t)
		}
	}
	return all
}

// Start returns the path of the first page of the list.
func (p *sessionsPage) Start() string {
	if len(p.Filter) == 0 {
		return "/"
	}
	return "/?" + p.Filter.Encode()
}

// maxBulk is how many sessions a form may name.
const maxBulk = 1000

// bulk changes the sessions that were selected in the list.
func (s lists) bulk(w http.ResponseWriter, r *http.Request) {
	all, err := picked(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	to := local(r.PostFormValue("back"), "/")
	if len(all) == 0 {
		back(w, r, to, "No session is selected. Select some first.")
		return
	}
	switch what := r.PostFormValue("do"); what {
	case "export":
		s.exportAll(w, r, all)
		return
	case "tag":
		err = s.tagAll(r, all)
	case "bin":
		for i := range all {
			if err = skein.LifecycleOf(door.From(r.Context()).Store).Bin(r.Context(), all[i].ID); err != nil {
				break
			}
		}
	default:
		err = fmt.Errorf("do=%q: %w: want tag, bin or export", what, skein.ErrInvalid)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	done := map[string]string{"tag": "Tagged ", "bin": "Moved to the bin: "}[r.PostFormValue("do")]
	back(w, r, to, done+plural(len(all), "session")+".")
}

// picked returns the sessions that a form names by id: all must exist before
// anything is done.
func picked(r *http.Request) ([]skein.Session, error) {
	if err := r.ParseForm(); err != nil {
		return nil, fmt.Errorf("%w: %w", err, skein.ErrInvalid)
	}
	var ids []skein.SessionID
	for _, id := range r.PostForm["id"] {
		ids = append(ids, skein.SessionID(id))
	}
	if len(ids) > maxBulk {
		return nil, fmt.Errorf("%d sessions: %w: at most %d at once", len(ids), skein.ErrInvalid, maxBulk)
	}
	store := door.From(r.Context()).Store
	known, err := lookup.ByID(r.Context(), store, ids)
	if err != nil {
		return nil, err
	}
	all := make([]skein.Session, 0, len(ids))
	for _, id := range ids {
		one, ok := known[id]
		if !ok {
			if one, err = store.Session(r.Context(), id); err != nil {
				return nil, err
			}
		}
		all = append(all, one)
	}
	return all, nil
}

func (s lists) tagAll(r *http.Request, all []skein.Session) error {
	tags, err := parseTags(r.PostFormValue("tag"))
	if err != nil {
		return err
	}
	if len(tags) == 0 {
		return fmt.Errorf("tag: %w: empty", skein.ErrInvalid)
	}
	for i := range all {
		if err := forms(s).addTags(r.Context(), door.From(r.Context()).Store, all[i].ID, tags); err != nil {
			return err
		}
	}
	return nil
}

// exportAll answers with an archive that contains a file for each session.
func (s lists) exportAll(w http.ResponseWriter, r *http.Request, all []skein.Session) {
	for _, d := range downloads() {
		if d.Name != cmp.Or(r.PostFormValue("as"), "md") {
			continue
		}
		w.Header().Set("Content-Type", "application/zip")
		w.Header().Set("Content-Disposition", `attachment; filename="sessions-`+s.Now().UTC().Format("2006-01-02")+`.zip"`)
		z := zip.NewWriter(w)
		for i := range all {
			f, err := z.CreateHeader(&zip.FileHeader{Name: fileName(&all[i]) + d.Ext, Method: zip.Deflate, Modified: all[i].Updated.Std()})
			if err == nil {
				err = downloader(s).export(r.Context(), f, all[i], d.Name, false)
			}
			if err != nil {
				s.Log.Error("a download broke off", "session", all[i].ID, "err", err)
				panic(http.ErrAbortHandler) // so that nobody takes half an archive for the whole
			}
		}
		if err := z.Close(); err != nil {
			panic(http.ErrAbortHandler) // as above
		}
		return
	}
	s.fail(w, r, fmt.Errorf("as=%q: %w: want md, html, json or skein", render.Line(r.PostFormValue("as")), skein.ErrInvalid))
}
