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
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/search"
)

const (
	maxHits   = 40 // that each step of the search shows
	maxFacets = 8  // values of one
)

// searchRoutes are those of the search.
func (s *site) searchRoutes() []door.Route {
	return []door.Route{read("/search", s.search)}
}

// searchPage is what the search shows.
type searchPage struct {
	Query  string
	Asked  bool
	Hits   []hit
	CutOff bool
	Bad    string // what is wrong with the query
	Facets []facet

	Later iter.Seq[*laterPage] // what is found while the page is read; nil if all was looked at
	stop  func()               // ends the search
}

// laterPage is what one more step of a search found.
type laterPage struct {
	Hits []hit // that were not shown before
	Last bool  // the search has ended,
	None bool  // and found nothing at all
	Bad  string
}

// Words returns the query, for a search in one session, where it may say
// nothing about which.
func (p *searchPage) Words() string {
	words := strings.Fields(p.Query)
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "session:") }), " ")
}

// WithRewound returns the path of the search that also finds what was taken
// back; "" if this one does, or if the query says what it wants of that.
func (p *searchPage) WithRewound() string {
	if strings.Contains(" "+p.Query, " rewound:") {
		return ""
	}
	return "/search?q=" + url.QueryEscape(p.Query+" rewound:yes")
}

// listed is some hits of a search.
type listed struct {
	Words string
	Hits  []hit
}

// Listed returns hits as the page lists them.
func (p *searchPage) Listed(hits []hit) listed { return listed{p.Words(), hits} }

// hit is a message that was found, in its session.
type hit struct {
	skein.Hit
	Session skein.Session
	Name    string
	Pieces  []skein.Fragment
	Path    string // of the message
}

// facet is a property of the hits, with the values that it has there.
type facet struct {
	Title  string
	Values []facetValue
}

type facetValue struct {
	Name  string
	Count int
	Path  string // of the search that has only these
}

// search shows what matches some words. With piece=1 only the results, for a
// script that asks as one types.
func (s *site) search(w http.ResponseWriter, r *http.Request) {
	text := strings.TrimSpace(r.URL.Query().Get("q"))
	p := &searchPage{Query: text, Asked: text != "", stop: func() {}}
	defer func() { p.stop() }()
	if err := s.find(w, r, p); err != nil {
		s.fail(w, r, err)
		return
	}
	if r.URL.Query().Has("piece") {
		s.showFound(w, "results", p, p)
		return
	}
	title := "Search"
	if text != "" {
		title = text + " · Search"
	}
	s.showFound(w, "layout", s.here(page{
		Title: title, At: "search", Query: text, Class: "searching", Data: p,
		Visitor: door.From(r.Context()), Notice: notice(w, r),
	}), p)
}

// showFound answers with a template of search.html: at once where all was looked at,
// else as it comes.
func (s *site) showFound(w http.ResponseWriter, piece string, data any, p *searchPage) {
	if p.Later == nil {
		s.execute(w, http.StatusOK, "search", piece, data)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no")
	if err := s.pages["search"].ExecuteTemplate(w, piece, data); err != nil {
		s.Log.Debug("a page was not read to its end", "page", "search", "err", err)
	}
}

// find puts into p what was found at once. Where that is not all there is to
// look at, the search goes on while the page is read.
func (s *site) find(w http.ResponseWriter, r *http.Request, p *searchPage) error {
	ctx := r.Context()
	q, err := s.query(ctx, p.Query)
	if errors.Is(err, skein.ErrInvalid) || errors.Is(err, skein.ErrNotFound) || errors.Is(err, skein.ErrAmbiguous) {
		p.Bad = err.Error()
		return nil
	}
	if err != nil || search.Empty(&q) {
		return err
	}
	q.Limit = maxHits
	next, stop := iter.Pull2(search.Widen(ctx, s.told(ctx), q, 0))
	p.stop = stop
	found, err, _ := next()
	if err == nil {
		p.Hits, err = s.hits(ctx, found.Hits)
	}
	if err != nil {
		return err
	}
	p.Facets = facets(p.Query, p.Hits)
	if p.CutOff = found.CutOff; p.CutOff {
		p.Later = func(yield func(*laterPage) bool) { s.later(w, r, q, p.Hits, next, yield) }
	}
	return nil
}

// later yields what each further step of a search finds. What was written before
// is sent first.
func (s *site) later(w http.ResponseWriter, r *http.Request, q skein.Query, hits []hit, next func() (skein.Results, error, bool), yield func(*laterPage) bool) {
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

// query reads what a person typed.
func (s *site) query(ctx context.Context, text string) (skein.Query, error) {
	q, err := search.ParseAt(text, s.Now())
	if err != nil {
		return q, err
	}
	if q.Session != "" {
		one, err := lookup.Resolve(ctx, s.told(ctx), string(q.Session), skein.Filter{})
		if err != nil {
			return q, err
		}
		q.Session = one.ID
	}
	return q, nil
}

// hasWords reports whether q has something to look for that an index serves.
func hasWords(q *skein.Query) bool {
	return slices.ContainsFunc(q.Terms, func(t skein.Term) bool { return !t.Not })
}

// hits looks up the sessions of hits.
func (s *site) hits(ctx context.Context, found []skein.Hit) ([]hit, error) {
	known := map[skein.SessionID]skein.Session{}
	var all []hit
	for _, h := range found {
		one, ok := known[h.Session]
		if !ok {
			var err error
			if one, err = s.told(ctx).Session(ctx, h.Session); errors.Is(err, skein.ErrNotFound) {
				continue // deleted meanwhile
			} else if err != nil {
				return nil, err
			}
			known[h.Session] = one
		}
		at := transcript{Session: one, Rewound: h.Rewound}
		all = append(all, hit{Hit: h, Session: one, Name: one.Name(), Pieces: pieces(&h), Path: fmt.Sprintf("%s#m%d", at.Link("at", h.Seq), h.Seq)})
	}
	return all, nil
}

// pieces returns the snippet of a hit as it is shown.
func pieces(h *skein.Hit) []skein.Fragment {
	all := h.Fragments()
	for i := range all {
		all[i].Text = spaced(all[i].Text)
	}
	return all
}

// spaced returns text on one line, with the spaces at its ends.
func spaced(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(render.Clean(text))
}

// facets counts the properties of hits that a search can be narrowed to.
func facets(query string, hits []hit) (all []facet) {
	for _, f := range []struct {
		title, field string
		of           func(*hit) string
	}{
		{"Agent", "agent", func(h *hit) string { return h.Session.Agent }},
		{"Project", "project", func(h *hit) string { return h.Session.Project }},
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
			values = append(values, facetValue{name, n, "/search?q=" + url.QueryEscape(query+" "+f.field+":"+quoted(name))})
		}
		slices.SortFunc(values, func(a, b facetValue) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
		})
		all = append(all, facet{f.title, values[:min(len(values), maxFacets)]})
	}
	return all
}

// quoted returns a value as a query has it.
func quoted(s string) string {
	if strings.ContainsAny(s, " \t") {
		return `"` + strings.ReplaceAll(s, `"`, "") + `"`
	}
	return s
}
