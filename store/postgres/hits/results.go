package hits

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/lexemes"
	"github.com/skein-dev/skein/store/postgres/wire"
	"github.com/skein-dev/skein/store/search"
)

// results reads the fields of the hits, and their texts for the snippets.
func (x *Searcher) results(ctx context.Context) (r skein.Results, err error) {
	r.CutOff = x.cutOff
	if len(x.hits) == 0 {
		return r, nil
	}
	at := make([]eventRef, 0, len(x.hits))
	for _, h := range x.hits {
		at = append(at, h.at)
	}
	users, sessions, seqs := refColumns(at)
	texts := make([]*string, len(at))
	there := make([]bool, len(at))
	err = x.s.Ask(ctx, `SELECT w.k, coalesce(e.amends, e.seq), coalesce(o.turn, e.turn), coalesce(e.role, ''), coalesce(o.at, e.at), s.id, `+x.rewound()+`, f.text
		FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY w (user_id, n, seq, k)
		JOIN events e ON e.user_id = w.user_id AND e.n = w.n AND e.seq = w.seq
		LEFT JOIN events o ON o.user_id = e.user_id AND o.n = e.n AND o.seq = e.amends
		LEFT JOIN found f ON f.user_id = w.user_id AND f.n = w.n AND f.seq = w.seq`+x.joins(), []any{users, sessions, seqs}, func(row wire.Row) error {
		var k int
		var h skein.Hit
		var text *string
		if err := row.Scan(&k, &h.Seq, &h.Turn, &h.Role, &h.Time, &h.Session, &h.Rewound, &text); err != nil {
			return err
		}
		to := &x.hits[k-1].Hit
		if h.Score = to.Score; !x.partial {
			h.Count = to.Count
		}
		if x.shownIn != nil {
			h.Session = x.shownIn.ID
		}
		*to, texts[k-1], there[k-1] = h, text, true
		return nil
	})
	if err != nil {
		return skein.Results{}, err
	}
	for i, h := range x.hits {
		if !there[i] { // deleted meanwhile
			continue
		}
		if texts[i] != nil {
			h.text = *texts[i]
		}
		if h.Snippet, err = x.snippet(h.text); err != nil {
			return skein.Results{}, err
		}
		r.Hits = append(r.Hits, h.Hit)
	}
	if !x.q.Whole {
		return r, nil
	}
	whole, end, err := x.events(ctx, users, sessions, seqs)
	n := 0
	for i := range end {
		if there[i] {
			r.Hits[n].Event = whole[i]
			n++
		}
	}
	r.CutOff = r.CutOff || n < len(r.Hits)
	r.Hits = r.Hits[:n]
	return r, err
}

// events returns the events at the given places; for an amended event, the event that
// it amends with the new content. Damaged ones are nil. end is how many were read: the
// others would be too large.
func (x *Searcher) events(ctx context.Context, users []string, sessions, seqs []int64) (all []*skein.Event, end int, err error) {
	all, end = make([]*skein.Event, len(seqs)), len(seqs)
	size := 0
	err = x.s.Ask(ctx, `SELECT `+columns.Event+`, w.k, coalesce(o.kind, ''), coalesce(o.at, e.at)
		FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY w (user_id, n, seq, k)
		JOIN events e ON e.user_id = w.user_id AND e.n = w.n AND e.seq = w.seq
		LEFT JOIN events o ON o.user_id = e.user_id AND o.n = e.n AND o.seq = e.amends ORDER BY w.k`, []any{users, sessions, seqs}, func(row wire.Row) error {
		var k int
		var kind string
		var at skein.Time
		e, _, err := columns.ScanEvent(row, &k, &kind, &at)
		if x.q.Each && size > skein.MaxWhole {
			end = min(end, k-1)
			return nil
		}
		size += len(e.Payload)
		if errors.Is(err, skein.ErrCorrupt) {
			return nil
		}
		if err != nil {
			return err
		}
		if e.Kind == skein.KindAmended {
			a, err := skein.Decode[skein.Amended](e)
			if err != nil {
				return err
			}
			e = skein.Event{Seq: a.Seq, Time: at, Kind: columns.Kind(kind), Payload: a.Payload}
		}
		all[k-1] = &e
		return nil
	})
	return all, end, err
}

// snippet returns some words of text around the match. A word that the index found by
// its stem is marked as it is in the text.
func (x *Searcher) snippet(text string) (string, error) {
	if x.finder.Query == "" {
		return x.matcher.Snippet(text), nil
	}
	var terms []skein.Term
	stems := map[string]bool{}
	for _, t := range x.q.Terms {
		if t.Not {
			continue
		}
		m, err := search.NewMatcher(skein.Query{Terms: []skein.Term{t}})
		if err != nil {
			return "", err
		}
		if m.MatchesText(text) {
			terms = append(terms, t)
			continue
		}
		for _, way := range search.Phrases(t) {
			for _, p := range way {
				for _, w := range p.Words {
					stems[lexemes.Stem(w)] = true
				}
			}
		}
	}
	terms = append(terms, wordsWith(text, stems)...)
	m, err := search.NewMatcher(skein.Query{Terms: terms})
	if err != nil {
		return "", err
	}
	return m.Snippet(text), nil
}

// wordsWith returns, for each of the stems, a term for a word of text that has it. It
// deletes those stems from stems.
func wordsWith(text string, stems map[string]bool) (terms []skein.Term) {
	if len(stems) == 0 {
		return nil
	}
	for at, word := range search.Words(text) {
		if s := lexemes.Stem(word); stems[s] {
			terms = append(terms, skein.Term{Words: []string{text[at.Start:at.End]}})
			delete(stems, s)
		}
	}
	return terms
}

// refColumns returns the places of events as columns.
func refColumns(at []eventRef) (users []string, sessions, seqs []int64) {
	for _, e := range at {
		users, sessions, seqs = append(users, e.user), append(sessions, e.n), append(seqs, int64(e.seq))
	}
	return users, sessions, seqs
}

// places returns the parameters after the first n, with those types, separated by
// commas; NULL for the type "".
func places(n int, types ...string) string {
	all := make([]string, len(types))
	for i, t := range types {
		if all[i] = "NULL"; t != "" {
			n++
			all[i] = fmt.Sprintf("$%d::%s", n, t)
		}
	}
	return strings.Join(all, ", ")
}
