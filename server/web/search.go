package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/refine"
	"github.com/skein-dev/skein/server/web/transcript"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/search"
)

// searchPages are searches in all sessions.
type searchPages struct{ *site }

const (
	maxHits   = 40 // shown by each step of the search
	maxFacets = 8  // values of one facet
)

// routes are the routes of the search.
func (s searchPages) routes() []door.Route {
	return []door.Route{read("/search", s.search), change("/search/kept", s.keepSearch)}
}

// searchPage is the data of the search page.
type searchPage struct {
	Query     string
	Asked     bool
	Hits      []hit
	CutOff    bool
	Bad       string // error in the query
	Facets    []facet
	Suggested string // a query that finds something, if this one finds nothing; may be ""
	Chips     []refine.QueryPart
	Saved     []savedView
	Recent    []savedView
	Path      string // of this search

	Later iter.Seq[*laterPage] // what is found while the page is sent; nil if everything was searched
	stop  func()               // ends the search
}

// laterPage is what a later step of a search found.
type laterPage struct {
	Hits []hit // not shown before
	Last bool  // the search has ended,
	None bool  // and found nothing at all
	Bad  string
}

// Words returns the query for a search in one session, without what selects
// sessions.
func (p *searchPage) Words() string {
	words := strings.Fields(p.Query)
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "session:") }), " ")
}

// Kept reports whether the search is saved.
func (p *searchPage) Kept() bool {
	return slices.ContainsFunc(p.Saved, func(v savedView) bool { return v.Query == p.Query })
}

// WithRewound returns the path of the search that also finds what was taken
// back; "" if this one does, or if the query itself says whether to.
func (p *searchPage) WithRewound() string {
	if strings.Contains(" "+p.Query, " rewound:") {
		return ""
	}
	return "/search?q=" + url.QueryEscape(p.Query+" rewound:yes")
}

// listed is hits for a list.
type listed struct {
	Words string
	Hits  []hit
}

// Listed returns hits for the page's list.
func (p *searchPage) Listed(hits []hit) listed { return listed{p.Words(), hits} }

// hit is a hit, with its session.
type hit struct {
	skein.Hit
	Session skein.Session
	Name    string
	Pieces  []skein.Fragment
	Path    string // to the message
	Where   string // short name of the project
}

// facet is a property of the hits, with its values among them.
type facet struct {
	Title  string
	Values []facetValue
}

type facetValue struct {
	Name  string
	Count int
	Path  string // of the search for only these
}

// search shows the results of a search. With piece=1 it sends only the results,
// for the script that searches as people type.
func (s searchPages) search(w http.ResponseWriter, r *http.Request) {
	text := strings.TrimSpace(r.URL.Query().Get("q"))
	p := &searchPage{
		Query: text, Asked: text != "", Chips: refine.Chips(text, s.Now()), Path: savedView{Query: text}.Search(),
		Saved: searchShelf.views(r), Recent: recentShelf.views(r), stop: func() {},
	}
	defer func() { p.stop() }()
	if err := s.find(w, r, p); err != nil {
		s.fail(w, r, err)
		return
	}
	if piece := r.URL.Query(); !piece.Has("piece") || piece.Has("keep") {
		s.remember(w, r, text)
	}
	if r.URL.Query().Has("piece") {
		s.showFound(w, "results", p, p)
		return
	}
	title := "Search"
	if text != "" {
		title = text + " · Search"
	}
	s.showFound(w, "layout", s.here(layoutData{
		Title: title, At: "search", Query: text, Class: "searching", Data: p,
		Visitor: door.From(r.Context()), Notice: notice(w, r),
	}), p)
}

