package skein_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skein-dev/skein"
)

// fold fails the test if the events are no session.
func fold(t *testing.T, events ...skein.Event) skein.Session {
	t.Helper()
	s, err := skein.Fold("s", number(events...))
	if err != nil {
		t.Fatalf("Fold(%d events): %v", len(events), err)
	}
	return s
}

func titled(title string, by skein.By) skein.Event {
	return skein.NewEvent(skein.KindTitled, 1, skein.Titled{Title: title, By: by})
}

func TestFoldKeepsTheTitleOfTheHighestRank(t *testing.T) {
	for _, c := range []struct {
		titles []skein.Event
		want   string
	}{
		{nil, "from the source"},
		{[]skein.Event{titled("b", skein.BySource)}, "b"},
		{[]skein.Event{titled("b", skein.ByModel), titled("c", skein.BySource)}, "b"},
		{[]skein.Event{titled("b", skein.ByModel), titled("c", skein.ByModel)}, "c"},
		{[]skein.Event{titled("b", skein.ByPerson), titled("c", skein.ByModel), titled("d", "somebody")}, "b"},
		{[]skein.Event{titled("b", skein.ByPerson), titled("", skein.ByPerson)}, ""},
	} {
		events := append([]skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: "from the source"})}, c.titles...)
		if got := fold(t, events...).Title; got != c.want {
			t.Errorf("title after %d titled events is %q, want %q", len(c.titles), got, c.want)
		}
	}
}

func TestFold(t *testing.T) {
	ptr := func(s string) *string { return &s }
	yes := true
	answer := func(id, request string, u skein.Usage) skein.Event {
		return skein.Say(3000, skein.Message{ID: id, Role: skein.RoleAssistant, Provider: "p", Model: "m2", Request: request, Usage: &u, Parts: []skein.Part{skein.TextPart("x")}})
	}
	got := fold(
		t,
		skein.NewEvent(skein.KindCreated, 2000, skein.Created{Key: "cli:api", Surface: "cli", Project: "/p", Cwd: "/p/q", Agent: "a", Profile: "f", Provider: "p0", Model: "m0", Origin: &skein.Origin{Format: "codex"}}),
		skein.Say(2500, skein.UserSays("  the\n first\twords ")),
		answer("m", "r1", skein.Usage{Input: 10, Output: 1}),
		answer("m", "r1", skein.Usage{Input: 10, Output: 5}),
		skein.NewEvent(skein.KindStep, 3000, skein.Step{Phase: "finish", Request: "r1", Usage: &skein.Usage{Input: 10, Output: 6, CacheRead: 2}}),
		answer("n", "r2", skein.Usage{Output: 1}),
		answer("o", "", skein.Usage{Output: 1}),
		answer("o", "", skein.Usage{Output: 1}),
		skein.Say(1000, skein.UserSays("the last")),
		skein.Say(9000, skein.Message{Role: skein.RoleUser, Synthetic: true, Parts: []skein.Part{skein.TextPart("a reminder")}}),
		toolState("t1", skein.Running), toolState("t2", skein.Pending), toolState("t1", skein.Completed), toolState("t3", skein.Uncertain), toolState("t2", skein.Running),
		skein.NewEvent(skein.KindChanged, 1, skein.Changed{Key: ptr(""), Status: ptr("done"), Pinned: &yes, Tags: &[]string{"b", "a", "b"}}),
		compacted(3, "s"), skein.NewEvent(skein.KindCompacted, 1, skein.Compacted{To: 3, Failed: true}),
	)
	want := skein.Session{
		ID: "s", User: skein.Local, First: "the first words", LastPrompt: "the last", Surface: "cli", Project: "/p", Cwd: "/p/q",
		Agent: "a", Profile: "f", Provider: "p", Model: "m2", Origin: &skein.Origin{Format: "codex"}, Status: "done", Pinned: true, Tags: []string{"a", "b"},
		Created: 2000, Updated: 9000, Touched: 1, Last: 18, Messages: 6, Turns: 2, Compactions: 1,
		Usage: skein.Usage{Input: 10, Output: 8, CacheRead: 2, Requests: 3}, Open: []string{"t2"}, Uncertain: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Fold (-want +got):\n%s", diff)
	}
}

