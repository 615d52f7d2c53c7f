package transfer_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/transfer"
)

// occupy gives bob sessions in s with the IDs that furnish uses.
func occupy(t *testing.T, s skein.Store) {
	t.Helper()
	for _, id := range []skein.SessionID{"plain", "child", "picture", "key2", "gone", "gone2", "heir", "mid", "imported"} {
		put(t, s.As("bob"), skein.Batch{Session: id, Events: begun(skein.Created{Title: "bob's"}, 1)})
	}
}

var toAnn = transfer.Options{Users: map[skein.User]skein.User{skein.Local: "ann"}}

func TestCopyGivesAnotherIDToASessionWhoseOwnIsAnothers(t *testing.T) {
	for name, open := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, y := open(t), open(t)
			furnish(t, x)
			put(t, x, skein.Batch{Session: "plain", Events: []skein.Event{
				skein.NewEvent(skein.KindTool, 5_000, skein.ToolState{Call: "x", State: skein.Completed, Child: "child"}),
			}})
			occupy(t, y)
			bobs := lines(t, y.As("bob"))
			r, err := transfer.Copy(t.Context(), x, y, toAnn)
			if err != nil || !r.Same() {
				t.Fatalf("Copy = %+v, %v; %s", r, err, cmp.Diff(r.From, r.To))
			}
			if len(r.Renamed) != 6 || r.Renamed["plain"] != skein.SessionID("plain").Other(0) {
				t.Errorf("Copy renamed %v, want the 6 whose IDs are bob's", r.Renamed)
			}
			ann := y.As("ann")
			if d := cmp.Diff(lines(t, x.As(skein.Local)), lines(t, ann)); d != "" {
				t.Errorf("what the sessions show (-from +to):\n%s", d)
			}
			if d := cmp.Diff(bobs, lines(t, y.As("bob"))); d != "" {
				t.Errorf("what bob's sessions show (-before +after):\n%s", d)
			}
			plain, child := skein.SessionID("plain").Other(0), skein.SessionID("child").Other(0)
			for _, id := range []skein.SessionID{"fork", child} {
				if s, err := ann.Session(t.Context(), id); err != nil || s.Parent == nil || s.Parent.Session != plain {
					t.Errorf("Session(%s) = %+v, %v, want the parent %s", id, s, err, plain)
				}
			}
			if got := started(t, ann, plain); got != child {
				t.Errorf("the call started session %s, want %s", got, child)
			}
			if f, err := skein.SourcesOf(ann).File(t.Context(), "codex", "/a.jsonl"); err != nil || f.Session != skein.SessionID("imported").Other(0) || f.Records != 1200 {
				t.Errorf("File = %+v, %v, want it at the other ID", f, err)
			}
			if again, err := transfer.Copy(t.Context(), x, y, toAnn); err != nil || !again.Same() || again.Stored != 0 {
				t.Errorf("Copy again = %+v, %v, want nothing new", again, err)
			}
			says(t, x, "plain", "more")
			if r, err := transfer.Copy(t.Context(), x, y, toAnn); err != nil || !r.Same() || r.Stored != 1 {
				t.Errorf("Copy of what went on = %+v, %v, want one event more", r, err)
			}
			// The session was deleted there, so its ID is free again; a session that got another
			// ID keeps it.
			if _, err := skein.LifecycleOf(y).Delete(t.Context(), "plain", skein.Deletion{}); err != nil {
				t.Fatal(err)
			}
			if again, err := transfer.Copy(t.Context(), x, y, toAnn); err != nil || !again.Same() || again.Stored != 0 {
				t.Errorf("Copy when the ID is free = %+v, %v, want nothing new", again, err)
			}
		})
	}
}

// started returns the session that a call of a session started.
func started(t *testing.T, s skein.Store, id skein.SessionID) (child skein.SessionID) {
	t.Helper()
	for e, err := range s.Events(t.Context(), id, 0) {
		do(t, err)
		if e.Kind == skein.KindTool {
			state, err := skein.Decode[skein.ToolState](e)
			do(t, err)
			child = state.Child
		}
	}
	return child
}

func TestCopyUnderOtherIDsGoesOnWhereverItWasKilled(t *testing.T) {
	x := memory.New()
	furnish(t, x)
	for n := 0; ; n++ {
		y := memory.New()
		occupy(t, y)
		left := n
		_, err := transfer.Copy(t.Context(), x, stops{y, skein.LifecycleOf(y), &left}, toAnn)
		if err != nil && !errors.Is(err, errKilled) {
			t.Fatalf("Copy that ends after %d changes: %v", n, err)
		}
		r, rerr := transfer.Copy(t.Context(), x, y, toAnn)
		if rerr != nil || !r.Same() {
			t.Fatalf("Copy after it was killed after %d changes = %+v, %v: %s", n, r, rerr, cmp.Diff(r.From, r.To))
		}
		if d := cmp.Diff(lines(t, x.As(skein.Local)), lines(t, y.As("ann"))); d != "" {
			t.Fatalf("what the sessions show after it was killed after %d changes (-from +to):\n%s", n, d)
		}
		if err == nil {
			return
		}
	}
}

// Two users' different sessions with one ID are both kept, and so are two of one user.
func TestCopyKeepsASessionOfTheUserThatHasTheID(t *testing.T) {
	x, y := memory.New(), memory.New()
	put(t, x, skein.Batch{Session: "notes", Events: begun(skein.Created{Title: "from"}, 2)})
	put(t, y.As("ann"), skein.Batch{Session: "notes", Events: begun(skein.Created{Title: "to"}, 3)})
	for range 2 {
		if r, err := transfer.Copy(t.Context(), x, y, toAnn); err != nil || !r.Same() {
			t.Fatalf("Copy = %+v, %v", r, err)
		}
	}
	if got := lines(t, y.As("ann")); len(got) != 2 {
		t.Errorf("ann has %q, want both sessions", got)
	}
}
