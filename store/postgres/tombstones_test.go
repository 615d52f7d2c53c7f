package postgres

import (
	"errors"
	"testing"

	"github.com/skein-dev/skein"
)

// A session that one user deleted does not keep another user from importing it, and
// that import does not bring it back for the first.
func TestAnOriginIsDeletedForItsUserOnly(t *testing.T) {
	all := opened(t)
	ann, bob := all.As("ann"), all.As("bob")
	origin := &skein.Origin{Format: "codex", Path: "/shared/x", ID: "o"}
	bring := func(s skein.Store, id skein.SessionID, again bool) error {
		_, err := s.Append(t.Context(), skein.Batch{
			Session: id, Again: again,
			Events: []skein.Event{skein.NewEvent(skein.KindCreated, noon, skein.Created{Origin: origin})},
			Import: &skein.Import{File: skein.SourceFile{Format: "codex", Path: origin.Path, Session: id}},
		})
		return err
	}
	if err := bring(ann, "a", false); err != nil {
		t.Fatal(err)
	}
	if _, err := skein.LifecycleOf(ann).Delete(t.Context(), "a", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	if err := bring(bob, "b", false); err != nil {
		t.Errorf("bob's import of what ann has deleted = %v, want none", err)
	}
	if err := bring(bob, "b2", true); err != nil {
		t.Errorf("bob's import of it, again = %v, want none", err)
	}
	if err := bring(ann, "a2", false); !errors.Is(err, skein.ErrDeleted) {
		t.Errorf("ann's import of what she has deleted = %v, want an error that wraps %v", err, skein.ErrDeleted)
	}
	if err := bring(all, "l", false); err != nil {
		t.Errorf("the local user's import of it = %v, want none", err)
	}
	if err := bring(ann, "a2", true); err != nil {
		t.Errorf("ann's import of it, again = %v, want none", err)
	}
	for _, id := range []skein.SessionID{"b", "l"} {
		if _, err := all.Delete(t.Context(), id, skein.Deletion{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := bring(ann, "a3", false); err != nil {
		t.Errorf("ann's import of what the local user has deleted = %v, want none", err)
	}
	if err := bring(bob, "b3", false); !errors.Is(err, skein.ErrDeleted) {
		t.Errorf("bob's import of what he has deleted = %v, want an error that wraps %v", err, skein.ErrDeleted)
	}
}
