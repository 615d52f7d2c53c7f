package skein

import (
	"cmp"
	"context"
	"slices"
)

// SessionCounter is the part of a [Store] that counts sessions.
type SessionCounter interface {
	// CountBy counts the sessions that f selects, without regard to f.Before and
	// f.Limit, by each value that by has in them: the most sessions first, equal
	// numbers by value. A session with several tags is counted for each, one
	// without tags not at all.
	// The error wraps [ErrInvalid] if sessions are not counted by that.
	CountBy(ctx context.Context, f Filter, by Dimension) ([]Counted, error)
}

// A Counted is how many sessions have a value.
type Counted struct {
	Of       string // an agent, a model, a tag, …; "" if it is unknown
	Sessions int
}

// CounterOf returns s as a SessionCounter. If s does not count by itself, the sessions are
// listed and counted.
func CounterOf(s Store) SessionCounter { return partOr[SessionCounter](s, listCounter{s}) }

// listCounter counts the sessions that a store lists.
type listCounter struct{ Store }

// CountBy implements [SessionCounter].
func (l listCounter) CountBy(ctx context.Context, f Filter, by Dimension) ([]Counted, error) {
	return CountListed(ctx, l.Store, f, by)
}

// CountListed is [SessionCounter].CountBy for what s lists: a store uses it where only the list
// says exactly what f selects. The error is that of the method, or of [Store.Sessions].
func CountListed(ctx context.Context, s Store, f Filter, by Dimension) ([]Counted, error) {
	if err := by.Counts(); err != nil {
		return nil, err
	}
	f.Before, f.Limit = nil, 0
	counts := map[string]int{}
	for one, err := range s.Sessions(ctx, f) {
		if err != nil {
			return nil, err
		}
		for _, of := range by.Values(&one) {
			counts[of]++
		}
	}
	all := make([]Counted, 0, len(counts))
	for of, n := range counts {
		all = append(all, Counted{of, n})
	}
	SortCounted(all)
	return all, nil
}

// SortCounted brings all into the order of [SessionCounter].
func SortCounted(all []Counted) {
	slices.SortFunc(all, func(a, b Counted) int { return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Of, b.Of)) })
}

// Counts checks that sessions can be counted, and chosen, by d.
//
// The error wraps [ErrInvalid].
func (d Dimension) Counts() error {
	switch d {
	case ByModelID, ByAgent, ByProject, ByRepository, ByBranch, BySurface, ByTag, ByState, BySlot:
		return nil
	}
	return Invalidf("sessions by %.100q: want %s, %s, %s, %s, %s, %s, %s, %s or %s", d, ByModelID, ByAgent, ByProject, ByRepository, ByBranch, BySurface, ByTag, ByState, BySlot)
}

// Values returns what d has in the session s: its tags, and one value of anything
// else that sessions are counted by.
func (d Dimension) Values(s *Session) []string {
	switch d {
	case ByModelID:
		return []string{s.Model}
	case ByAgent:
		return []string{s.Agent}
	case ByProject:
		return []string{s.Project}
	case ByRepository:
		return []string{cmp.Or(s.Checkout.Repository, s.Project)}
	case ByBranch:
		return []string{s.Checkout.Branch}
	case BySurface:
		return []string{s.Surface}
	case ByTag:
		return s.Tags
	case ByState:
		return []string{string(cmp.Or(s.Activity.State, StateIdle))}
	case BySlot:
		return []string{s.Updated.Slot().String()}
	}
	return nil
}

// fitsAmong reports whether s has one of the values that f.Among has for each
// dimension.
func (f *Filter) fitsAmong(s *Session) bool {
	for by, want := range f.Among {
		if len(want) > 0 && !slices.ContainsFunc(by.Values(s), func(is string) bool { return slices.Contains(want, is) }) {
			return false
		}
	}
	return true
}

// Chosen returns the dimensions for which f.Among has values, in order.
func (f *Filter) Chosen() (all []Dimension) {
	for by, want := range f.Among {
		if len(want) > 0 {
			all = append(all, by)
		}
	}
	slices.Sort(all)
	return all
}
