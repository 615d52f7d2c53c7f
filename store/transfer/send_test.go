package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/transfer"
)

// send sends everything in from, and returns what happened to each session, except those
// that are the same.
func send(t *testing.T, from, to skein.Store, ids ...skein.SessionID) map[skein.SessionID]transfer.Sent {
	t.Helper()
	all := map[skein.SessionID]transfer.Sent{}
	err := transfer.Send(t.Context(), from, to, transfer.Sending{Sessions: ids}, func(o transfer.Sent) error {
		if o.Err != nil {
			t.Errorf("Send %s: %v", o.Session, o.Err)
		}
		if o.What != transfer.Same {
			all[o.Session] = o
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func says(t *testing.T, s skein.Store, id skein.SessionID, texts ...string) {
	t.Helper()
	for _, text := range texts {
		put(t, s, skein.Batch{Session: id, Events: []skein.Event{skein.Say(skein.Time(rand.Int64N(1e12)), skein.UserSays(text))}})
	}
}

// text returns all that a session shows.
func text(t *testing.T, s skein.Store, id skein.SessionID) string {
	t.Helper()
	var all []string
	for e, err := range s.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatalf("Events(%s): %v", id, err)
		}
		if e.Kind == skein.KindSaid {
			m, err := skein.Decode[skein.Message](e)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, m.Words())
		}
	}
	return strings.Join(all, " ")
}

// lines returns what all sessions show, each once.
func lines(t *testing.T, s skein.Store) (all []string) {
	t.Helper()
	for x, err := range s.Sessions(t.Context(), skein.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text(t, s, x.ID))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestASessionGoesOnOnAnotherMachine(t *testing.T) {
	for name, open := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, team, b := memory.New(), open(t), memory.New()
			ann := team.As("ann")
			put(t, a, skein.Batch{Session: "s", Events: begun(skein.Created{Key: "cli:api", User: "local"}, 3)})
			put(t, a, skein.Batch{Session: "f", Events: begun(forkOf("s", 2), 2)})
			put(t, a, skein.Batch{Session: "c", Events: begun(skein.Created{Parent: &skein.Parent{Session: "s", Why: skein.Child}}, 1)})
			if got := send(t, a, ann); len(got) != 3 || got["s"].What != transfer.New || got["s"].Events != 4 {
				t.Errorf("Send of what is new = %+v", got)
			}
			send(t, ann, b)
			says(t, b, "s", "went", "on")
			send(t, b, ann)
			if got := send(t, ann, a); len(got) != 1 || got["s"].What != transfer.Grown || got["s"].Events != 2 {
				t.Errorf("Send back = %+v, want the two new events of s", got)
			}
			if x, y := text(t, a, "s"), text(t, b, "s"); x != y || !strings.HasSuffix(x, "went on") {
				t.Errorf("here s is %q, there %q", x, y)
			}
			if again := send(t, a, ann); len(again) != 0 {
				t.Errorf("Send again = %+v, want nothing", again)
			}
			if s, err := team.Session(t.Context(), "s"); err != nil || s.User != "ann" || s.Key != "cli:api" {
				t.Errorf("the team has %+v, %v, want it to be ann's", s, err)
			}
		})
	}
}

// What a fork shows of its parent is in the parent, but that does not change which
// session delegated another.
func TestAForksChildrenStayItsOwn(t *testing.T) {
	for name, open := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := memory.New(), open(t).As("ann")
			put(t, a, skein.Batch{Session: "s", Events: begun(skein.Created{}, 3)})
			put(t, a, skein.Batch{Session: "f", Events: begun(forkOf("s", 3), 2)})
			put(t, a, skein.Batch{Session: "g", Events: begun(forkOf("f", 5), 2)})
			want := map[skein.SessionID]skein.Parent{}
			for id, p := range map[skein.SessionID]skein.Parent{
				"early": {Session: "f", Seq: 2, Why: skein.Child}, "late": {Session: "f", Seq: 5, Why: skein.Child},
				"somewhere": {Session: "f", Why: skein.Continuation}, "of g": {Session: "g", Seq: 4, Why: skein.Child}, "of s": {Session: "s", Seq: 2, Why: skein.Child},
			} {
				put(t, a, skein.Batch{Session: id, Events: begun(skein.Created{Parent: &p}, 1)})
				want[id] = p
			}
			send(t, a, b)
			for id, p := range want {
				if x, err := b.Session(t.Context(), id); err != nil || x.Parent == nil || *x.Parent != p {
					t.Errorf("the parent of %q is %+v there, %v, want %+v", id, x.Parent, err, p)
				}
			}
			if again := send(t, a, b); len(again) != 0 {
				t.Errorf("Send again = %+v, want nothing", again)
			}
		})
	}
}

// A narrow store has no room for one session.
type narrow struct {
	skein.Store
	without skein.SessionID
}

func (n narrow) Unwrap() skein.Store { return n.Store }

// Append implements [skein.Store].
func (n narrow) Append(ctx context.Context, batches ...skein.Batch) ([]skein.Receipt, error) {
	if batches[0].Session == n.without {
		return nil, skein.ErrFull
	}
	return n.Store.Append(ctx, batches...)
}

