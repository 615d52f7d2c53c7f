package skein_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/eventtest"
)

// fold fails the test if the events are not those of a session.
func fold(t *testing.T, events ...skein.Event) skein.Session {
	t.Helper()
	s, err := skein.Fold("s", eventtest.Number(events...))
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
		eventtest.ToolState("t1", skein.Running), eventtest.ToolState("t2", skein.Pending), eventtest.ToolState("t1", skein.Completed), eventtest.ToolState("t3", skein.Uncertain), eventtest.ToolState("t2", skein.Running),
		skein.NewEvent(skein.KindChanged, 1, skein.Changed{Key: ptr(""), Status: ptr("done"), Pinned: &yes, Tags: &[]string{"b", "a", "b"}}),
		eventtest.Compacted(3, "s"), skein.NewEvent(skein.KindCompacted, 1, skein.Compacted{To: 3, Failed: true}),
	)
	want := skein.Session{
		ID: "s", User: skein.Local, First: "the first words", LastPrompt: "the last", Surface: "cli", Project: "/p", Cwd: "/p/q",
		Agent: "a", Profile: "f", Provider: "p", Model: "m2", Origin: &skein.Origin{Format: "codex"}, Status: "done", Pinned: true, Tags: []string{"a", "b"},
		Created: 2000, Updated: 9000, Touched: 1, Last: 18, Messages: 6, Turns: 2, Compactions: 1,
		Usage: skein.Usage{Input: 10, Output: 8, CacheRead: 2, Requests: 3}, Open: []string{"t2"}, Uncertain: 1,
		Activity: skein.Activity{State: skein.StateWorking, Since: 1, Seq: 15, Calls: []skein.ActiveCall{{ID: "t2", Time: 1, Seq: 15}}},
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
		Activity: skein.Activity{State: skein.StateWorking, Since: 1000, Seq: 8},
	}
	got := fold(
		t,
		skein.NewEvent(skein.KindCreated, 1, skein.Created{Key: "k", Project: "/p", Agent: "a"}), eventtest.User("one"), spent,
		fork(3), eventtest.User("two"), spent, fork(6), eventtest.User("three"),
	)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Fold of a fork of a fork (-want +got):\n%s", diff)
	}
}

func TestFoldRefuses(t *testing.T) {
	child := func(p skein.Parent, key string) skein.Event {
		return skein.NewEvent(skein.KindCreated, 1, skein.Created{Parent: &p, Key: key})
	}
	gap := eventtest.Number(eventtest.Created(), eventtest.User("a"))
	gap[1].Seq = 3
	for _, c := range []struct {
		name   string
		events []skein.Event
		want   error
	}{
		{"an event before created", eventtest.Number(eventtest.User("a")), skein.ErrNotFound},
		{"a second created", eventtest.Number(eventtest.Created(), eventtest.Created()), skein.ErrExists},
		{"a gap", gap, skein.ErrInvalid},
		{"a payload that does not fit", []skein.Event{{Seq: 1, Kind: skein.KindCreated, Payload: []byte("[]")}}, skein.ErrInvalid},
		{"a rewind to what is not yet", eventtest.Number(eventtest.Created(), eventtest.Rewound(2)), skein.ErrInvalid},
		{"a rewind to before the beginning", eventtest.Number(eventtest.Created(), eventtest.Rewound(-1)), skein.ErrInvalid},
		{"a compaction of what is not yet", eventtest.Number(eventtest.Created(), eventtest.Compacted(5, "s")), skein.ErrInvalid},
		{"an amendment of itself", eventtest.Number(eventtest.Created(), eventtest.Withdrawn(2)), skein.ErrInvalid},
		{"an amendment of nothing", eventtest.Number(eventtest.Created(), eventtest.Withdrawn(0)), skein.ErrInvalid},
		{"a fork at nothing", eventtest.Number(child(skein.Parent{Session: "p", Why: skein.Fork}, "")), skein.ErrInvalid},
		{"a fork with a key", eventtest.Number(eventtest.Created(), child(skein.Parent{Session: "p", Seq: 1, Why: skein.Fork}, "k")), skein.ErrInvalid},
		{"a fork at another place", eventtest.Number(eventtest.Created(), child(skein.Parent{Session: "p", Seq: 7, Why: skein.Fork}, "")), skein.ErrInvalid},
		{"an amendment of the parent's event", eventtest.Number(eventtest.Created(), child(skein.Parent{Session: "p", Seq: 1, Why: skein.Fork}, ""), eventtest.Withdrawn(1)), skein.ErrInvalid},
		{"a key too long", eventtest.Number(skein.NewEvent(skein.KindCreated, 1, skein.Created{Key: strings.Repeat("k", 129)})), skein.ErrInvalid},
	} {
		if s, err := skein.Fold("s", c.events); !errors.Is(err, c.want) {
			t.Errorf("%s: Fold = %+v, %v; want an error wrapping %v", c.name, s, err, c.want)
		}
	}
}