func TestFoldOfAForkCountsWhatItShows(t *testing.T) {
	fork := func(at skein.Seq) skein.Event {
		return skein.NewEvent(skein.KindCreated, 5, skein.Created{Parent: &skein.Parent{Session: "parent", Seq: at, Why: skein.Fork}})
	}
	spent := skein.Say(4, skein.Message{ID: "m", Role: skein.RoleAssistant, Model: "m1", Request: "r", Usage: &skein.Usage{Output: 9}})
	want := skein.Session{
		ID: "s", User: skein.Local, First: "one", LastPrompt: "three", Project: "/p", Agent: "a", Model: "m1",
		Parent: &skein.Parent{Session: "parent", Seq: 6, Why: skein.Fork}, Created: 5, Updated: 1000, Base: 6, Last: 8, Messages: 4, Turns: 3,
	}
	got := fold(
		t,
		skein.NewEvent(skein.KindCreated, 1, skein.Created{Key: "k", Project: "/p", Agent: "a"}), user("one"), spent,
		fork(3), user("two"), spent, fork(6), user("three"),
	)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Fold of a fork of a fork (-want +got):\n%s", diff)
	}
}

func TestFoldRefuses(t *testing.T) {
	child := func(p skein.Parent, key string) skein.Event {
		return skein.NewEvent(skein.KindCreated, 1, skein.Created{Parent: &p, Key: key})
	}
	gap := number(created(), user("a"))
	gap[1].Seq = 3
	for _, c := range []struct {
		name   string
		events []skein.Event
		want   error
	}{
		{"an event before created", number(user("a")), skein.ErrNotFound},
		{"a second created", number(created(), created()), skein.ErrExists},
		{"a gap", gap, skein.ErrInvalid},
		{"a payload that does not fit", []skein.Event{{Seq: 1, Kind: skein.KindCreated, Payload: []byte("[]")}}, skein.ErrInvalid},
		{"a rewind to what is not yet", number(created(), rewound(2)), skein.ErrInvalid},
		{"a rewind to before the beginning", number(created(), rewound(-1)), skein.ErrInvalid},
		{"a compaction of what is not yet", number(created(), compacted(5, "s")), skein.ErrInvalid},
		{"an amendment of itself", number(created(), withdrawn(2)), skein.ErrInvalid},
		{"an amendment of nothing", number(created(), withdrawn(0)), skein.ErrInvalid},
		{"a fork at nothing", number(child(skein.Parent{Session: "p", Why: skein.Fork}, "")), skein.ErrInvalid},
		{"a fork with a key", number(created(), child(skein.Parent{Session: "p", Seq: 1, Why: skein.Fork}, "k")), skein.ErrInvalid},
		{"a fork at another place", number(created(), child(skein.Parent{Session: "p", Seq: 7, Why: skein.Fork}, "")), skein.ErrInvalid},
		{"an amendment of the parent's event", number(created(), child(skein.Parent{Session: "p", Seq: 1, Why: skein.Fork}, ""), withdrawn(1)), skein.ErrInvalid},
		{"a key too long", number(skein.NewEvent(skein.KindCreated, 1, skein.Created{Key: strings.Repeat("k", 129)})), skein.ErrInvalid},
	} {
		if s, err := skein.Fold("s", c.events); !errors.Is(err, c.want) {
			t.Errorf("%s: Fold = %+v, %v; want an error wrapping %v", c.name, s, err, c.want)
		}
	}
}

func TestApplyLeavesBothUnchangedOnError(t *testing.T) {
	before := fold(t, created(), user("a"))
	s, e := before, rewound(9)
	if _, err := s.Apply(&e, facts(t, e), skein.Prior{}); !errors.Is(err, skein.ErrInvalid) || e.Seq != 0 {
		t.Errorf("Apply(rewound to 9) = %v and seq %d, want an error wrapping ErrInvalid and no seq", err, e.Seq)
	}
	if diff := cmp.Diff(before, s); diff != "" {
		t.Errorf("session after an error (-before +after):\n%s", diff)
	}
}

