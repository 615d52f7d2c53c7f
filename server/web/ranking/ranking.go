package ranking

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

// A Way is how a list is sorted.
type Way string

// The ways, by what comes first.
const (
	Latest  Way = ""        // active last: the order of the store
	Newest  Way = "newest"  // begun last
	Oldest  Way = "oldest"  // begun first
	Longest Way = "longest" // with the most turns
	Dearest Way = "cost"    // that cost the most, which a session does not say
)

// Ways returns all ways, in the order in which they are offered.
func Ways() []Way { return []Way{Latest, Newest, Oldest, Longest, Dearest} }

// Parse returns the way with a name.
//
// The error wraps [skein.ErrInvalid].
func Parse(name string) (Way, error) {
	if w := Way(name); slices.Contains(Ways(), w) {
		return w, nil
	}
	return "", fmt.Errorf("sort=%q: %w: want newest, oldest, longest or cost, or nothing for the latest first", name, skein.ErrInvalid)
}

// rank returns what sessions are compared by: those with less of it come first.
func (w Way) rank(s *skein.Session) int64 {
	switch w {
	case Newest:
		return -int64(s.Created)
	case Oldest:
		return int64(s.Created)
	case Longest:
		return -int64(s.Turns)
	}
	return -int64(s.Updated)
}

// A Place is where a page begins: after the session with this rank and ID.
type Place struct {
	rank int64
	id   skein.SessionID
}

// Place returns the place after s.
func (w Way) Place(s *skein.Session) Place { return Place{w.rank(s), s.ID} }

// String returns p as a URL has it: RANK.ID.
func (p Place) String() string { return strconv.FormatInt(p.rank, 36) + "." + string(p.id) }

// ParsePlace returns the place that [Place.String] wrote.
//
// The error wraps [skein.ErrInvalid].
func ParsePlace(text string) (Place, error) {
	rank, id, ok := strings.Cut(text, ".")
	n, err := strconv.ParseInt(rank, 36, 64)
	if !ok || err != nil || skein.SessionID(id).Check() != nil {
		return Place{}, fmt.Errorf("from=%q: %w: want the cursor of a page of the list", text, skein.ErrInvalid)
	}
	return Place{n, skein.SessionID(id)}, nil
}

// First returns the first n of all in this way, or with after the first n that come
// after it. It holds no more than them, however many there are.
//
// The error is that of all.
func (w Way) First(n int, all iter.Seq2[skein.Session, error], after *Place) (first []skein.Session, err error) {
	order := func(p, o Place) int { return cmp.Or(cmp.Compare(p.rank, o.rank), cmp.Compare(p.id, o.id)) }
	for s, err := range all {
		if err != nil {
			return nil, err
		}
		at := w.Place(&s)
		if after != nil && order(at, *after) <= 0 {
			continue
		}
		i, _ := slices.BinarySearchFunc(first, at, func(o skein.Session, p Place) int { return order(w.Place(&o), p) })
		if i < n {
			first = slices.Insert(first[:min(len(first), n-1)], i, s)
		}
	}
	return first, nil
}
