package transcript

import (
	"cmp"
	"context"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
)

// A Side is one of two sessions that are compared: what it has after what they have in
// common.
type Side struct {
	PageView
	Turns  []*Transcript // each with the items of one turn
	Files  []OutlineFile // that it changed
	Calls  int
	Failed int    // errors
	Cost   string // "" if it is not known
	Took   string
	More   skein.Seq // there are messages after this seq; 0 if all are in Turns
}

// maxCompared is how many messages of a session are compared.
const maxCompared = 150

// Side returns what v's session has after a seq. The error is that of the store or of the
// prices.
func (m *Maker) Side(ctx context.Context, store skein.Store, v PageView, after skein.Seq) (*Side, error) {
	v.Nested = true
	outline, err := m.Outline(ctx, store, v, nil)
	if err != nil {
		return nil, err
	}
	s := &Side{PageView: outline.PageView}
	s.sum(outline, after)
	changes, err := m.Changes(ctx, store, v)
	if err != nil {
		return nil, err
	}
	s.changed(changes, after)
	w, err := Windows{Store: Legible(store), Session: v.Session.ID, Size: maxCompared}.From(ctx, after)
	if err != nil {
		return nil, err
	}
	if s.More = w.After; w.After > 0 {
		w.After = 0
	}
	w.Before = 0
	t, err := m.Make(ctx, store, v, w)
	if err != nil {
		return nil, err
	}
	s.Session = t.Session
	s.Turns = t.byTurn()
	return s, nil
}

// sum adds up the turns after a seq.
func (s *Side) sum(o *SessionOutline, after skein.Seq) {
	var cost price.NanoUSD
	var first, last skein.Time
	for i := range o.Turns {
		t := &o.Turns[i]
		if t.Seq <= after {
			continue
		}
		s.Calls, s.Failed, cost = s.Calls+t.Calls, s.Failed+t.Errors, cost+t.cost
		first, last = cmp.Or(first, t.first), max(last, t.last)
	}
	s.Took = took(first, last)
	if cost > 0 {
		s.Cost = dollars(cost)
	}
}

// changed adds up the changes of files after a seq.
func (s *Side) changed(c *Changes, after skein.Seq) {
	for _, f := range c.Files {
		out := OutlineFile{Path: f.Path}
		for _, one := range f.Changes {
			if one.Seq > after {
				out.Seq = cmp.Or(out.Seq, one.Seq)
				out.Changes, out.Added, out.Removed = out.Changes+1, out.Added+one.Added, out.Removed+one.Removed
			}
		}
		if out.Changes > 0 {
			s.Files = append(s.Files, out)
		}
	}
}

// byTurn divides t at the messages that begin a turn.
func (t *Transcript) byTurn() (all []*Transcript) {
	for _, item := range t.Items {
		if item.Clock != nil || item.Mark != nil && item.Mark.Class == "fork" {
			continue
		}
		if len(all) == 0 || item.Message != nil && item.Message.Turn > 0 {
			part := *t
			part.Items, part.Before, part.After = nil, 0, 0
			all = append(all, &part)
		}
		last := all[len(all)-1]
		last.Items = append(last.Items, item)
	}
	return all
}

// A ComparedFile is a file that one of two sessions changed, or both.
type ComparedFile struct {
	Path        string
	Left, Right *OutlineFile // nil: this one did not
}

// ComparedFiles returns the files that two sessions changed, by path.
func ComparedFiles(left, right *Side) (all []ComparedFile) {
	of := func(path string) *ComparedFile {
		i := slices.IndexFunc(all, func(f ComparedFile) bool { return f.Path == path })
		if i < 0 {
			i = len(all)
			all = append(all, ComparedFile{Path: path})
		}
		return &all[i]
	}
	for i := range left.Files {
		of(left.Files[i].Path).Left = &left.Files[i]
	}
	for i := range right.Files {
		of(right.Files[i].Path).Right = &right.Files[i]
	}
	slices.SortFunc(all, func(a, b ComparedFile) int { return cmp.Compare(a.Path, b.Path) })
	return all
}