func TestApplyLeavesBothUnchangedOnError(t *testing.T) {
	before := fold(t, eventtest.Created(), eventtest.User("a"))
	s, e := before, eventtest.Rewound(9)
	if _, err := s.Apply(&e, eventtest.Facts(t, e), skein.Prior{}); !errors.Is(err, skein.ErrInvalid) || e.Seq != 0 {
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

// Applying events one by one, with lookups that only know what came before, gives
// the same as Fold of all events, and as counting the Entries.
func TestApplyOneByOneEqualsFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := eventtest.EventsFrom(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "events"))
		s := skein.Session{ID: "s"}
		var known skein.LiveMessages
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
				s.SetShown(known.Shown())
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

// A session's settings follow from its created and changed events alone.
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

// show formats entries, one per line: seq-end turn flags role: parts.
func show(entries []skein.Entry) string {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%d-%d t%d", e.Seq, e.End, e.Turn)
		if e.Rewound {
			b.WriteString(" rewound")
		}
		if e.Compacted {
			b.WriteString(" compacted")
		}
		fmt.Fprintf(&b, " %s", eventtest.ShowMessage(e.Message))
	}
	return b.String()
}

func TestEntries(t *testing.T) {
	text := skein.TextPart
	think := func(s, raw string) skein.Part {
		return skein.Part{Kind: skein.PartReasoning, Text: skein.Text(s), Raw: []byte(raw)}
	}
	longCall := eventtest.Call("c1")
	longCall.Call = &skein.Call{ID: "c1", Name: "bash", Input: []byte(`{"command":"ls -l"}`)}
	bareCall := eventtest.Call("c1")
	bareCall.Call = &skein.Call{ID: "c1", Name: "bash"}
	for _, c := range []struct {
		name   string
		events []skein.Event
		want   string
	}{
		{"nothing", nil, ""},
		{
			"each said event without an ID is a message",
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.Assistant("", text("b")), eventtest.Assistant("", text("c"))),
			"2-2 t1 user: text(\"a\")\n3-3 t1 assistant: text(\"b\")\n4-4 t1 assistant: text(\"c\")\n",
		},
		{
			"pieces of one message, with others between them, are one",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("m", text("a")), eventtest.User("x"), eventtest.Assistant("m", text("b"))),
			"2-4 t0 assistant: text(\"a\") text(\"b\")\n3-3 t1 user: text(\"x\")\n",
		},
		{
			"a part that grows stands once",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("m", text("He")), eventtest.Assistant("m", text("Hello"), eventtest.Call("c1"))),
			"2-3 t0 assistant: text(\"Hello\") call(c1 {\"command\":\"ls\"})\n",
		},
		{
			"equal parts of one piece stay two",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("m", text("a"), text("a")), eventtest.Assistant("m", text("a"), text("a"), text("a"))),
			"2-3 t0 assistant: text(\"a\") text(\"a\") text(\"a\")\n",
		},
		{
			"a call is compared by its ID, and the later input holds",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("m", eventtest.Call("c1")), eventtest.Assistant("m", longCall), eventtest.Assistant("m", bareCall, eventtest.Call("c2"))),
			"2-4 t0 assistant: call(c1 {\"command\":\"ls -l\"}) call(c2 {\"command\":\"ls\"})\n",
		},
		{
			"reasoning with another signature is another part",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("m", think("", `"s1"`)), eventtest.Assistant("m", think("", `"s2"`)), eventtest.Assistant("m", think("", `"s2"`))),
			"2-4 t0 assistant: reasoning(\"\"\"s1\") reasoning(\"\"\"s2\")\n",
		},
		{
			"a signature that comes at the end belongs to the text before it",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("m", think("ab", "")), eventtest.Assistant("m", think("abc", `"s"`))),
			"2-3 t0 assistant: reasoning(\"abc\"\"s\")\n",
		},
		{
			"what was amended stands in place, what was withdrawn is gone",
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.User("b"), eventtest.Assistant("", text("c")), eventtest.Amended(2, eventtest.User("A")), eventtest.Withdrawn(3)),
			"2-2 t1 user: text(\"A\")\n4-4 t2 assistant: text(\"c\")\n",
		},
		{
			"a withdrawn piece leaves the others",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("m", text("a")), eventtest.Assistant("m", text("b")), eventtest.Withdrawn(2)),
			"3-3 t0 assistant: text(\"b\")\n",
		},
		{
			"what was amended again counts last",
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.Withdrawn(2), eventtest.Amended(2, eventtest.User("b"))),
			"2-2 t1 user: text(\"b\")\n",
		},
		{
			"rewound messages keep their turn and are marked",
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.User("b"), eventtest.Rewound(2), eventtest.User("c")),
			"2-2 t1 user: text(\"a\")\n3-3 t2 rewound user: text(\"b\")\n5-5 t3 user: text(\"c\")\n",
		},
		{
			"a message of which a piece is left was not rewound",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("m", text("a")), eventtest.Assistant("m", text("b")), eventtest.Rewound(2)),
			"2-3 t0 assistant: text(\"a\") text(\"b\")\n",
		},
		{
			"a part that lacks what it is stands as it is",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("m", eventtest.Call("c")), eventtest.Assistant("m", skein.Part{Kind: skein.PartCall}, skein.Part{Kind: skein.PartResult})),
			"2-3 t0 assistant: call(c {\"command\":\"ls\"}) call(\"\") result(\"\")\n",
		},
		{
			"a redo brings back what was rewound, and rewinds what came since",
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.User("b"), eventtest.Rewound(2), eventtest.User("c"), eventtest.Rewound(3)),
			"2-2 t1 user: text(\"a\")\n3-3 t2 user: text(\"b\")\n5-5 t3 rewound user: text(\"c\")\n",
		},
		{
			"a rewind to nothing",
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.Rewound(0)),
			"2-2 t1 rewound user: text(\"a\")\n",
		},
		{
			"the newest compaction covers what lies under it",
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.User("b"), eventtest.Compacted(2, "s"), eventtest.User("c")),
			"2-2 t1 compacted user: text(\"a\")\n3-3 t2 user: text(\"b\")\n5-5 t3 user: text(\"c\")\n",
		},
		{
			"a compaction that was rewound covers nothing",
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.Compacted(2, "s"), eventtest.Rewound(2)),
			"2-2 t1 user: text(\"a\")\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, show(eventtest.EntriesOf(t, c.events))); diff != "" {
				t.Errorf("Entries (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEntriesMergesUsageOfPieces(t *testing.T) {
	piece := func(out, cache int64) skein.Event {
		return skein.Say(1, skein.Message{ID: "m", Role: skein.RoleAssistant, Usage: &skein.Usage{Input: 3, Output: out, CacheRead: cache}})
	}
	got := eventtest.EntriesOf(t, eventtest.Number(eventtest.Created(), piece(9, 5), piece(139, 7), piece(100, 0)))[0].Message.Usage
	if want := (skein.Usage{Input: 3, Output: 139, CacheRead: 7}); *got != want {
		t.Errorf("usage of three pieces is %+v, want %+v", *got, want)
	}
}