func TestWhatCannotBeSentIsToldOnceAndItsForksWithWhy(t *testing.T) {
	a, b := memory.New(), narrow{memory.New(), "s"}
	put(t, a, skein.Batch{Session: "s", Events: begun(skein.Created{}, 3)})
	put(t, a, skein.Batch{Session: "f", Events: begun(forkOf("s", 2), 2)})
	put(t, a, skein.Batch{Session: "g", Events: begun(forkOf("s", 3), 2)})
	put(t, a, skein.Batch{Session: "c", Events: begun(skein.Created{Parent: &skein.Parent{Session: "s", Why: skein.Child}}, 1)})
	told := map[skein.SessionID]int{}
	err := transfer.Send(t.Context(), a, b, transfer.Sending{}, func(o transfer.Sent) error {
		told[o.Session]++
		if failed := o.Session != "c"; failed != errors.Is(o.Err, skein.ErrFull) {
			t.Errorf("%s ends with %q, %v", o.Session, o.What, o.Err)
		}
		return nil
	})
	if want := map[skein.SessionID]int{"s": 1, "f": 1, "g": 1, "c": 1}; err != nil || !maps.Equal(told, want) {
		t.Errorf("Send told of %v, %v, want %v", told, err, want)
	}
}

func TestLinesThatPartedAreBothKept(t *testing.T) {
	a, team, b := memory.New(), memory.New(), memory.New()
	put(t, a, skein.Batch{Session: "s", Events: begun(skein.Created{}, 2)})
	send(t, a, team)
	send(t, team, b)
	says(t, a, "s", "a1", "a2")
	says(t, b, "s", "b1")
	put(t, b, skein.Batch{Session: "s", Events: []skein.Event{
		skein.NewEvent(skein.KindRewound, 7, skein.Rewound{To: 4}), skein.NewEvent(skein.KindAmended, 8, skein.Amended{Seq: 4, Withdrawn: true}),
	}})
	put(t, b, skein.Batch{Session: "of", Events: begun(forkOf("s", 4), 1)})
	send(t, a, team)
	got := send(t, b, team)
	fork := got["s"].To
	if got["s"].What != transfer.Forked || fork == "s" {
		t.Fatalf("Send of a line that parted = %+v, want a fork", got)
	}
	if x, y := text(t, team, fork), text(t, b, "s"); x != y {
		t.Errorf("the fork shows %q, want %q", x, y)
	}
	if x, y := text(t, team, "of"), text(t, b, "of"); x != y {
		t.Errorf("the fork of what parted shows %q, want %q", x, y)
	}
	for _, s := range []*memory.Store{a, b} {
		send(t, team, s)
		if d := cmp.Diff(lines(t, team), lines(t, s)); d != "" {
			t.Errorf("what sessions show (-team +person):\n%s", d)
		}
		if again := send(t, s, team); len(again) != 0 {
			t.Errorf("Send again = %+v, want nothing", again)
		}
		if again := send(t, team, s); len(again) != 0 {
			t.Errorf("Send back again = %+v, want nothing", again)
		}
	}
	// The other store's line is a fork here, and the session itself there.
	var theirs skein.SessionID
	for x, err := range b.Sessions(t.Context(), skein.Filter{Parent: "s"}) {
		do(t, err)
		if strings.HasSuffix(text(t, b, x.ID), "a2") {
			theirs = x.ID
		}
	}
	says(t, b, theirs, "b goes on with a")
	send(t, b, team)
	if x := text(t, team, "s"); !strings.HasSuffix(x, "a2 b goes on with a") {
		t.Errorf("the team's session shows %q, want what went on in its fork", x)
	}
	send(t, team, a)
	if x := text(t, a, "s"); !strings.HasSuffix(x, "a2 b goes on with a") {
		t.Errorf("a's session shows %q, want what went on in its fork", x)
	}
}

