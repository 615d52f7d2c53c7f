package harness

import (
	"fmt"

	"github.com/skein-dev/skein"
)

// WantFolded checks that the row of id is the fold of its events.
func (t *Test) WantFolded(id skein.SessionID) {
	t.Helper()
	got := t.Session(id)
	want, err := Fold(id, t.Events(id))
	t.NoErr("fold", err)
	want.Binned, want.Revision, want.LockedBy = got.Binned, got.Revision, got.LockedBy
	Equal(t, fmt.Sprintf("Session(%s)", id), got, want)
	for _, row := range All(t, t.Store.Sessions(t.Context(), skein.Filter{IncludeEmpty: true, Bin: got.Binned != 0})) {
		if row.ID == id {
			Equal(t, fmt.Sprintf("%s in Sessions", id), row, got)
			return
		}
	}
	t.Errorf("Sessions does not yield %s", id)
}

// Fold returns the fold of evs, all events that a session shows, computed with
// only Session.Apply and Entries. No other session may have had the same
// requests.
//
// The error says which event cannot be applied, or which count is wrong.
func Fold(id skein.SessionID, evs []skein.Event) (s skein.Session, err error) {
	charged := map[string]skein.Usage{}
	var standing skein.LiveMessages
	for _, e := range evs {
		f, err := skein.FactsOf(e)
		if err != nil {
			return s, err
		}
		var p skein.Prior
		if f.Created != nil { // what came before it is the parent's
			p.Base = s.Shown()
			s = skein.Session{ID: id}
		}
		if m := f.Message; m != nil && m.ID != "" {
			p.Message = standing.Joins(m.ID)
		}
		if f.Charge != nil && f.Charge.Request != "" {
			p.Charged = charged[f.Charge.Request]
		}
		at := e.Seq
		a, err := s.Apply(&e, f, p)
		if err != nil {
			return s, err
		}
		if err := standing.Add(e); err != nil {
			return s, err
		}
		if a.Stale {
			s.SetShown(standing.Shown())
		}
		if e.Seq != at {
			return s, fmt.Errorf("event %d folds to seq %d", at, e.Seq)
		}
		if f.Charge != nil && f.Charge.Request != "" {
			charged[f.Charge.Request] = a.Counted
		}
	}
	return s, wantLiveCounts(&s, evs)
}

// wantLiveCounts checks that the session counts what Entries marks as live.
func wantLiveCounts(s *skein.Session, evs []skein.Event) error {
	entries, err := skein.Entries(evs)
	if err != nil {
		return err
	}
	n := 0
	for _, e := range entries {
		if !e.Rewound {
			n++
		}
	}
	if s.Messages != n {
		return fmt.Errorf("the session counts %d messages, and %d stand", s.Messages, n)
	}
	return nil
}
