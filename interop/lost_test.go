package interop_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// lostOf exports a session as toys and returns what is lost of it.
func lostOf(t *testing.T, s skein.Store, id skein.SessionID) (lost []string) {
	t.Helper()
	f := toy()
	f.Write = func(ctx context.Context, d interop.Draft) (interop.Written, error) {
		w, err := writeToy(ctx, d)
		if err == nil && len(w.Texts[0].Lines) == 0 {
			err = fmt.Errorf("%w: no messages", skein.ErrInvalid)
		}
		return w, err
	}
	done, err := writeback.Export(t.Context(), s, f, id, t.TempDir(), writeback.Exports{})
	if err != nil {
		t.Fatalf("Export(%s) = %v", id, err)
	}
	for _, l := range done[0].Losses {
		lost = append(lost, l.What)
	}
	return lost
}

func TestAForkThatSaysNothingOfItsOwnIsNamedAsALoss(t *testing.T) {
	s := memory.New()
	defer s.Close()
	add := func(id skein.SessionID, evs ...skein.Event) {
		t.Helper()
		if _, err := s.Append(t.Context(), skein.Batch{Session: id, Events: evs}); err != nil {
			t.Fatal(err)
		}
	}
	fork := skein.NewEvent(skein.KindCreated, 3, skein.Created{Parent: &skein.Parent{Session: "a", Seq: 2, Why: skein.Fork}})
	add("a", skein.NewEvent(skein.KindCreated, 1, skein.Created{}), skein.Say(2, skein.UserSays("one")))
	add("b", fork, skein.NewEvent(skein.KindTitled, 4, skein.Titled{Title: "B", By: skein.ByPerson}))
	add("c", fork, skein.Say(4, skein.UserSays("two")))
	names := func(lost []string) bool {
		return slices.ContainsFunc(lost, func(l string) bool { return strings.Contains(l, "a fork without messages") })
	}
	for id, want := range map[skein.SessionID]bool{"a": false, "b": true, "c": false} {
		if lost := lostOf(t, s, id); names(lost) != want {
			t.Errorf("Export(%s) names the losses %q; one of them is the fork: want %v", id, lost, want)
		}
	}
}

func TestAChildInWhichNothingWasSaidIsALossOfItsParent(t *testing.T) {
	s := memory.New()
	defer s.Close()
	child := skein.NewEvent(skein.KindCreated, 3, skein.Created{Parent: &skein.Parent{Session: "a", Seq: 2, Why: skein.Child}})
	for id, evs := range map[skein.SessionID][]skein.Event{
		"a": {skein.NewEvent(skein.KindCreated, 1, skein.Created{}), skein.Say(2, skein.UserSays("one"))},
		"b": {child, skein.NewEvent(skein.KindNoted, 4, skein.Noted{Name: "n"})},
	} {
		if _, err := s.Append(t.Context(), skein.Batch{Session: id, Events: evs}); err != nil {
			t.Fatal(err)
		}
	}
	if lost, want := lostOf(t, s, "a"), "child session without messages: left out"; !slices.Contains(lost, want) {
		t.Errorf("Export(a) names the losses %q, want %q among them", lost, want)
	}
}