// Whatever people do, in the end all have all lines, and then nothing more is sent.
func TestEverybodyHasEveryLineInTheEnd(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		team := memory.New()
		people := []*memory.Store{memory.New(), memory.New(), memory.New()}
		for step := range 40 {
			p := people[r.IntN(len(people))]
			var ss []skein.Session
			for x, err := range p.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
				do(t, err)
				ss = append(ss, x)
			}
			switch n := r.IntN(10); {
			case n == 0 || len(ss) == 0:
				c := skein.Created{Key: "k"}
				if slices.ContainsFunc(ss, func(x skein.Session) bool { return x.Key == "k" }) {
					c.Key = ""
				}
				put(t, p, skein.Batch{Session: skein.SessionID(fmt.Sprintf("s%d-%d", seed, step)), Events: append(begun(c, 0), skein.Say(9, skein.UserSays(fmt.Sprint("begin", step))))})
			case n < 5:
				says(t, p, ss[r.IntN(len(ss))].ID, fmt.Sprint("w", step))
			case n < 6:
				x := ss[r.IntN(len(ss))]
				put(t, p, skein.Batch{Session: skein.SessionID(fmt.Sprintf("f%d-%d", seed, step)), Events: append(begun(forkOf(x.ID, 1+skein.Seq(r.Int64N(int64(x.Last)))), 0), skein.Say(skein.Time(step), skein.UserSays(fmt.Sprint("fork", step))))})
			case n < 7:
				x := ss[r.IntN(len(ss))]
				put(t, p, skein.Batch{Session: x.ID, Events: []skein.Event{skein.NewEvent(skein.KindRewound, skein.Time(step), skein.Rewound{To: skein.Seq(r.Int64N(int64(x.Last)))})}})
			case n < 9:
				send(t, p, team)
			default:
				send(t, team, p)
			}
		}
		for round, quiet := 0, false; !quiet; round++ {
			quiet = true
			for _, p := range people {
				quiet = len(send(t, p, team))+len(send(t, team, p)) == 0 && quiet
			}
			if round > 10 {
				t.Fatalf("seed %d: after %d rounds there is still something to send", seed, round)
			}
		}
		want := lines(t, team)
		for i, p := range people {
			if d := cmp.Diff(want, lines(t, p)); d != "" {
				t.Fatalf("seed %d: what sessions show (-team +person %d):\n%s", seed, i, d)
			}
			if again := send(t, p, team); len(again) != 0 {
				t.Fatalf("seed %d: Send of person %d again = %+v, want nothing", seed, i, again)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestSendGoesOnWhereverItWasKilled(t *testing.T) {
	a := memory.New()
	put(t, a, skein.Batch{Session: "s", Events: begun(skein.Created{Key: "k"}, 1200)})
	put(t, a, skein.Batch{Session: "f", Events: begun(forkOf("s", 700), 600)})
	put(t, a, skein.Batch{Session: "c", Events: begun(skein.Created{Parent: &skein.Parent{Session: "f", Seq: 900, Why: skein.Child}}, 5)})
	for n := 0; ; n++ {
		to, left := memory.New(), n
		killed := false
		err := transfer.Send(t.Context(), a, stops{to, skein.LifecycleOf(to), &left}, transfer.Sending{}, func(o transfer.Sent) error {
			killed = killed || errors.Is(o.Err, errKilled)
			return nil
		})
		do(t, err)
		_ = transfer.Send(t.Context(), a, to, transfer.Sending{}, func(transfer.Sent) error { return nil })
		if d := cmp.Diff(lines(t, a), lines(t, to)); d != "" {
			t.Fatalf("after it was killed after %d changes (-from +to):\n%s", n, d)
		}
		if !killed {
			return
		}
	}
}

func TestADryRunSendsNothing(t *testing.T) {
	a, b := memory.New(), memory.New()
	put(t, a, skein.Batch{Session: "s", Events: begun(skein.Created{}, 2)})
	var got transfer.Sent
	do(t, transfer.Send(t.Context(), a, b, transfer.Sending{Dry: true}, func(o transfer.Sent) error { got = o; return nil }))
	if got.What != transfer.New || got.Events != 3 {
		t.Errorf("dry run: %+v, want 3 events of a new session", got)
	}
	if _, err := b.Session(t.Context(), "s"); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("the session is there after a dry run: %v", err)
	}
}

func TestWhatWasScrubbedHereIsNoOtherLine(t *testing.T) {
	a, b := memory.New(), memory.New()
	put(t, a, skein.Batch{Session: "s", Events: begun(skein.Created{}, 1)})
	says(t, a, "s", "the password is xyzzy")
	send(t, a, b)
	if _, err := a.Scrub(context.Background(), "s", []string{"xyzzy"}); err != nil {
		t.Fatal(err)
	}
	got := send(t, a, b)
	if o := got["s"]; o.What != transfer.Grown || o.To != "s" {
		t.Errorf("Send of what was scrubbed = %+v, want that it goes on there", got)
	}
	if !got["s"].Blotted {
		t.Errorf("Send of what was scrubbed = %+v, want it told that it still stands there", got)
	}
}

func TestWhatWasDeletedThereStaysSo(t *testing.T) {
	for name, open := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := open(t), memory.New()
			put(t, b, skein.Batch{Session: "s", Events: begun(skein.Created{}, 1)})
			put(t, b, skein.Batch{Session: "fork", Events: begun(forkOf("s", 2), 1)})
			send(t, b, a)
			for _, id := range []skein.SessionID{"fork", "s"} {
				if _, err := skein.LifecycleOf(a).Delete(t.Context(), id, skein.Deletion{}); err != nil {
					t.Fatal(err)
				}
			}
			for _, ids := range [][]skein.SessionID{nil, {"s"}} {
				got := map[skein.SessionID]string{}
				do(t, transfer.Send(t.Context(), b, a, transfer.Sending{Sessions: ids}, func(o transfer.Sent) error {
					got[o.Session] = o.What
					return o.Err
				}))
				if want := map[skein.SessionID]string{"s": transfer.Gone, "fork": transfer.Gone}; !maps.Equal(got, want) {
					t.Errorf("Send(%v) of what was deleted there = %v, want %v", ids, got, want)
				}
			}
		})
	}
}
