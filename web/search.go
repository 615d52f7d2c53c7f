package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/door"
	"github.com/skein-dev/skein/render"
)

const (
	maxHits   = 40                     // that the search shows
	searchFor = 150 * time.Millisecond // what the index serves
	scanFor   = 5 * time.Second        // what it does not
	maxFacets = 8                      // values of one
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
}

// Words returns the query, for a search in one session, where it may say
// nothing about which.
func (p *searchPage) Words() string {
	words := strings.Fields(p.Query)
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "session:") }), " ")
}

// hit is a message that was found, in its session.
type hit struct {
	skein.Hit
	Session skein.Session
	Name    string
	Pieces  []words
	Path    string // of the message
}

// words are some of a snippet.
type words struct {
	Text  string
	Match bool
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
	p := &searchPage{Query: text, Asked: text != ""}
	if err := s.find(r.Context(), p); err != nil {
		s.fail(w, r, err)
		return
	}
	if r.URL.Query().Has("piece") {
		s.fragment(w, "search", "results", p)
		return
	}
	title := "Search"
	if text != "" {
		title = text + " · Search"
	}
	s.show(w, r, "search", page{Title: title, At: "search", Query: text, Class: "searching", Data: p})
}

func (s *site) find(ctx context.Context, p *searchPage) error {
	q, err := s.query(ctx, p.Query)
	if errors.Is(err, skein.ErrInvalid) || errors.Is(err, skein.ErrNotFound) || errors.Is(err, skein.ErrAmbiguous) {
		p.Bad = err.Error()
		return nil
	}
	if err != nil || q.Empty() {
		return err
	}
	q.Limit = maxHits
	found, err := door.From(ctx).Store.Search(ctx, q)
	if err != nil {
		return err
	}
	p.CutOff = found.CutOff
	if p.Hits, err = s.hits(ctx, found.Hits); err != nil {
		return err
	}
	p.Facets = facets(p.Query, p.Hits)
	return nil
}

// query reads what a person typed.
func (s *site) query(ctx context.Context, text string) (skein.Query, error) {
	q, err := skein.ParseQueryAt(text, s.Now())
	if err != nil {
		return q, err
	}
	q.Deadline = scanFor
	if hasWords(&q) {
		q.Deadline = searchFor
	}
	if q.Session != "" {
		one, err := skein.Resolve(ctx, door.From(ctx).Store, string(q.Session), skein.Filter{})
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
			if one, err = door.From(ctx).Store.Session(ctx, h.Session); errors.Is(err, skein.ErrNotFound) {
				continue // deleted meanwhile
			} else if err != nil {
				return nil, err
			}
			one = s.veiled(one)
			known[h.Session] = one
		}
		shown, err := s.veiledHit(ctx, h)
		if err != nil {
			return nil, err
		}
		all = append(all, hit{Hit: h, Session: one, Name: one.Name(), Pieces: snippet(shown), Path: fmt.Sprintf("%s?at=%d#m%d", sessionPath(one.ID), h.Seq, h.Seq)})
	}
	return all, nil
}

// snippet takes a snippet apart at its marks.
func snippet(marked string) (all []words) {
	for match := false; marked != ""; match = !match {
		end := skein.Mark
		if match {
			end = skein.EndMark
		}
		text, rest, _ := strings.Cut(marked, end)
		if marked = rest; text != "" {
			all = append(all, words{spaced(text), match})
		}
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