// For each field that pieces set, the latest value counts; a field that a piece does
// not set is left unchanged.
func TestEntriesMergesTheOtherFieldsOfPieces(t *testing.T) {
	ofResult := func(text, meta string) skein.Part {
		p := eventtest.Result("c", text)
		p.Start, p.Meta = 5, []byte(meta)
		return p
	}
	first := skein.Message{
		ID: "m", Role: skein.RoleUser, Provider: "p", Model: "a", Agent: "g", Request: "r", Tier: "batch", Stop: "end", Synthetic: true, Meta: []byte("1"),
		Interrupted: true, Error: &skein.ErrorInfo{Message: "e"}, Parts: []skein.Part{ofResult("one", "1"), eventtest.Result("d", "other")},
	}
	second := skein.Message{ID: "m", Role: skein.RoleUser, Model: "b", Parts: []skein.Part{eventtest.Result("c", "two"), ofResult("", "2")}}
	second.Parts[1].Result.CallID = "d"
	third := skein.Message{ID: "m", Role: skein.RoleUser, Meta: []byte("3"), Usage: &skein.Usage{Input: 1}}
	got := eventtest.EntriesOf(t, eventtest.Number(eventtest.Created(), skein.Say(1, first), skein.Say(1, second), skein.Say(1, third)))[0].Message
	want := first
	want.Model, want.Synthetic, want.Interrupted, want.Meta, want.Usage = "b", false, false, []byte("3"), &skein.Usage{Input: 1}
	want.Parts = []skein.Part{ofResult("two", "1"), ofResult("other", "2")}
	want.Parts[1].Result.CallID = "d"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("message of three pieces (-want +got):\n%s", diff)
	}
}

