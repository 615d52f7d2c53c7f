package web

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/ranking"
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
		change("/views", s.keepView),
		change("/hints", closeHint),
	}
}

// sessionsPage is the data of the list.
type sessionsPage struct {
	Groups   []listGroup
	Filter   url.Values // as in the URL, without the place
	Next     string     // path of the next page; "" if this is the last one
	First    bool       // this is the first page
	Filtered bool
	Write    bool
	Path     string // of this page
	Total    int    // sessions that the filter selects; -1 if they were not counted
	Facets   []listFacet
	Times    listFacet
	Costs    listFacet
	Later    string // path of the page with the facets; "" if this one has them
	Children int    // sessions that agents started, and that are left out
	Chips    []chip
	Views    []savedView
	Hint     *hint  // nil: none
	Project  string // path of the page of the only project whose sessions are listed; "" if there are others

	names projectNames
}

// A chip is a filter that is set, and the path of the list without it.
type chip struct{ Name, Value, Path string }

// Has returns the value of a filter, "" if it is not set.
func (p *sessionsPage) Has(name string) string { return p.Filter.Get(name) }

// Query returns the filters as they stand in the URL.
func (p *sessionsPage) Query() string { return p.Filter.Encode() }

// Empty reports whether the page lists nothing.
func (p *sessionsPage) Empty() bool { return len(p.Groups) == 0 }

// By returns what the list is grouped by: day, project, branch or none.
func (p *sessionsPage) By() string {
	switch by := p.Has("group"); {
	case by == "project", by == "branch", by == "none":
		return by
	case p.Sort() != ranking.Latest:
		return "none"
	}
	return "day"
}

// Ways returns what the list can be grouped by.
func (p *sessionsPage) Ways() []string { return []string{"day", "project", "branch", "none"} }

// Sort returns how the list is sorted.
func (p *sessionsPage) Sort() ranking.Way { return ranking.Way(p.Has("sort")) }

// Sorts returns links that sort the list in each way. Groups have an order of their own.
func (p *sessionsPage) Sorts() (all []sortLink) {
	for _, way := range ranking.Ways() {
		q := maps.Clone(p.Filter)
		delete(q, "group")
		if q["sort"] = nil; way != ranking.Latest {
			q["sort"] = []string{string(way)}
		}
		all = append(all, sortLink{cmp.Or(string(way), "latest"), listPath(q), way == p.Sort() && (p.By() == "day" || p.By() == "none")})
	}
	return all
}

// A sortLink sorts the list.
type sortLink struct {
	Name, Path string
	At         bool // the list is sorted like this
}

// filterFields returns the list's filters with one text value, as in skein list.
func filterFields() []string {
	return []string{"title", "project", "repository", "profile", "origin", "since", "until", "cost", "group", "sort"}
}

// filterMarks returns the filters that are on or off.
func filterMarks() []string { return []string{"pinned", "children", "open"} }

// sessions shows the list. With piece=1 it sends only the list, for the script
// that updates it.
func (s lists) sessions(w http.ResponseWriter, r *http.Request) {
	if opened(r) && s.busy(r.Context()) {
		http.Redirect(w, r, "/now", http.StatusSeeOther)
		return
	}
	piece, facets := r.URL.Query().Has("piece"), r.URL.Query().Get("piece") == "facets"
	p, err := s.list(r, !piece || facets)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	switch {
	case facets:
		s.fragment(w, "sessions", "facets", p)
		return
	case piece:
		s.fragment(w, "sessions", "list", p)
		return
	}
	if p.Total == 0 && !p.Filtered && p.First && s.mayImport(door.From(r.Context())) {
		importPages(s).first(w, r)
		return
	}
	p.Hint = s.hintFor(w, r)
	s.show(w, r, "sessions", layoutData{Title: "Sessions", At: "sessions", Class: "listing", Data: p})
}

// list returns a page of the list, beside the facets if they are wanted.
func (s lists) list(r *http.Request, beside bool) (*sessionsPage, error) {
	ctx, q := r.Context(), r.URL.Query()
	p := &sessionsPage{Filter: url.Values{}, First: !q.Has("from"), Write: door.From(ctx).Scope >= door.Write, Path: r.URL.RequestURI(), Total: -1}
	p.names = s.projectNames(ctx)
	f, err := s.filter(q, p)
	if err != nil {
		return nil, err
	}
	sums, err := s.costLimit(ctx, p, &f)
	if err != nil {
		return nil, err
	}
	if beside {
		if err := s.beside(ctx, f, p, sums, q.Has("facets")); err != nil {
			return nil, err
		}
		p.Views = viewShelf.views(r)
	}
	switch by := p.By(); {
	case by == "project", by == "branch":
		err = s.grouped(ctx, f, p, by, q.Get("from"))
	case p.Sort() == ranking.Dearest:
		err = s.dearest(ctx, f, p, sums, q.Get("from"))
	case p.Sort() != ranking.Latest:
		err = s.ranked(ctx, f, p, q.Get("from"))
	default:
		err = s.latest(ctx, f, p, q.Get("from"))
	}
	return p, err
}

// manyListed is how many sessions a store may have for a list to come with its facets:
// those of more come when they are asked for, so that the list does not wait.
const manyListed = 20_000

// beside adds how many sessions there are, and the facets: if there are many sessions,
// only if the reader asked for them.
func (s lists) beside(ctx context.Context, f skein.Filter, p *sessionsPage, sums costs, asked bool) (err error) {
	counter := skein.CounterOf(s.store(ctx))
	p.Later = p.With("facets", "1")
	if !asked {
		size, err := total(ctx, counter, skein.Filter{NoChildren: f.NoChildren})
		if err != nil {
			return err
		}
		if size > s.Listed {
			if !p.Filtered {
				p.Total = size
			}
			return nil
		}
	}
	p.Later = ""
	if p.Total, err = s.facets(ctx, f, p); err != nil {
		return err
	}
	if f.NoChildren {
		with := f
		with.NoChildren = false
		all, err := total(ctx, counter, with)
		if err != nil {
			return err
		}
		p.Children = all - p.Total
	}
	p.Costs, err = s.costFacet(ctx, f, p, sums)
	return err
}

