package redact

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/store/search"
)

// Veil returns s as seen by users who may neither see secrets nor find them out
// with queries: titles are shown, and filtered by, without secrets, and a
// search examines, counts and ranks the text without them. So an answer does
// not depend on the secrets. Everything else is that of s.
func (r *Redactor) Veil(s skein.Store) skein.Store { return &veil{covered{s, r}} }

// Cover returns s as seen by users who may search for secrets but are not shown
// them by default: a search finds them and says where, without showing them.
func (r *Redactor) Cover(s skein.Store) skein.Store { return &covered{s, r} }

type covered struct {
	skein.Store
	r *Redactor
}

// As implements [skein.Store].
func (c *covered) As(u skein.User) skein.Store { return c.r.Cover(c.Store.As(u)) }

// Unwrap returns the underlying store.
func (c *covered) Unwrap() skein.Store { return c.Store }

// Session implements [skein.Store].
func (c *covered) Session(ctx context.Context, id skein.SessionID) (skein.Session, error) {
	s, err := c.Store.Session(ctx, id)
	return c.r.Session(s), err
}

// Sessions implements [skein.Store].
func (c *covered) Sessions(ctx context.Context, f skein.Filter) iter.Seq2[skein.Session, error] {
	return func(yield func(skein.Session, error) bool) {
		for s, err := range c.Store.Sessions(ctx, f) {
			if !yield(c.r.Session(s), err) {
				return
			}
		}
	}
}

// Search implements [skein.Store].
func (c *covered) Search(ctx context.Context, q skein.Query) (skein.Results, error) {
	m, err := search.NewMatcher(q)
	if err != nil {
		return skein.Results{}, err
	}
	q.Whole = true
	found, err := c.Store.Search(ctx, q)
	m = m.Within(search.NewBudget(ctx, q.Deadline))
	for i := range found.Hits {
		h := &found.Hits[i]
		switch t := c.r.searchText(h.Event); {
		case h.Event == nil: // it is damaged, and reported as such
			h.Snippet = c.r.Text(h.Snippet)
		case t.hides:
			h.Snippet = t.snippet(m)
		}
		h.Event = nil
	}
	return found, err
}

// Edits implements [edits.Index] for nobody: its keys and messages would tell what the
// secrets are.
func (c *covered) Edits(context.Context, []edits.IndexKey) iter.Seq2[skein.Hit, error] {
	return func(yield func(skein.Hit, error) bool) { yield(skein.Hit{}, edits.ErrBehind) }
}

type veil struct{ covered }

// As implements [skein.Store].
func (v *veil) As(u skein.User) skein.Store { return v.r.Veil(v.Store.As(u)) }

// Sessions implements [skein.Store].
func (v *veil) Sessions(ctx context.Context, f skein.Filter) iter.Seq2[skein.Session, error] {
	if f.Title == "" {
		return v.covered.Sessions(ctx, f)
	}
	title, limit := strings.ToLower(f.Title), f.Limit
	f.Limit = 0
	return func(yield func(skein.Session, error) bool) {
		n := 0
		for s, err := range v.covered.Sessions(ctx, f) {
			// What a masked title contains, the full title contains too.
			if err == nil && !holds(strings.ToLower(cmp.Or(s.Title, s.First)), title) {
				continue
			}
			if n++; !yield(s, err) || n == limit {
				return
			}
		}
	}
}

// CountBy implements [skein.SessionCounter]. How many full titles contain a text would tell
// what the secrets are.
func (v *veil) CountBy(ctx context.Context, f skein.Filter, by ...skein.Dimension) (map[skein.Dimension][]skein.Counted, error) {
	if f.Title != "" {
		return skein.CountListed(ctx, v, f, by...)
	}
	return skein.CounterOf(v.Store).CountBy(ctx, f, by...)
}

// The cost of examining a hit, if nothing else runs, in addition to the cost
// per byte of its text.
const (
	hitWork  = 30 * time.Microsecond
	hideWork = 10 * time.Nanosecond

	someHits = 256 // minimum number ranked, if as many match
)

// Search implements [skein.Store]. It examines the events that may match once the
// secrets are masked, the newest first, and ranks those that do match by the masked
// text. If there are very many, older ones are not ranked: it takes the newest 256, or
// four times as many as the query asks for, and more only if they are in too few
// sessions. So neither what it ranks nor its order depends on the secrets.
func (v *veil) Search(ctx context.Context, q skein.Query) (r skein.Results, err error) {
	x, err := newSearch(q)
	if err != nil || search.Empty(&q) {
		return r, err
	}
	limit := q.MostHits()
	x.allow(search.NewBudget(ctx, q.Deadline))
	x.most = max(someHits, 4*limit)
	for x.wide.Limit = x.most; ; x.wide.Limit *= 4 {
		found, err := v.Store.Search(ctx, x.wide)
		if err != nil {
			return r, err
		}
		looked := x.lookAt(v.r, found.Hits, limit)
		x.wide.Deadline = x.budget.Left()
		if err := x.budget.Err(); err != nil {
			return r, err
		}
		x.whole = looked == len(found.Hits) && looked < x.wide.Limit && !x.budget.Spent()
		if x.whole || x.budget.Spent() || looked < len(found.Hits) {
			r.CutOff = found.CutOff || !x.whole && x.shows() < limit
			x.whole = x.whole && !r.CutOff
			break
		}
	}
	r.Hits = x.best()
	r.Hits = r.Hits[:min(len(r.Hits), limit)]
	return r, nil
}