func TestEntriesNamesTheEventThatIsDamaged(t *testing.T) {
	_, err := skein.Entries([]skein.Event{{Seq: 7, Kind: skein.KindSaid, Payload: []byte(`{"parts":3}`)}})
	if !errors.Is(err, skein.ErrInvalid) || !strings.Contains(fmt.Sprint(err), "event 7") {
		t.Errorf("Entries(parts: 3) = %v, want an error wrapping ErrInvalid that names event 7", err)
	}
}

func TestEntriesLeavesTheEventsAsTheyWere(t *testing.T) {
	var f skein.EntryBuilder
	for _, e := range eventtest.Number(eventtest.Created(), eventtest.Assistant("m", skein.TextPart("a")), eventtest.Assistant("m", skein.TextPart("ab"))) {
		if err := f.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	first, second := show(f.Entries()), show(f.Entries())
	if first != second {
		t.Errorf("Entries() a second time is %q, want %q", second, first)
	}
}

// A store's Newest gives the EntryBuilder a window: its messages' events and all
// rewound, compacted and amended events. The result is the end of all entries.
func TestFolderOfAWindowEqualsTheEndOfTheWhole(t *testing.T) {
	events := eventtest.Number(
		eventtest.Created(), eventtest.User("a"), eventtest.Assistant("m", skein.TextPart("b")), eventtest.User("c"), eventtest.Rewound(3), eventtest.User("d"), eventtest.Compacted(3, "s"),
		eventtest.Assistant("n", skein.TextPart("e")), eventtest.Assistant("n", skein.TextPart("ef")), eventtest.Withdrawn(6), eventtest.User("g"),
	)
	all := eventtest.EntriesOf(t, events)
	var f skein.EntryBuilder
	for _, e := range events {
		switch {
		case e.Kind == skein.KindSaid && e.Seq < 8:
		case e.Kind == skein.KindSaid:
			turn := all[len(all)-1].Turn
			if e.Seq < 11 {
				turn--
			}
			if err := f.AddAt(e, turn); err != nil {
				t.Fatal(err)
			}
		default:
			if err := f.Add(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if diff := cmp.Diff(show(all[len(all)-2:]), show(f.Entries())); diff != "" {
		t.Errorf("a window of two (-end of the whole +got):\n%s", diff)
	}
}

// Withdrawing a prompt, or taking it back, changes the number of no turn.
func TestTurnsKeepTheirNumbers(t *testing.T) {
	synthetic := skein.Say(1, skein.Message{Role: skein.RoleUser, Synthetic: true, Parts: []skein.Part{skein.TextPart("a reminder")}})
	toolAnswer := skein.Say(1, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{eventtest.Result("c", "ok")}})
	events := eventtest.Number(
		eventtest.Created(),
		eventtest.Assistant("", skein.TextPart("hello")), // 2
		eventtest.User("one"),                            // 3
		eventtest.Assistant("m", eventtest.Call("c")),    // 4
		toolAnswer,              // 5
		synthetic,               // 6
		eventtest.User("two"),   // 7
		eventtest.Withdrawn(3),  // 8
		eventtest.Rewound(6),    // 9
		eventtest.User("three"), // 10
	)
	got := map[skein.Seq]int{}
	for _, e := range eventtest.EntriesOf(t, events) {
		got[e.Seq] = e.Turn
	}
	if diff := cmp.Diff(map[skein.Seq]int{2: 0, 4: 1, 5: 1, 6: 1, 7: 2, 10: 3}, got); diff != "" {
		t.Errorf("turns by seq (-want +got):\n%s", diff)
	}
}

func TestFilterFits(t *testing.T) {
	s := skein.Session{
		ID: "one-2", Key: "k", User: "ann", First: "The Parser", Surface: "cli", Project: "/p", Agent: "a", Profile: "x", Model: "m",
		Parent: &skein.Parent{Session: "up", Why: skein.Child}, Origin: &skein.Origin{Format: "codex"},
		Pinned: true, Tags: []string{"t"}, Updated: 1000, Last: 1, Open: []string{"c"}, Binned: 5,
	}
	for name, f := range map[string]skein.Filter{
		"nothing":    {},
		"the user":   {User: "ann"},
		"the key":    {Key: "k"},
		"all texts":  {Project: "/p", Agent: "a", Profile: "x", Model: "m", Surface: "cli", Origin: "codex", Tag: "t"},
		"the parent": {Parent: "up"},
		"what it is": {Pinned: true, WithOpenCalls: true},
		"the times":  {Since: 1000, Until: 1001},
		"the ID":     {IDPrefix: "one", IDSuffix: "-2"},
		"the title":  {Title: "PARSER"},
	} {
		if f.Bin, f.IncludeEmpty = true, true; !f.Fits(&s) {
			t.Errorf("%+v (%s) does not fit", f, name)
		}
	}
	for _, f := range []skein.Filter{
		{User: "bob"},
		{Key: "K"},
		{Project: "/"},
		{Agent: "b"},
		{Profile: "y"},
		{Model: "m2"},
		{Origin: "cod"},
		{Surface: "api"},
		{Parent: "one-2"},
		{Tag: "T"},
		{Born: true},
		{NoChildren: true},
		{Since: 1001},
		{Until: 1000},
		{IDPrefix: "ne"},
		{IDSuffix: "one"},
		{Title: "the  parser"},
	} {
		if f.Bin, f.IncludeEmpty = true, true; f.Fits(&s) {
			t.Errorf("%+v fits %+v", f, s)
		}
	}
	if f := (skein.Filter{Bin: true}); f.Fits(&s) {
		t.Error("an empty one fits though IncludeEmpty is not set")
	}
	if f := (skein.Filter{IncludeEmpty: true}); f.Fits(&s) {
		t.Error("one in the bin fits though Bin is not set")
	}
	plain := skein.Session{ID: "x", Title: "Its title", First: "the parser", Last: 2}
	for _, f := range []skein.Filter{{Pinned: true}, {WithOpenCalls: true}, {Bin: true}, {Parent: "up"}, {Origin: "codex"}, {Tag: "t"}, {Title: "parser"}} {
		if f.Fits(&plain) {
			t.Errorf("%+v fits %+v", f, plain)
		}
	}
	if f := (skein.Filter{Born: true, NoChildren: true, Title: "TITLE"}); !f.Fits(&plain) {
		t.Errorf("%+v does not fit %+v", f, plain)
	}
}

func TestSessionsAreOrderedByTimeThenByID(t *testing.T) {
	old, a, b := skein.Session{ID: "0", Updated: 1}, skein.Session{ID: "a", Updated: 2}, skein.Session{ID: "b", Updated: 2}
	if a.Compare(&old) >= 0 || old.Compare(&a) <= 0 || a.Compare(&b) >= 0 || b.Compare(&a) <= 0 || a.Compare(&a) != 0 {
		t.Error("Compare does not put the latest first, and those of equal times by ID")
	}
}

// A time that has no text form never becomes a Time, so that no imported event can
// be one that cannot be written.
func TestTimesOutsideOfTextAreRefused(t *testing.T) {
	for _, s := range []string{"9999-12-31T23:59:59-05:00", "0000-01-01T00:00:00+01:00"} {
		if got, err := skein.ParseTime(s); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("ParseTime(%q) = %d, %v, want ErrInvalid", s, got, err)
		}
	}
	for _, s := range []string{"9999-12-31T23:59:59.999Z", "0000-01-01T00:00:00.000Z", "0000-01-01T01:00:00.000+01:00"} {
		got, err := skein.ParseTime(s)
		if err != nil || got.String() != strings.Replace(strings.Replace(s, "T01", "T00", 1), "+01:00", "Z", 1) {
			t.Errorf("ParseTime(%q) = %s, %v", s, got, err)
		}
	}
	for _, far := range []time.Time{time.Unix(1<<40, 0), time.Unix(-1<<40, 0), time.UnixMilli(math.MaxInt64), time.UnixMilli(math.MinInt64)} {
		if got := skein.At(far); got != 0 {
			t.Errorf("At(%v) = %d, want 0: not known", far, got)
		}
	}
	for _, far := range []skein.Time{math.MaxInt64, math.MinInt64, 253402300800000, -62167219200001} {
		if _, err := skein.FactsOf(skein.Event{Kind: "noted", Time: far, Payload: []byte(`{}`)}); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("FactsOf(an event at %d) = %v, want ErrInvalid", far, err)
		}
	}
}

func TestAKindIsUTF8(t *testing.T) {
	if _, err := skein.FactsOf(skein.Event{Kind: "a\xff", Payload: []byte(`{}`)}); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf(`FactsOf(an event of kind "a\xff") = %v, want ErrInvalid`, err)
	}
}

