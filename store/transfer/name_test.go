package transfer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/transfer"
)

// What ann and bob both imported is each one's own in the team's store, and the other
// machines of each have it under its original ID.
func TestASessionWhoseIDIsAnothersGoesOnUnderAnother(t *testing.T) {
	for name, open := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			team, a, b, desk := open(t), memory.New(), memory.New(), memory.New()
			for _, s := range []skein.Store{a, b} {
				put(t, s, skein.Batch{Session: "s", Events: begun(skein.Created{Key: "cli:api", Config: []byte(`{"x":1}`)}, 3)})
				put(t, s, skein.Batch{Session: "f", Events: begun(forkOf("s", 2), 2)})
				put(t, s, skein.Batch{Session: "c", Events: begun(skein.Created{Parent: &skein.Parent{Session: "s", Why: skein.Child}}, 1)})
			}
			ann, bob := team.As("ann"), team.As("bob")
			send(t, a, ann)
			got := send(t, b, bob)
			to := got["s"].To
			if got["s"].What != transfer.New || to == "s" || !strings.HasPrefix(string(to), "s~") || got["s"].Events != 4 {
				t.Errorf("Send of what another user has = %+v, want it new under another ID", got["s"])
			}
			if d := cmp.Diff(lines(t, b), lines(t, bob)); d != "" {
				t.Errorf("what bob has there (-here +there):\n%s", d)
			}
			if f, err := bob.Session(t.Context(), got["f"].To); err != nil || f.Parent == nil || f.Parent.Session != to {
				t.Errorf("the fork there is %+v, %v, want one of %s", f, err, to)
			}
			if again := send(t, b, bob); len(again) != 0 {
				t.Errorf("Send again = %+v, want nothing", again)
			}
			says(t, b, "s", "more")
			if got := send(t, b, bob, "s"); got["s"].What != transfer.Grown || got["s"].To != to || got["s"].Events != 1 {
				t.Errorf("Send of what went on = %+v, want one event more in %s", got["s"], to)
			}
			send(t, bob, desk)
			if x := text(t, desk, "s"); x != text(t, b, "s") {
				t.Errorf("the other machine has %q by the ID s, want %q", x, text(t, b, "s"))
			}
			says(t, desk, "s", "at the desk")
			send(t, desk, bob)
			send(t, bob, b)
			if x := text(t, b, "s"); !strings.HasSuffix(x, "more at the desk") {
				t.Errorf("what went on at the desk is %q here", x)
			}
			if n := len(lines(t, b)); n != 3 {
				t.Errorf("there are %d sessions here, want 3", n)
			}
			if x := text(t, ann, "s"); x != text(t, a, "s") {
				t.Errorf("ann's session is %q, want %q", x, text(t, a, "s"))
			}
			// The session was deleted there, so its ID is free again; a session that got another
			// ID keeps it.
			if _, err := skein.LifecycleOf(team).Delete(t.Context(), "s", skein.Deletion{}); err != nil {
				t.Fatal(err)
			}
			if again := send(t, b, bob); len(again) != 0 {
				t.Errorf("Send when the ID is free = %+v, want nothing", again)
			}
		})
	}
}

// Two machines made different sessions with one ID.
func TestDifferentSessionsWithOneIDAreBothKept(t *testing.T) {
	a, team, b := memory.New(), memory.New(), memory.New()
	put(t, a, skein.Batch{Session: "notes", Events: begun(skein.Created{Title: "a"}, 2)})
	put(t, b, skein.Batch{Session: "notes", Events: begun(skein.Created{Title: "b", Config: []byte(`{"x":1}`)}, 3)})
	send(t, a, team)
	send(t, b, team)
	send(t, team, a)
	send(t, team, b)
	for who, s := range map[string]skein.Store{"team": team, "a": a, "b": b} {
		if got := lines(t, s); len(got) != 2 {
			t.Errorf("%s has %d sessions, want both: %q", who, len(got), got)
		}
	}
	for _, s := range []skein.Store{a, b} {
		if again := send(t, s, team); len(again) != 0 {
			t.Errorf("Send again = %+v, want nothing", again)
		}
		if again := send(t, team, s); len(again) != 0 {
			t.Errorf("Send back again = %+v, want nothing", again)
		}
	}
}

// Two users begin with the same sessions and change them at random. In the end each has
// all of their own lines on all of their machines, and nothing more is sent.
func TestUsersWithTheSameIDsHaveEachTheirLines(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 2))
		team := memory.New()
		users := []skein.User{"ann", "bob"}
		machines := [][]*memory.Store{{memory.New(), memory.New()}, {memory.New(), memory.New()}}
		for _, own := range machines {
			for i := range 3 {
				put(t, own[0], skein.Batch{Session: skein.SessionID(fmt.Sprint("s", i)), Events: begun(skein.Created{Key: fmt.Sprint("k", i)}, 2)})
			}
			put(t, own[0], skein.Batch{Session: "f", Events: begun(forkOf("s0", 2), 1)})
		}
		for step := range 30 {
			u := r.IntN(2)
			m := machines[u][r.IntN(2)]
			var ss []skein.Session
			for x, err := range m.Sessions(t.Context(), skein.Filter{}) {
				do(t, err)
				ss = append(ss, x)
			}
			slices.SortFunc(ss, func(a, b skein.Session) int { return strings.Compare(string(a.ID), string(b.ID)) })
			switch n := r.IntN(8); {
			case n < 3 && len(ss) > 0:
				says(t, m, ss[r.IntN(len(ss))].ID, fmt.Sprint(users[u], step))
			case n < 4 && len(ss) > 0:
				x := ss[r.IntN(len(ss))]
				put(t, m, skein.Batch{Session: skein.SessionID(fmt.Sprint("f", step)), Events: begun(forkOf(x.ID, 1+skein.Seq(r.Int64N(int64(x.Last)))), 1)})
			case n < 6:
				send(t, m, team.As(users[u]))
			default:
				send(t, team.As(users[u]), m)
			}
		}
		for range 3 {
			for u, own := range machines {
				for _, m := range own {
					send(t, m, team.As(users[u]))
					send(t, team.As(users[u]), m)
				}
			}
		}
		for u, own := range machines {
			want := lines(t, team.As(users[u]))
			for i, m := range own {
				if d := cmp.Diff(want, lines(t, m)); d != "" {
					t.Fatalf("seed %d: what sessions show (-team +%s's machine %d):\n%s", seed, users[u], i, d)
				}
				if again := send(t, m, team.As(users[u])); len(again) != 0 {
					t.Fatalf("seed %d: Send of %s again = %+v, want nothing", seed, users[u], again)
				}
			}
		}
	}
}

// However many users have pushed a session with one ID, the next one's is pushed too,
// once.
func TestManyUsersHaveSessionsWithOneID(t *testing.T) {
	team := memory.New()
	for i := range 9 {
		u, own := skein.User(fmt.Sprint("u", i)), memory.New()
		put(t, own, skein.Batch{Session: "s", Events: append(begun(skein.Created{}, 1), skein.Say(3_000, skein.UserSays(string(u))))})
		send(t, own, team.As(u))
		if again := send(t, own, team.As(u)); len(again) != 0 {
			t.Errorf("Send of %s again = %+v, want nothing", u, again)
		}
		if d := cmp.Diff(lines(t, own), lines(t, team.As(u))); d != "" {
			t.Errorf("what sessions show (-own +team's of %s):\n%s", u, d)
		}
	}
}