// total returns how many sessions f selects.
func total(ctx context.Context, counter skein.SessionCounter, f skein.Filter) (n int, err error) {
	counts, err := counter.CountBy(ctx, f, skein.ByAgent)
	return sum(counts[skein.ByAgent]), err
}

// sum returns how many sessions were counted.
func sum(counts []skein.Counted) (n int) {
	for _, c := range counts {
		n += c.Sessions
	}
	return n
}

// found returns the next sessions of f, at most limit of them.
func (s lists) found(ctx context.Context, f skein.Filter, p *sessionsPage, limit int) (all []skein.Session, err error) {
	if len(p.Filter["state"]) == 0 {
		f.Limit = limit
	}
	for one, err := range s.matching(ctx, f, p) {
		if err != nil {
			return nil, err
		}
		if all = append(all, one); len(all) == limit {
			break
		}
	}
	return all, nil
}

// matching yields the sessions of f that are in one of the states that are wanted.
func (s lists) matching(ctx context.Context, f skein.Filter, p *sessionsPage) iter.Seq2[skein.Session, error] {
	states := p.Filter["state"]
	return func(yield func(skein.Session, error) bool) {
		for one, err := range s.store(ctx).Sessions(ctx, f) {
			if err == nil && len(states) > 0 && !slices.Contains(states, string(s.stateOf(&one))) {
				continue
			}
			if !yield(one, err) {
				return
			}
		}
	}
}

// ranked lists the sessions of f in an order that the store does not have.
func (s lists) ranked(ctx context.Context, f skein.Filter, p *sessionsPage, from string) error {
	var after *ranking.Place
	if from != "" {
		place, err := ranking.ParsePlace(from)
		if err != nil {
			return err
		}
		after = &place
	}
	found, err := p.Sort().First(pageSize+1, s.matching(ctx, f, p), after)
	if err != nil {
		return err
	}
	return s.flat(ctx, p, found, func(last *skein.Session) string { return p.Sort().Place(last).String() })
}

// flat lists a page of found without groups. With more than a page of them, place gives
// the cursor of the next page.
func (s lists) flat(ctx context.Context, p *sessionsPage, found []skein.Session, place func(last *skein.Session) string) error {
	if len(found) > pageSize {
		found = found[:pageSize]
		p.Next = p.With("from", place(&found[pageSize-1]))
	}
	rows, err := s.rows(ctx, found)
	if err != nil || len(rows) == 0 {
		return err
	}
	g := listGroup{}
	for _, r := range rows {
		g.Items = append(g.Items, listItem{Row: r})
	}
	p.Groups = []listGroup{g}
	return nil
}

// latest lists the sessions of f, the latest first.
func (s lists) latest(ctx context.Context, f skein.Filter, p *sessionsPage, from string) (err error) {
	if from != "" {
		if f.Before, err = placeOf(from); err != nil {
			return err
		}
	}
	found, err := s.found(ctx, f, p, pageSize+1)
	if err != nil {
		return err
	}
	if len(found) > pageSize {
		found = found[:pageSize]
		p.Next = p.With("from", place(&found[pageSize-1]))
	}
	rows, err := s.rows(ctx, found)
	if err != nil {
		return err
	}
	switch {
	case len(rows) == 0:
	case p.By() == "none":
		p.Groups = []listGroup{{Items: folded(rows)}}
	default:
		p.Groups = byDay(rows, s.Now())
		err = s.wholeDays(ctx, f, p, rows)
	}
	return err
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
	if _, err := ranking.Parse(p.Has("sort")); err != nil {
		return f, err
	}
	f = skein.Filter{
		Title: p.Has("title"), Project: p.Has("project"), Repository: p.Has("repository"), Profile: p.Has("profile"), Origin: p.Has("origin"),
		Pinned: p.Has("pinned") != "", NoChildren: p.Has("children") == "", WithOpenCalls: p.Has("open") != "", Among: map[skein.Dimension][]string{},
	}
	for _, c := range choosable() {
		for _, v := range q[c.name] {
			if v = strings.TrimSpace(v); v != "" && !slices.Contains(p.Filter[c.name], v) {
				p.Filter.Add(c.name, v)
			}
		}
		f.Among[c.by] = p.Filter[c.name]
	}
	f.Among[skein.ByState] = storedStates(p.Filter["state"])
	p.chips()
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

// chips sets the chips of the filters that are set.
func (p *sessionsPage) chips() {
	for name, values := range p.Filter {
		for _, v := range values {
			c := chip{Name: name, Value: v, Path: p.Toggle(name, v)}
			switch name {
			case "group", "sort":
				continue
			case "in":
				c.Name, c.Value = "project", p.names.of(v)
			case "cost":
				c.Value = "$" + v + " or more"
			case "pinned", "children", "open":
				c.Name, c.Value = "", map[string]string{"pinned": "pinned", "children": "with sub-agents", "open": "tools running"}[name]
			}
			p.Chips = append(p.Chips, c)
		}
	}
	if in := p.Filter["in"]; len(in) == 1 {
		p.Project = projectPath(in[0])
	}
	slices.SortFunc(p.Chips, func(a, b chip) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value)) })
	p.Filtered = len(p.Chips) > 0
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

// Start returns the path of the first page of the list.
func (p *sessionsPage) Start() string { return listPath(maps.Clone(p.Filter)) }