func TestFirstWordsAreWordsThoughSpaceComesFirst(t *testing.T) {
	if got := skein.FirstWords(strings.Repeat("\n ", 2000) + "hello\n you"); got != "hello you" {
		t.Errorf("FirstWords = %q, want %q", got, "hello you")
	}
}

// A hundred thousand pieces are put together quickly: if each piece copied those
// before it, this test would not end.
func TestAMessageOfManyPiecesIsPutTogether(t *testing.T) {
	const n = 100_000
	events := make([]skein.Event, n)
	for i := range events {
		m := skein.Message{ID: "m", Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart(fmt.Sprintf("%06d", i))}}
		events[i] = skein.Say(1, m)
		events[i].Seq = skein.Seq(i + 1)
	}
	var f skein.EntryBuilder
	for _, e := range events {
		if err := f.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time from the same pieces
		got := f.Entries()
		if len(got) != 1 || len(got[0].Message.Parts) != n || got[0].Message.Parts[n-1].Text != "099999" {
			t.Fatalf("Entries gives %d messages, the first of %d parts, want 1 of %d", len(got), len(got[0].Message.Parts), n)
		}
	}
}

func TestWhatWasLookedUpStaysUntilARecordSaysIt(t *testing.T) {
	found := skein.Checkout{Repository: "example.com/a/b", Branch: "now", Commit: "c0", Worktree: "w", Subfolder: "sub", Host: "box"}
	path := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		said skein.Checkout // at the beginning
		then skein.Changed
		want skein.Checkout
	}{
		"a folder": {
			want: skein.Checkout{Repository: "example.com/a/b", Worktree: "w", Subfolder: "sub", Host: "box", LookedUp: "repository worktree subfolder host"},
		},
		"a branch": {
			said: skein.Checkout{Branch: "main"},
			want: skein.Checkout{Repository: "example.com/a/b", Branch: "main", Worktree: "w", Subfolder: "sub", Host: "box", LookedUp: "repository worktree subfolder host"},
		},
		"a repository": {
			said: skein.Checkout{Repository: "example.com/a/b", Host: "mine"},
			want: skein.Checkout{Repository: "example.com/a/b", Worktree: "w", Subfolder: "sub", Host: "mine", LookedUp: "worktree subfolder"},
		},
		"another repository": {
			said: skein.Checkout{Repository: "example.com/a/c"},
			want: skein.Checkout{Repository: "example.com/a/c"},
		},
		"a first commit": {
			said: skein.Checkout{Repository: "root:0123"},
			want: skein.Checkout{Repository: "example.com/a/b", Worktree: "w", Subfolder: "sub", Host: "box", LookedUp: "repository worktree subfolder host"},
		},
		"then another branch": {
			said: skein.Checkout{Branch: "main"},
			then: skein.Changed{Checkout: &skein.Checkout{Branch: "next"}},
			want: skein.Checkout{Repository: "example.com/a/b", Branch: "next", Worktree: "w", Subfolder: "sub", Host: "box", LookedUp: "repository worktree subfolder host"},
		},
		"then another branch of a recorded repository": {
			said: skein.Checkout{Repository: "example.com/a/b", Branch: "main"},
			then: skein.Changed{Checkout: &skein.Checkout{Repository: "example.com/a/b", Branch: "next"}},
			want: skein.Checkout{Repository: "example.com/a/b", Branch: "next", Worktree: "w", Subfolder: "sub", Host: "box", LookedUp: "worktree subfolder host"},
		},
		"then another repository": {
			then: skein.Changed{Checkout: &skein.Checkout{Repository: "example.com/a/c", Commit: "c1"}},
			want: skein.Checkout{Repository: "example.com/a/c", Commit: "c1"},
		},
		"then no repository any more": {
			said: skein.Checkout{Repository: "example.com/a/b"},
			then: skein.Changed{Checkout: &skein.Checkout{Branch: "next"}},
			want: skein.Checkout{Branch: "next", Worktree: "w", Subfolder: "sub", Host: "box", LookedUp: "worktree subfolder host"},
		},
		"then another folder": {
			then: skein.Changed{Cwd: path("/p/other")},
			want: skein.Checkout{Repository: "example.com/a/b", Worktree: "w", Host: "box", LookedUp: "repository worktree host"},
		},
		"then another project": {
			said: skein.Checkout{Branch: "main"},
			then: skein.Changed{Project: path("/q"), Cwd: path("/q")},
			want: skein.Checkout{Branch: "main"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			at := c.said.Filled(found)
			if got := at.Recorded(); got != c.said && name != "a first commit" {
				t.Errorf("Recorded() = %+v, want %+v", got, c.said)
			}
			s := skein.Session{ID: "s"}
			for i, e := range []skein.Event{
				skein.NewEvent(skein.KindCreated, 0, skein.Created{Project: "/p", Cwd: "/p/sub", Checkout: at.Known()}),
				skein.NewEvent(skein.KindChanged, 0, c.then),
			} {
				e.Seq = skein.Seq(i + 1)
				facts, err := skein.FactsOf(e)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Apply(&e, facts, skein.Prior{}); err != nil {
					t.Fatal(err)
				}
			}
			if s.Checkout != c.want {
				t.Errorf("Checkout = %+v, want %+v", s.Checkout, c.want)
			}
		})
	}
}