// showFound answers with a template of search.html: at once if everything was
// searched, otherwise as it comes.
func (s searchPages) showFound(w http.ResponseWriter, piece string, data any, p *searchPage) {
	if p.Later == nil {
		s.execute(w, http.StatusOK, "search", piece, data)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no")
	if err := s.pages["search"].ExecuteTemplate(w, piece, data); err != nil {
		s.Log.Debug("a page could not be sent completely", "page", "search", "err", err)
	}
}

// find puts the first hits into p. If there is more to search, the search goes
// on while the page is sent.
func (s searchPages) find(w http.ResponseWriter, r *http.Request, p *searchPage) error {
	ctx := r.Context()
	q, err := s.query(ctx, p.Query)
	if errors.Is(err, skein.ErrInvalid) || errors.Is(err, skein.ErrNotFound) || errors.Is(err, skein.ErrAmbiguous) {
		p.Bad = skein.Reason(err)
		return nil
	}
	if err != nil || search.Empty(&q) {
		return err
	}
	q.Limit = maxHits
	next, stop := iter.Pull2(search.Widen(ctx, s.store(ctx), q, 0))
	p.stop = stop
	found, err, _ := next()
	if err == nil {
		p.Hits, err = s.hits(ctx, found.Hits)
	}
	if err != nil {
		return err
	}
	if len(p.Hits) == 0 && !found.CutOff {
		if p.Suggested, err = search.Suggest(ctx, s.store(ctx), p.Query, q); err != nil {
			return err
		}
	}
	p.Facets = s.facets(p.Query, p.Hits)
	if p.CutOff = found.CutOff; p.CutOff {
		p.Later = func(yield func(*laterPage) bool) { s.later(w, r, q, p.Hits, next, yield) }
	}
	return nil
}

// later yields what each further step of a search finds. It first sends what
// was written before.
func (s searchPages) later(w http.ResponseWriter, r *http.Request, q skein.Query, hits []hit, next func() (skein.Results, error, bool), yield func(*laterPage) bool) {
	shown := map[skein.Place]bool{}
	for {
		for _, h := range hits {
			shown[skein.Place{Session: h.Session.ID, Seq: h.Seq}] = true
		}
		http.NewResponseController(w).Flush() //nolint:errcheck // then it comes with what follows
		found, err, more := next()
		if !more {
			yield(&laterPage{Last: true, None: len(shown) == 0})
			return
		}
		fresh := slices.DeleteFunc(found.Hits, func(h skein.Hit) bool { return shown[skein.Place{Session: h.Session, Seq: h.Seq}] })
		if err == nil {
			hits, err = s.hits(r.Context(), fresh)
		}
		if err != nil {
			yield(&laterPage{Last: true, Bad: door.ProblemOf(err).Title})
			return
		}
		if !yield(&laterPage{Hits: hits}) {
			return
		}
	}
}

// query parses what a person typed.
func (s searchPages) query(ctx context.Context, text string) (skein.Query, error) {
	q, err := search.ParseAt(text, s.Now())
	if err != nil {
		return q, err
	}
	if q.Session != "" {
		one, err := lookup.Resolve(ctx, s.store(ctx), string(q.Session), skein.Filter{})
		if err != nil {
			return q, err
		}
		q.Session = one.ID
	}
	return q, nil
}

// hasWords reports whether q has words that an index can find.
func hasWords(q *skein.Query) bool {
	return slices.ContainsFunc(q.Terms, func(t skein.Term) bool { return !t.Not })
}

// hits adds the sessions to hits.
func (s searchPages) hits(ctx context.Context, found []skein.Hit) ([]hit, error) {
	known, err := lookup.OfHits(ctx, s.store(ctx), found)
	if err != nil {
		return nil, err
	}
	names := s.projectNames(ctx)
	var all []hit
	for _, h := range found {
		one, ok := known[h.Session]
		if !ok {
			continue // deleted in the meantime
		}
		at := transcript.PageView{Session: one, Rewound: h.Rewound}
		all = append(all, hit{Hit: h, Session: one, Name: one.Name(), Pieces: pieces(&h), Path: fmt.Sprintf("%s#m%d", at.Link("at", h.Seq), h.Seq), Where: names.of(cmp.Or(one.Checkout.Repository, one.Project))})
	}
	return all, nil
}

// pieces returns the snippet of a hit for its template.
func pieces(h *skein.Hit) []skein.Fragment {
	all := h.Fragments()
	for i := range all {
		all[i].Text = spaced(all[i].Text)
	}
	return all
}

// spaced returns text on one line, keeping the spaces at its ends.
func spaced(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(render.Clean(text))
}

// facets counts the properties of hits by which a search can be narrowed.
func (s searchPages) facets(query string, hits []hit) (all []facet) {
	names := map[string]string{}
	for i := range hits {
		names[hits[i].place()] = hits[i].Where
	}
	for _, f := range []struct {
		title, field string
		of           func(*hit) string
	}{
		{"Agent", "agent", func(h *hit) string { return h.Session.Agent }},
		{"Project", "project", (*hit).place},
		{"Said by", "role", func(h *hit) string { return string(h.Role) }},
	} {
		if strings.Contains(" "+query, " "+f.field+":") {
			continue
		}
		counts := map[string]int{}
		for i := range hits {
			if v := f.of(&hits[i]); v != "" {
				counts[v]++
			}
		}
		if len(counts) < 2 {
			continue
		}
		values := make([]facetValue, 0, len(counts))
		for name, n := range counts {
			values = append(values, facetValue{cmp.Or(names[name], name), n, "/search?q=" + url.QueryEscape(query+" "+f.field+":"+quoted(name))})
		}
		slices.SortFunc(values, func(a, b facetValue) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
		})
		all = append(all, facet{f.title, values[:min(len(values), maxFacets)]})
	}
	if f := s.whens(query, hits); len(f.Values) > 0 {
		all = append(all, f)
	}
	return all
}

// place returns the repository of the hit's session, or the project if that is unknown.
func (h *hit) place() string { return cmp.Or(h.Session.Checkout.Repository, h.Session.Project) }

// whens counts hits by how long ago they were.
func (s searchPages) whens(query string, hits []hit) facet {
	f := facet{Title: "When"}
	if strings.Contains(" "+query, " since:") || strings.Contains(" "+query, " until:") {
		return f
	}
	for _, span := range []struct {
		name, since string
		days        int
	}{{"last 7 days", "7d", 7}, {"last 30 days", "30d", 30}, {"last 365 days", "365d", 365}} {
		n, since := 0, skein.At(s.Now().AddDate(0, 0, -span.days))
		for i := range hits {
			if hits[i].Time >= since {
				n++
			}
		}
		if n > 0 && n < len(hits) {
			f.Values = append(f.Values, facetValue{span.name, n, "/search?q=" + url.QueryEscape(query+" since:"+span.since)})
		}
	}
	return f
}

// quoted returns a value in the syntax of queries.
func quoted(s string) string {
	if strings.ContainsAny(s, " \t") {
		return `"` + strings.ReplaceAll(s, `"`, "") + `"`
	}
	return s
}