// A maskedSearch is a search over masked text.
type maskedSearch struct {
	skein.Query
	wide   skein.Query // finds everything that may match, every message, the newest first
	most   int         // how many hits are ranked; more if they are in too few sessions
	budget *search.Budget
	text   *search.Matcher   // of the query
	wants  []*search.Matcher // of each search word,
	not    *search.Matcher   // and of everything that must not occur; nil if there is none
	hits   []skein.Hit
	whole  bool // hits is complete
}

func newSearch(q skein.Query) (x *maskedSearch, err error) {
	x = &maskedSearch{Query: q, wide: q}
	x.wide.Each, x.wide.Newest, x.wide.Whole, x.wide.Terms = true, true, true, nil
	if x.text, err = search.NewMatcher(q); err != nil {
		return nil, err
	}
	if q.Substring == "" && q.Regex != "" {
		if x.wide.Regex, err = unanchored(q.Regex); err != nil {
			return nil, err
		}
	}
	var nots []skein.Term
	for _, t := range q.Terms {
		if t.Not {
			nots = append(nots, t)
			continue
		}
		x.wide.Terms = append(x.wide.Terms, t)
		m, err := search.NewMatcher(skein.Query{Terms: []skein.Term{t}})
		if err != nil {
			return nil, err
		}
		x.wants = append(x.wants, m)
	}
	if len(nots) > 0 {
		x.not, err = search.NewMatcher(skein.Query{Terms: nots})
	}
	return x, err
}

// allow limits the work of x.
func (x *maskedSearch) allow(b *search.Budget) {
	x.budget, x.text = b, x.text.Within(b)
	for i, m := range x.wants {
		x.wants[i] = m.Within(b)
	}
	if x.not != nil {
		x.not = x.not.Within(b)
	}
}

// byText reports whether the query is a substring or a regular expression, not
// words.
func (x *maskedSearch) byText() bool { return x.Substring != "" || x.Regex != "" }

// lookAt sets the hits to those of found whose masked text matches, as many as are to
// be ranked for a query with this limit, and returns how many of found it looked at.
func (x *maskedSearch) lookAt(r *Redactor, found []skein.Hit, limit int) (looked int) {
	x.hits = nil
	most := x.most
	for ; looked < len(found) && !x.budget.Spent(); looked++ {
		if len(x.hits) >= most {
			if x.shows() >= limit {
				break
			}
			most *= 4
		}
		x.look(r, found[looked])
		found[looked].Event = nil
	}
	return looked
}

// look adds a hit if its masked text matches. A damaged event has no text.
func (x *maskedSearch) look(r *Redactor, h skein.Hit) {
	if h.Event == nil {
		return
	}
	x.budget.Spend(hitWork + time.Duration(len(h.Event.Payload))*hideWork)
	t := r.searchText(h.Event)
	switch {
	case t.hides && !x.fits(&t):
		return
	case t.hides:
		h.Snippet = t.snippet(x.text)
	case x.byText() && x.wide.Regex != x.Regex:
		if !x.text.MatchesText(t.text) {
			return
		}
		h.Snippet = x.text.Snippet(t.text)
	case x.not != nil && !x.not.MatchesText(t.text):
		return
	}
	h.Event, h.Count, h.Score = nil, 0, 0
	if len(x.wants) > 0 {
		h.Score = bm25(x.text, t.text)
	}
	x.hits = append(x.hits, h)
}

// fits reports whether the masked text matches: piece by piece, because the
// text before and after a secret is not adjacent. A piece that matches does so
// whatever the secrets are, so the store has found it.
func (x *maskedSearch) fits(t *searchText) bool {
	if x.Path != "" && !slices.ContainsFunc(t.paths, func(p string) bool { return holds(p, x.Path) }) {
		return false
	}
	if x.byText() {
		return x.text.MatchesText(t.text) && slices.ContainsFunc(pieces(t.text), x.text.MatchesText)
	}
	all := apart(pieces(t.text))
	for _, m := range x.wants {
		if !slices.ContainsFunc(all, m.MatchesText) {
			return false
		}
	}
	return x.not == nil || !slices.ContainsFunc(all, func(piece string) bool { return !x.not.MatchesText(piece) })
}