// doing returns what the events say: the state, the place of the event that began it,
// and the newest call.
func doing(t *testing.T, created skein.Created, events ...skein.Event) string {
	t.Helper()
	all := append([]skein.Event{skein.NewEvent(skein.KindCreated, 1000, created)}, events...)
	s, err := skein.Fold("s", eventtest.Number(all...))
	if err != nil {
		t.Fatal(err)
	}
	a := s.Activity
	text := fmt.Sprintf("%s %d", a.State, a.Seq)
	if c := a.Call(); c != nil {
		text += " " + c.ID + ":" + c.Name
	}
	if a.May {
		text += " may continue"
	}
	return text
}

func TestActivityIsWhatTheNewestEventsSay(t *testing.T) {
	user, text := eventtest.User("do it"), skein.TextPart("done")
	ends := func(stop string, parts ...skein.Part) skein.Event {
		return skein.Say(1000, skein.Message{Role: skein.RoleAssistant, Parts: parts, Stop: stop})
	}
	calls := func(id, name string) skein.Event {
		return ends("", skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: name}})
	}
	tool := func(x skein.ToolState) skein.Event { return skein.NewEvent(skein.KindTool, 1000, x) }
	step := func(x skein.Step) skein.Event { return skein.NewEvent(skein.KindStep, 1000, x) }
	ended := func(how string) skein.Event {
		return skein.NewEvent(skein.KindEnded, 1000, skein.Program{How: how})
	}
	note := func(name, data string) skein.Event {
		return skein.NewEvent(skein.KindNoted, 1000, skein.Noted{Name: name, Data: []byte(data)})
	}
	bad := &skein.ErrorInfo{Message: "busy"}
	here, foreign := skein.Created{}, skein.Created{Origin: &skein.Origin{Format: "f"}}
	for _, c := range []struct {
		name   string
		of     skein.Created
		events []skein.Event
		want   string
	}{
		{"begun", here, nil, "idle 1"},
		{"asked", here, []skein.Event{user}, "working 2"},
		{"thinking", here, []skein.Event{user, ends("", skein.Part{Kind: skein.PartReasoning, Text: "hm"})}, "working 3"},
		{"answered", here, []skein.Event{user, ends("end_turn", text)}, "idle 3"},
		{"a message that may not be the last", here, []skein.Event{user, ends("", text)}, "idle 3 may continue"},
		{"a message before a call", here, []skein.Event{user, ends("tool_use", text)}, "working 3"},
		{"a call", here, []skein.Event{user, calls("c", "bash")}, "working 3 c:bash"},
		{"two calls", here, []skein.Event{user, calls("c", "bash"), calls("d", "read")}, "working 4 d:read"},
		{"one of two answered", here, []skein.Event{user, calls("c", "bash"), calls("d", "read"), eventtest.Results(eventtest.Result("d", "r"))}, "working 3 c:bash"},
		{"all answered", here, []skein.Event{user, calls("c", "bash"), eventtest.Results(eventtest.Result("c", "r"))}, "working 4"},
		{"words between calls", here, []skein.Event{user, calls("c", "bash"), ends("", text)}, "working 3 c:bash"},
		{"an answer after a call without a result", here, []skein.Event{user, calls("c", "bash"), ends("stop", text)}, "idle 4"},
		{"asked again", here, []skein.Event{user, calls("c", "bash"), user}, "working 4"},
		{"a question", foreign, []skein.Event{user, calls("c", "AskUserQuestion"), calls("d", "Bash")}, "waiting 3 c:AskUserQuestion"},
		{"a question answered", foreign, []skein.Event{user, calls("c", "ask_user"), eventtest.Results(eventtest.Result("c", "yes"))}, "working 4"},
		{"a permission", here, []skein.Event{user, calls("c", "bash"), tool(skein.ToolState{Call: "c", State: skein.Pending, Ask: "Run ls?"})}, "waiting 4 c:bash"},
		{"a permission given", here, []skein.Event{user, calls("c", "bash"), tool(skein.ToolState{Call: "c", State: skein.Pending, Ask: "Run ls?"}), tool(skein.ToolState{Call: "c", State: skein.Running})}, "working 5 c:bash"},
		{"a call that will not run", here, []skein.Event{user, calls("c", "bash"), tool(skein.ToolState{Call: "c", State: skein.Pending})}, "idle 4"},
		{"a call that another program prepares", foreign, []skein.Event{user, calls("c", "bash"), tool(skein.ToolState{Call: "c", State: skein.Pending})}, "working 4 c:bash"},
		{"a call that ended, before its result", here, []skein.Event{user, calls("c", "bash"), tool(skein.ToolState{Call: "c", State: skein.Failed})}, "working 4"},
		{"failed", here, []skein.Event{user, skein.Say(1000, skein.Message{Role: skein.RoleAssistant, Error: bad})}, "failed 3"},
		{"a failed attempt", here, []skein.Event{user, step(skein.Step{Phase: "start", Attempt: 1}), step(skein.Step{Phase: "finish", Attempt: 1, Error: bad})}, "working 3"},
		{"a failed request of another program", foreign, []skein.Event{user, step(skein.Step{Phase: "finish", Error: bad})}, "failed 3"},
		{"a request broken off", here, []skein.Event{user, step(skein.Step{Phase: "finish", Attempt: 1, Error: &skein.ErrorInfo{Kind: "interrupted"}})}, "idle 3"},
		{"a request for a title", here, []skein.Event{user, ends("end_turn", text), step(skein.Step{Phase: "start", Mode: "title"})}, "idle 3"},
		{"interrupted", foreign, []skein.Event{user, calls("c", "Bash"), eventtest.User("[Request interrupted by user for tool use]")}, "idle 4"},
		{"interrupted, as its program says", foreign, []skein.Event{user, skein.Say(1000, skein.Message{Role: skein.RoleUser, Synthetic: true, Parts: []skein.Part{skein.TextPart("[Request interrupted by user]")}})}, "idle 3"},
		{"done, as Codex notes it", foreign, []skein.Event{user, ends("", text), note("codex:event_msg/task_complete", `{"turn_id":"t"}`)}, "idle 4"},
		{"canceled, as Gemini CLI notes it", foreign, []skein.Event{user, calls("c", "shell"), note("gemini:info", `{"content":"Request cancelled."}`)}, "idle 4"},
		{"a note", foreign, []skein.Event{user, note("gemini:info", `{"content":"x_complete"}`)}, "working 2"},
		{"the output of a local command", foreign, []skein.Event{user, ends("end_turn", text), eventtest.User("<local-command-stdout>x</local-command-stdout>")}, "idle 3"},
		{"rewound", here, []skein.Event{user, calls("c", "bash"), eventtest.Rewound(1)}, "idle 4"},
		{"a result put in the place of a call", foreign, []skein.Event{user, calls("c", "bash"), tool(skein.ToolState{Call: "c", State: skein.Running}), eventtest.Amended(4, tool(skein.ToolState{Call: "c", State: skein.Completed}))}, "working 5"},
		{"ended", here, []skein.Event{user, ends("end_turn", text), ended("done")}, "ended 4"},
		{"ended with an error", here, []skein.Event{user, ended("error")}, "failed 3"},
		{"opened again", here, []skein.Event{user, ended("done"), skein.NewEvent(skein.KindResumed, 1000, skein.Program{})}, "idle 4"},
		{"a title given", here, []skein.Event{user, skein.NewEvent(skein.KindTitled, 2000, skein.Titled{Title: "t"})}, "working 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := doing(t, c.of, c.events...); got != c.want {
				t.Errorf("the session is %q, want %q", got, c.want)
			}
		})
	}
}

func TestActivityKeepsTheNewestCallsOnly(t *testing.T) {
	events := []skein.Event{eventtest.Created()}
	for i := range 100 {
		events = append(events, eventtest.Assistant("", eventtest.Call(fmt.Sprint(i))))
	}
	s, err := skein.Fold("s", eventtest.Number(events...))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Activity.Calls); n != 16 || s.Activity.Calls[15].ID != "99" {
		t.Errorf("of 100 calls the session keeps %d, want the newest 16", n)
	}
}

// A copy of a session does not change with the session.
func TestActivityOfACopyStays(t *testing.T) {
	s := fold(t, eventtest.Created(), eventtest.Assistant("", eventtest.Call("a"), eventtest.Call("b")))
	was := s
	for _, e := range []skein.Event{eventtest.Results(eventtest.Result("a", "r")), eventtest.Assistant("", eventtest.Call("c"))} {
		if _, err := s.Apply(&e, eventtest.Facts(t, e), skein.Prior{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := was.Activity.Calls; len(got) != 2 || got[0].ID != "a" || got[1].ID != "b" {
		t.Errorf("the copy's calls are now %+v", got)
	}
}
