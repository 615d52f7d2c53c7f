package skein_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
)

// show writes entries in one line each: seq-end turn flags role: parts.
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
		fmt.Fprintf(&b, " %s", showMessage(e.Message))
	}
	return b.String()
}

func TestEntries(t *testing.T) {
	text := skein.TextPart
	think := func(s, raw string) skein.Part {
		return skein.Part{Kind: skein.PartReasoning, Text: skein.Text(s), Raw: []byte(raw)}
	}
	longCall := call("c1")
	longCall.Call = &skein.Call{ID: "c1", Name: "bash", Input: []byte(`{"command":"ls -l"}`)}
	bareCall := call("c1")
	bareCall.Call = &skein.Call{ID: "c1", Name: "bash"}
	for _, c := range []struct {
		name   string
		events []skein.Event
		want   string
	}{
		{"nothing", nil, ""},
		{
			"each said event without an ID is a message",
			number(created(), user("a"), assistant("", text("b")), assistant("", text("c"))),
			"2-2 t1 user: text(\"a\")\n3-3 t1 assistant: text(\"b\")\n4-4 t1 assistant: text(\"c\")\n",
		},
		{
			"pieces of one message, with others between them, are one",
			number(created(), assistant("m", text("a")), user("x"), assistant("m", text("b"))),
			"2-4 t0 assistant: text(\"a\") text(\"b\")\n3-3 t1 user: text(\"x\")\n",
		},
		{
			"a part that grows stands once",
			number(created(), assistant("m", text("He")), assistant("m", text("Hello"), call("c1"))),
			"2-3 t0 assistant: text(\"Hello\") call(c1 {\"command\":\"ls\"})\n",
		},
		{
			"equal parts of one piece stay two",
			number(created(), assistant("m", text("a"), text("a")), assistant("m", text("a"), text("a"), text("a"))),
			"2-3 t0 assistant: text(\"a\") text(\"a\") text(\"a\")\n",
		},
		{
			"a call is compared by its ID, and the later input holds",
			number(created(), assistant("m", call("c1")), assistant("m", longCall), assistant("m", bareCall, call("c2"))),
			"2-4 t0 assistant: call(c1 {\"command\":\"ls -l\"}) call(c2 {\"command\":\"ls\"})\n",
		},
		{
			"reasoning with another signature is another part",
			number(created(), assistant("m", think("", `"s1"`)), assistant("m", think("", `"s2"`)), assistant("m", think("", `"s2"`))),
			"2-4 t0 assistant: reasoning(\"\"\"s1\") reasoning(\"\"\"s2\")\n",
		},
		{
			"a signature that comes at the end belongs to the text before it",
			number(created(), assistant("m", think("ab", "")), assistant("m", think("abc", `"s"`))),
			"2-3 t0 assistant: reasoning(\"abc\"\"s\")\n",
		},
		{
			"what was amended stands in place, what was withdrawn is gone",
			number(created(), user("a"), user("b"), assistant("", text("c")), amended(2, user("A")), withdrawn(3)),
			"2-2 t1 user: text(\"A\")\n4-4 t2 assistant: text(\"c\")\n",
		},
		{
			"a withdrawn piece leaves the others",
			number(created(), assistant("m", text("a")), assistant("m", text("b")), withdrawn(2)),
			"3-3 t0 assistant: text(\"b\")\n",
		},
		{
			"what was amended again counts last",
			number(created(), user("a"), withdrawn(2), amended(2, user("b"))),
			"2-2 t1 user: text(\"b\")\n",
		},
		{
			"rewound messages keep their turn and are marked",
			number(created(), user("a"), user("b"), rewound(2), user("c")),
			"2-2 t1 user: text(\"a\")\n3-3 t2 rewound user: text(\"b\")\n5-5 t3 user: text(\"c\")\n",
		},
		{
			"a message of which a piece is left was not rewound",
			number(created(), assistant("m", text("a")), assistant("m", text("b")), rewound(2)),
			"2-3 t0 assistant: text(\"a\") text(\"b\")\n",
		},
		{
			"a part that lacks what it is stands as it is",
			number(created(), assistant("m", call("c")), assistant("m", skein.Part{Kind: skein.PartCall}, skein.Part{Kind: skein.PartResult})),
			"2-3 t0 assistant: call(c {\"command\":\"ls\"}) call(\"\") result(\"\")\n",
		},
		{
			"a redo brings back what was rewound, and rewinds what came since",
			number(created(), user("a"), user("b"), rewound(2), user("c"), rewound(3)),
			"2-2 t1 user: text(\"a\")\n3-3 t2 user: text(\"b\")\n5-5 t3 rewound user: text(\"c\")\n",
		},
		{
			"a rewind to nothing",
			number(created(), user("a"), rewound(0)),
			"2-2 t1 rewound user: text(\"a\")\n",
		},
		{
			"the newest compaction covers what lies under it",
			number(created(), user("a"), user("b"), compacted(2, "s"), user("c")),
			"2-2 t1 compacted user: text(\"a\")\n3-3 t2 user: text(\"b\")\n5-5 t3 user: text(\"c\")\n",
		},
		{
			"a compaction that was rewound covers nothing",
			number(created(), user("a"), compacted(2, "s"), rewound(2)),
			"2-2 t1 user: text(\"a\")\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, show(entriesOf(t, c.events))); diff != "" {
				t.Errorf("Entries (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEntriesMergesUsageOfPieces(t *testing.T) {
	piece := func(out, cache int64) skein.Event {
		return skein.Say(1, skein.Message{ID: "m", Role: skein.RoleAssistant, Usage: &skein.Usage{Input: 3, Output: out, CacheRead: cache}})
	}
	got := entriesOf(t, number(created(), piece(9, 5), piece(139, 7), piece(100, 0)))[0].Message.Usage
	if want := (skein.Usage{Input: 3, Output: 139, CacheRead: 7}); *got != want {
		t.Errorf("usage of three pieces is %+v, want %+v", *got, want)
	}
}

// Of what pieces say of the message, the later one that is set holds; what a
// piece does not say leaves it as it was.
func TestEntriesMergesTheOtherFieldsOfPieces(t *testing.T) {
	ofResult := func(text, meta string) skein.Part {
		p := result("c", text)
		p.Start, p.Meta = 5, []byte(meta)
		return p
	}
	first := skein.Message{
		ID: "m", Role: skein.RoleUser, Provider: "p", Model: "a", Agent: "g", Request: "r", Tier: "batch", Stop: "end", Synthetic: true, Meta: []byte("1"),
		Interrupted: true, Error: &skein.ErrorInfo{Message: "e"}, Parts: []skein.Part{ofResult("one", "1"), result("d", "other")},
	}
	second := skein.Message{ID: "m", Role: skein.RoleUser, Model: "b", Parts: []skein.Part{result("c", "two"), ofResult("", "2")}}
	second.Parts[1].Result.CallID = "d"
	third := skein.Message{ID: "m", Role: skein.RoleUser, Meta: []byte("3"), Usage: &skein.Usage{Input: 1}}
	got := entriesOf(t, number(created(), skein.Say(1, first), skein.Say(1, second), skein.Say(1, third)))[0].Message
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
	var f skein.Folder
	for _, e := range number(created(), assistant("m", skein.TextPart("a")), assistant("m", skein.TextPart("ab"))) {
		if err := f.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	first, second := show(f.Entries()), show(f.Entries())
	if first != second {
		t.Errorf("Entries() a second time is %q, want %q", second, first)
	}
}

// A store's Newest gives the Folder a window: its messages' events and all
// marks. The entries are those at the end of the whole.
func TestFolderOfAWindowEqualsTheEndOfTheWhole(t *testing.T) {
	events := number(
		created(), user("a"), assistant("m", skein.TextPart("b")), user("c"), rewound(3), user("d"), compacted(3, "s"),
		assistant("n", skein.TextPart("e")), assistant("n", skein.TextPart("ef")), withdrawn(6), user("g"),
	)
	all := entriesOf(t, events)
	var f skein.Folder
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