func TestFirstWords(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " a \n b\t": "a b", strings.Repeat("x", 300): strings.Repeat("x", 200),
		strings.Repeat("é", 150): strings.Repeat("é", 100), "x" + strings.Repeat("é", 150): "x" + strings.Repeat("é", 99), "a\xed\xa0\x80b": "ab",
	} {
		if got := skein.FirstWords(in); got != want {
			t.Errorf("FirstWords(%.20q) = %q, want %q", in, got, want)
		}
	}
}

func TestSessionName(t *testing.T) {
	for want, s := range map[string]skein.Session{"t": {ID: "i", Title: "t", First: "f"}, "f": {ID: "i", First: "f"}, "i": {ID: "i"}} {
		if got := s.Name(); got != want {
			t.Errorf("%+v.Name() = %q, want %q", s, got, want)
		}
	}
}

// What a store does event by event, with look-ups that only know what came
// before, gives what Fold gives of the whole, and what Entries count.
func TestApplyOneByOneEqualsFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := eventsFrom(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "events"))
		s := skein.Session{ID: "s"}
		var known skein.Standing
		for i, e := range events {
			f, err := skein.FactsOf(e)
			if err != nil {
				t.Fatal(err)
			}
			e.Seq = 0
			added, err := s.Apply(&e, f, skein.Prior{Message: f.Message != nil && known.Joins(f.Message.ID)})
			if err != nil || e.Seq != events[i].Seq {
				t.Fatalf("Apply(event %d) = %v, and its place is %d", i+1, err, e.Seq)
			}
			if ever := s.Ever().Turns; added.Turn != ever {
				t.Fatalf("Apply(event %d) says turn %d of a session with %d", i+1, added.Turn, ever)
			}
			if err := known.Add(e); err != nil {
				t.Fatal(err)
			}
			if added.Stale {
				s.Stand(known.Shown())
			}
		}
		whole, err := skein.Fold("s", events)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole, s); diff != "" {
			t.Fatalf("one by one (-Fold +Apply):\n%s", diff)
		}
		entries, err := skein.Entries(events)
		if err != nil {
			t.Fatal(err)
		}
		stand := 0
		for _, e := range entries {
			if e.Turn > s.Ever().Turns {
				t.Fatalf("message %d is of turn %d of %d", e.Seq, e.Turn, s.Ever().Turns)
			}
			if !e.Rewound {
				stand++
			}
		}
		if stand != s.Messages {
			t.Fatalf("%d entries stand, want %d messages", stand, s.Messages)
		}
	})
}

// What a session is set to follows from its created and changed events alone.
func TestShownSetIsWhatFoldSays(t *testing.T) {
	p, q, m := "/q", "", "m2"
	events := []skein.Event{
		skein.NewEvent(skein.KindCreated, 1, skein.Created{Project: "/p", Cwd: "/p/x", Agent: "a", Model: "m"}),
		skein.NewEvent(skein.KindChanged, 2, skein.Changed{Project: &p, Agent: &q}),
		skein.NewEvent(skein.KindChanged, 3, skein.Changed{Model: &m}),
		skein.NewEvent(skein.KindCreated, 4, skein.Created{Cwd: "/f", Parent: &skein.Parent{Session: "s", Seq: 3, Why: skein.Fork}}),
		skein.NewEvent(skein.KindCreated, 5, skein.Created{Model: "m3", Parent: &skein.Parent{Session: "f", Seq: 4, Why: skein.Fork}}),
	}
	var got skein.Shown
	for i, e := range events {
		events[i].Seq = skein.Seq(i + 1)
		f, err := skein.FactsOf(e)
		if err != nil {
			t.Fatal(err)
		}
		s, err := skein.Fold("x", events[:i+1])
		if err != nil {
			t.Fatal(err)
		}
		model := got.Set(f)
		if diff := cmp.Diff(s.Shown(), got); diff != "" {
			t.Errorf("after event %d Set makes (-Fold +Set):\n%s", i+1, diff)
		}
		if want := i == 0 || i == 2 || i == 4; model != want {
			t.Errorf("Set(event %d) = %t, want %t: whether it sets the model", i+1, model, want)
		}
	}
	created, err := skein.FactsOf(events[0])
	if err != nil {
		t.Fatal(err)
	}
	if got.Set(created); got.Cwd != "/p/x" || got.Model != "m" {
		t.Errorf("Set(created, no fork's) leaves what was set before: %+v", got)
	}
}