// shows returns the number of hits to show.
func (x *maskedSearch) shows() int {
	if x.Each {
		return len(x.hits)
	}
	in := map[skein.SessionID]bool{}
	for i := range x.hits {
		in[x.hits[i].Session] = true
	}
	return len(in)
}

// best returns the hits to show, best first, with their counts if those are
// known.
func (x *maskedSearch) best() []skein.Hit {
	slices.SortFunc(x.hits, bestFirst)
	if x.Each {
		return x.hits
	}
	at := map[skein.SessionID]int{}
	var first []skein.Hit
	for _, h := range x.hits {
		i, again := at[h.Session]
		if !again {
			i = len(first)
			at[h.Session], first = i, append(first, h)
		}
		if x.whole {
			first[i].Count++
		}
	}
	return first
}

// bestFirst compares by score, then messages before titles, then newest first.
func bestFirst(a, b skein.Hit) int {
	said := func(h skein.Hit) int { return min(len(h.Role), 1) }
	return cmp.Or(cmp.Compare(b.Score, a.Score), said(b)-said(a), cmp.Compare(b.Time, a.Time), cmp.Compare(a.Session, b.Session), cmp.Compare(b.Seq, a.Seq))
}

// bm25 returns the score of a text, as BM25 does for one word: every further
// match counts less, and so does each match in a longer text.
func bm25(m *search.Matcher, text string) float64 {
	const most, short, mean = 1.2, 0.25, 1000 // bytes
	n := float64(max(len(m.Find(text)), 1))   // an index finds a word by its stem, too
	return n * (most + 1) / (n + most*(short+(1-short)*float64(len(text))/mean))
}

// searchText is the masked text of an event that a search examines.
type searchText struct {
	text  string
	paths []string
	hides bool // secrets were masked
}

// searchText returns the masked text of e; nothing if e is nil.
func (r *Redactor) searchText(e *skein.Event) (t searchText) {
	if e == nil {
		return t
	}
	shown := r.Event(*e)
	t.hides = !bytes.Equal(shown.Payload, e.Payload)
	f, err := skein.FactsOf(shown)
	if err != nil { // a mark is where it is not allowed: nothing is shown
		return searchText{hides: true}
	}
	t.text, t.paths = f.Text, f.Paths
	return t
}

// snippet returns some words around a match, or else around a mark.
func (t *searchText) snippet(m *search.Matcher) string {
	if len(m.Find(t.text)) > 0 {
		return plainMarks(m.Snippet(t.text))
	}
	hidden, err := search.NewMatcher(skein.Query{Substring: markHead})
	if err != nil {
		return ""
	}
	return strings.NewReplacer(skein.Mark, "", skein.EndMark, "").Replace(hidden.Snippet(t.text))
}

// inMark matches a mark in a snippet, with highlighting in it.
var inMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[[\x02\x03]*redacted[\x02\x03]*:[a-z0-9\x02\x03-]*\]`)
})

// plainMarks returns a snippet without highlighting inside marks: a highlight
// that begins or ends in a mark does so after it.
func plainMarks(snippet string) string {
	snippet = inMark().ReplaceAllStringFunc(snippet, func(mark string) string {
		begins, ends := strings.Count(mark, skein.Mark), strings.Count(mark, skein.EndMark)
		mark = strings.NewReplacer(skein.Mark, "", skein.EndMark, "").Replace(mark)
		return mark + strings.Repeat(skein.Mark, max(begins-ends, 0)) + strings.Repeat(skein.EndMark, max(ends-begins, 0))
	})
	return strings.ReplaceAll(snippet, skein.Mark+skein.EndMark, "")
}

// pieces returns the text before, between and after the marks in s.
func pieces(s string) (all []string) {
	for {
		before, rest, found := strings.Cut(s, markHead)
		all = append(all, before)
		if !found {
			return all
		}
		_, s, _ = strings.Cut(rest, "]")
	}
}

// holds reports whether part occurs in s outside of marks.
func holds(s, part string) bool {
	return slices.ContainsFunc(pieces(s), func(piece string) bool { return strings.Contains(piece, part) })
}

// apart returns pieces without the words at their ends that may continue in
// what is hidden.
func apart(pieces []string) []string {
	inWord := func(r rune) bool {
		return unicode.In(r, unicode.L, unicode.N, unicode.Co, unicode.M)
	}
	all := slices.Clone(pieces)
	for i := range all {
		if i > 0 {
			all[i] = strings.TrimLeftFunc(all[i], inWord)
		}
		if i < len(all)-1 {
			all[i] = strings.TrimRightFunc(all[i], inWord)
		}
	}
	return all
}
