package window_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/eventtest"
	"github.com/skein-dev/skein/llm/window"
)

// view formats a context: its messages, then its repairs.
func view(t *testing.T, events []skein.Event, r window.Rules) string {
	t.Helper()
	v, err := window.Context(events, r)
	if err != nil {
		t.Fatalf("Context(%d events): %v", len(events), err)
	}
	if err := r.Check(v.Messages); err != nil {
		t.Errorf("Check(Context(%d events)): %v", len(events), err)
	}
	var b strings.Builder
	if v.Opaque != nil {
		fmt.Fprintf(&b, "opaque %s\n", v.Opaque)
	}
	for i, m := range v.Messages {
		fmt.Fprintf(&b, "%d %s", v.Seqs[i], eventtest.ShowMessage(m))
	}
	for _, r := range v.Repairs {
		fmt.Fprintf(&b, "! %d %s\n", r.Seq, strings.TrimSpace(string(r.Kind)+" "+r.Detail))
	}
	return b.String()
}

const (
	lost    = `"[Interrupted: there is no result, and it is unknown whether the tool took effect.]"`
	ls      = `{"command":"ls"}`
	broke   = `text("[This answer was interrupted and is not whole.]")`
	unshown = `text("[What was said before is not shown.]")`
)

func TestContextPairsCallsAndResults(t *testing.T) {
	text := skein.TextPart
	for _, c := range []struct {
		name   string
		events []skein.Event
		want   string
	}{
		{
			"a whole round",
			eventtest.Number(eventtest.Created(), eventtest.User("go"), eventtest.Assistant("", text("I look"), eventtest.Call("a")), eventtest.Results(eventtest.Result("a", "x")), eventtest.Assistant("", text("done"))),
			`2 user: text("go")
3 assistant: text("I look") call(a ` + ls + `)
3 tool: result(a "x")
5 assistant: text("done")
`,
		},
		{
			"an unanswered call is answered as interrupted",
			eventtest.Number(eventtest.Created(), eventtest.User("go"), eventtest.Assistant("", eventtest.Call("a"), eventtest.Call("b")), eventtest.Results(eventtest.Result("b", "x"))),
			`2 user: text("go")
3 assistant: call(a ` + ls + `) call(b ` + ls + `)
3 tool: result(a ` + lost + `) result(b "x")
! 3 answered call a
`,
		},
		{
			"the answer says what is known",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("", eventtest.Call("a"), eventtest.Call("b"), eventtest.Call("c"), eventtest.Call("d")), eventtest.ToolState("a", skein.Pending), eventtest.ToolState("b", skein.Completed),
				eventtest.ToolState("c", skein.Failed), eventtest.ToolState("d", skein.Running), eventtest.ToolState("d", skein.Uncertain)),
			`2 assistant: call(a ` + ls + `) call(b ` + ls + `) call(c ` + ls + `) call(d ` + ls + `)
2 tool: result(a "[Interrupted before the tool ran: it has not taken effect.]")` +
				` result(b "[The tool ran to its end, but its result was not kept.]")` +
				` result(c "[The tool failed; what it said was not kept.]") result(d ` + lost + `)
! 2 answered call a
! 2 answered call b
! 2 answered call c
! 2 answered call d
`,
		},
		{
			"what was said meanwhile comes after the results, which keep the order of the calls",
			eventtest.Number(eventtest.Created(), eventtest.User("go"), eventtest.Assistant("", eventtest.Call("a"), eventtest.Call("b")), eventtest.Steer("hurry"), eventtest.Results(eventtest.Result("b", "y")), eventtest.Results(eventtest.Result("a", "x"))),
			`2 user: text("go")
3 assistant: call(a ` + ls + `) call(b ` + ls + `)
3 tool: result(a "x") result(b "y")
4 user: text("hurry")
`,
		},
		{
			"what became of an older call with the same ID says nothing of this one",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("", eventtest.Call("a")), eventtest.ToolState("a", skein.Completed), eventtest.Results(eventtest.Result("a", "x")), eventtest.Assistant("", eventtest.Call("a"))),
			`2 assistant: call(a ` + ls + `)
2 tool: result(a "x")
5 assistant: call(a_2 ` + ls + `)
5 tool: result(a_2 ` + lost + `)
! 5 renamed call a of bash
! 5 answered call a
`,
		},
		{
			"a second result and one without a call are left out",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("", eventtest.Call("a")), eventtest.Results(eventtest.Result("a", "x"), eventtest.Result("a", "y"), eventtest.Result("z", "q"))),
			`2 assistant: call(a ` + ls + `)
2 tool: result(a "x")
! 3 duplicate result a
! 3 orphan result z
`,
		},
		{
			"an ID that is used again is another call",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("", eventtest.Call("a")), eventtest.Results(eventtest.Result("a", "x")), eventtest.Assistant("", eventtest.Call("a")), eventtest.Results(eventtest.Result("a", "y"))),
			`2 assistant: call(a ` + ls + `)
2 tool: result(a "x")
4 assistant: call(a_2 ` + ls + `)
4 tool: result(a_2 "y")
! 4 renamed call a of bash
`,
		},
		{
			"a result belongs to the newest call of that ID",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("", eventtest.Call("a")), eventtest.Assistant("", eventtest.Call("a")), eventtest.Results(eventtest.Result("a", "y"))),
			`2 assistant: call(a ` + ls + `)
2 tool: result(a ` + lost + `)
3 assistant: call(a_2 ` + ls + `)
3 tool: result(a_2 "y")
! 2 answered call a
! 3 renamed call a of bash
`,
		},
		{
			"calls without IDs are answered in order",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("", eventtest.Call(""), eventtest.Call("")), eventtest.Results(eventtest.Result("", "x"), eventtest.Result("", "y"))),
			`2 assistant: call(call ` + ls + `) call(call_2 ` + ls + `)
2 tool: result(call "x") result(call_2 "y")
! 2 renamed call  of bash
! 2 renamed call  of bash
`,
		},
		{
			"a call that stands twice in a message is one",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("", eventtest.Call("a"), eventtest.Call("a")), eventtest.Results(eventtest.Result("a", "x"))),
			`2 assistant: call(a ` + ls + `)
2 tool: result(a "x")
! 2 duplicate call a
`,
		},
		{
			"pieces between results are one round",
			eventtest.Number(eventtest.Created(), eventtest.Assistant("m", eventtest.Call("a")), eventtest.Results(eventtest.Result("a", "x")), eventtest.Assistant("m", eventtest.Call("b")), eventtest.Results(eventtest.Result("b", "y"))),
			`2 assistant: call(a ` + ls + `) call(b ` + ls + `)
2 tool: result(a "x") result(b "y")
`,
		},
		{
			"only the assistant calls",
			eventtest.Number(eventtest.Created(), skein.Say(1, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{text("x"), eventtest.Call("a")}})),
			"2 user: text(\"x\")\n! 2 part call a\n",
		},
		{
			"an interrupted answer is not shown as whole",
			eventtest.Number(eventtest.Created(), skein.Say(1, skein.Message{Role: skein.RoleAssistant, Interrupted: true, Parts: []skein.Part{text("I sta"), eventtest.Call("a")}})),
			`2 assistant: text("I sta") ` + broke + ` call(a ` + ls + `)
2 tool: result(a ` + lost + `)
! 2 interrupted
! 2 answered call a
`,
		},
		{
			"an interrupted answer of which there is nothing is left out",
			eventtest.Number(eventtest.Created(), eventtest.User("go"), skein.Say(1, skein.Message{Role: skein.RoleAssistant, Error: &skein.ErrorInfo{Message: "overloaded"}})),
			"2 user: text(\"go\")\n! 3 empty assistant\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, view(t, c.events, window.GenericRules())); diff != "" {
				t.Errorf("Context (-want +got):\n%s", diff)
			}
		})
	}
}

func TestContextBeginsAtTheNewestCompaction(t *testing.T) {
	text := skein.TextPart
	opaque := skein.NewEvent(skein.KindCompacted, 1, skein.Compacted{To: 3, Opaque: []byte(`{"x":1}`)})
	for _, c := range []struct {
		name   string
		rules  window.Rules
		events []skein.Event
		want   string
	}{
		{
			"its summary, what it does not cover, what came after", window.GenericRules(),
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.Assistant("", text("b")), eventtest.User("c"), eventtest.Compacted(3, "so far"), eventtest.User("d")),
			"0 user: text(\"so far\")\n4 user: text(\"c\")\n6 user: text(\"d\")\n",
		},
		{
			"the newest one", window.GenericRules(),
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.Compacted(2, "first"), eventtest.User("b"), eventtest.Compacted(4, "second")),
			"0 user: text(\"second\")\n",
		},
		{
			"one that failed covers nothing", window.GenericRules(),
			eventtest.Number(eventtest.Created(), eventtest.User("a"), skein.NewEvent(skein.KindCompacted, 1, skein.Compacted{To: 2, Failed: true})),
			"2 user: text(\"a\")\n",
		},
		{
			"one that was rewound covers nothing", window.GenericRules(),
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.Compacted(2, "s"), eventtest.User("b"), eventtest.Rewound(2), eventtest.User("c")),
			"2 user: text(\"a\")\n6 user: text(\"c\")\n",
		},
		{
			"an amended summary", window.GenericRules(),
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.Compacted(2, "s"), eventtest.Amended(3, eventtest.Compacted(2, "better"))),
			"0 user: text(\"better\")\n",
		},
		{
			"a withdrawn one covers nothing", window.GenericRules(),
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.Compacted(2, "s"), eventtest.Withdrawn(3)),
			"2 user: text(\"a\")\n",
		},
		{
			"leading system messages stay", window.GenericRules(),
			eventtest.Number(eventtest.Created(), eventtest.System("be kind"), eventtest.User("a"), eventtest.System("and brief"), eventtest.Compacted(4, "s"), eventtest.User("b")),
			"2 system: text(\"be kind\")\n0 user: text(\"s\")\n6 user: text(\"b\")\n",
		},
		{
			"a round of which the call is covered", window.GenericRules(),
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.Assistant("", eventtest.Call("x")), eventtest.Compacted(3, "s"), eventtest.Results(eventtest.Result("x", "y")), eventtest.User("b")),
			"0 user: text(\"s\")\n6 user: text(\"b\")\n! 5 orphan result x\n",
		},
		{
			"a summary that its source also has as a message stands once", window.AnthropicRules("m"),
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.Compacted(2, "s"), skein.Say(1, skein.Message{Role: skein.RoleUser, Synthetic: true, Parts: []skein.Part{{Kind: skein.PartSummary, Text: "s"}}}), eventtest.User("b")),
			"4 user: text(\"s\") text(\"b\")\n",
		},
		{
			"an opaque one, for its provider", window.OpenAIResponsesRules("m"),
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.User("b"), opaque, eventtest.User("c")),
			"opaque {\"x\":1}\n5 user: text(\"c\")\n",
		},
		{
			"an opaque one is no use to another provider", window.OpenAIChatRules("m"),
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.Compacted(2, "s"), opaque, eventtest.User("c")),
			"0 user: text(\"s\")\n5 user: text(\"c\")\n! 4 compaction\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, view(t, c.events, c.rules)); diff != "" {
				t.Errorf("Context (-want +got):\n%s", diff)
			}
		})
	}
}

func TestContextLeavesOutWhatWasRewound(t *testing.T) {
	text := skein.TextPart
	long := eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.Assistant("", text("b")), eventtest.User("c"), eventtest.Rewound(3), eventtest.User("d"), eventtest.Rewound(4), eventtest.User("e"))
	for n, want := range map[int]string{
		4: "a b c", 5: "a b", 6: "a b d", 7: "a b c", 8: "a b c e",
	} {
		v, err := window.Context(long[:n], window.GenericRules())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range v.Messages {
			got = append(got, m.Words()+string(m.Parts[0].Text[:0]))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("context of %d events is %q, want %q", n, s, want)
		}
	}
}

func TestContextFitsTheProvider(t *testing.T) {
	text := skein.TextPart
	signed := skein.Part{Kind: skein.PartReasoning, Text: "hm", Raw: []byte(`"sig"`)}
	answer := func(provider, model string, parts ...skein.Part) skein.Event {
		return skein.Say(1, skein.Message{Role: skein.RoleAssistant, Provider: provider, Model: model, Parts: parts})
	}
	file := func(media string, blob skein.Hash) skein.Part {
		return skein.Part{Kind: skein.PartFile, File: &skein.File{Name: "f", Media: media, Blob: blob, Size: 7}}
	}
	says := func(role skein.Role, parts ...skein.Part) skein.Event {
		return skein.Say(1, skein.Message{Role: role, Parts: parts})
	}
	withFile := eventtest.Result("a", "x")
	withFile.Result.Files = []skein.File{{Name: "f.png", Media: "image/png", Blob: "00"}}
	odd := eventtest.Call("c|1")
	odd.Call = &skein.Call{ID: "c|1", Name: "srv.tool", Input: []byte(`"{\"x\": 1}"`)}
	input := func(id, in string) skein.Part {
		return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: "t", Input: []byte(in)}}
	}
	newest := func(n int) window.Rules { r := window.AnthropicRules("m"); r.Newest = n; return r }
	talk := eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.Assistant("", eventtest.Call("x")), eventtest.Results(eventtest.Result("x", "1")), eventtest.Assistant("", text("b")), eventtest.User("c"), eventtest.Assistant("", eventtest.Call("y")), eventtest.Results(eventtest.Result("y", "2")), eventtest.Assistant("", text("d")))
	for _, c := range []struct {
		name   string
		rules  window.Rules
		events []skein.Event
		want   string
	}{
		{
			"reasoning goes back to the model that made it", window.AnthropicRules("m"),
			eventtest.Number(eventtest.Created(), eventtest.User("go"), answer("anthropic", "m", signed, text("a")), eventtest.User("on"), answer("anthropic", "old", signed, text("b")), eventtest.User("on"), answer("openai", "m", signed, text("c"))),
			"2 user: text(\"go\")\n3 assistant: reasoning(\"hm\"\"sig\") text(\"a\")\n4 user: text(\"on\")\n5 assistant: text(\"b\")\n6 user: text(\"on\")\n7 assistant: text(\"c\")\n! 5 reasoning old\n! 7 reasoning m\n",
		},
		{
			"reasoning does not end an answer", window.OpenAIResponsesRules("m"),
			eventtest.Number(eventtest.Created(), eventtest.User("go"), answer("openai", "m", signed), answer("openai", "m", text("a"), signed), answer("openai", "m", signed)),
			"2 user: text(\"go\")\n3 assistant: reasoning(\"hm\"\"sig\")\n4 assistant: text(\"a\")\n! 4 reasoning at the end\n! 5 reasoning at the end\n",
		},
		{
			"messages alternate, results first", window.AnthropicRules("m"),
			eventtest.Number(eventtest.Created(), eventtest.User("a"), eventtest.Steer("b"), answer("", "", text("c")), answer("", "", eventtest.Call("a")), eventtest.User("d"), eventtest.Results(eventtest.Result("a", "x")), eventtest.System("e")),
			"2 user: text(\"a\") text(\"b\")\n4 assistant: text(\"c\") call(a " + ls + ")\n5 user: result(a \"x\") text(\"d\") text(\"e\")\n! 8 role system\n",
		},
		{
			"a user message comes first", window.GoogleRules("m"),
			eventtest.Number(eventtest.Created(), eventtest.System("s"), answer("", "", text("hello "))),
			"2 system: text(\"s\")\n0 user: " + unshown + "\n3 assistant: text(\"hello \")\n! 3 first\n",
		},
		{
			"no space ends the last answer", window.AnthropicRules("m"),
			eventtest.Number(eventtest.Created(), eventtest.User("a "), answer("", "", text("hello \n"))),
			"2 user: text(\"a \")\n3 assistant: text(\"hello\")\n! 3 text spaces at the end\n",
		},
		{
			"files that it cannot take become words", window.OpenAIChatRules("m"),
			eventtest.Number(eventtest.Created(), says(skein.RoleUser, file("image/png", "00"), file("audio/wav", "00"), file("image/png", "")), answer("", "", file("image/png", "00"), eventtest.Call("a")), eventtest.Results(withFile)),
			"2 user: file(f) text(\"[file f, audio/wav, 7 bytes]\") text(\"[file f, image/png, 7 bytes]\")\n3 assistant: text(\"[file f, image/png, 7 bytes]\") call(a " + ls + ")\n3 tool: result(a \"x\\n[file f.png, image/png]\")\n! 2 file f\n! 2 file f\n! 3 file f\n! 3 file f.png\n",
		},
		{
			"names and inputs are made to fit", window.AnthropicRules("m"),
			eventtest.Number(eventtest.Created(), eventtest.User("a"), answer("", "", odd), eventtest.Results(eventtest.Result("c|1", "x"))),
			"2 user: text(\"a\")\n3 assistant: call(c_1 {\"x\": 1})\n3 user: result(c_1 \"x\")\n! 3 renamed call c|1 of srv.tool\n! 3 input call c|1\n",
		},
		{
			"joined answers belong to the model whose reasoning is in them", window.AnthropicRules("m"),
			eventtest.Number(eventtest.Created(), eventtest.User("go"), answer("openai", "x", text("a")), answer("anthropic", "m", signed, text("b")), answer("openai", "x", text("c"))),
			"2 user: text(\"go\")\n3 assistant: text(\"a\") reasoning(\"hm\"\"sig\") text(\"b\") text(\"c\")\n",
		},
		{
			"reasoning that broke off does not go back", window.AnthropicRules("m"),
			eventtest.Number(eventtest.Created(), eventtest.User("go"), skein.Say(1, skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: "m", Interrupted: true, Parts: []skein.Part{text("a"), signed, text("b")}})),
			"2 user: text(\"go\")\n3 assistant: text(\"a\") text(\"b\") " + broke + "\n! 3 reasoning m\n! 3 interrupted\n",
		},
		{
			"an input that is no object is put in one", window.GenericRules(),
			eventtest.Number(eventtest.Created(), answer("", "", input("a", `"{broken"`), input("b", `"[1]"`), input("c", `7`), input("d", ``))),
			"2 assistant: call(a {\"input\":\"{broken\"}) call(b {\"input\":\"[1]\"}) call(c {\"input\":7}) call(d {})\n" +
				"2 tool: result(a " + lost + ") result(b " + lost + ") result(c " + lost + ") result(d " + lost + ")\n" +
				"! 2 input call a\n! 2 input call b\n! 2 input call c\n! 2 answered call a\n! 2 answered call b\n! 2 answered call c\n! 2 answered call d\n",
		},
		{
			"a part that lacks what it is", window.GenericRules(),
			eventtest.Number(eventtest.Created(), answer("", "", text("a"), skein.Part{Kind: skein.PartCall}, skein.Part{Kind: skein.PartResult}, skein.Part{Kind: skein.PartFile})),
			"2 assistant: text(\"a\")\n! 2 part call\n! 2 part result\n! 2 part file\n",
		},
		{
			"a window of as many messages as were asked for", newest(3),
			eventtest.Number(eventtest.Created(), eventtest.User("a"), answer("", "", text("b")), eventtest.User("c"), answer("", "", text("d")), eventtest.User("e")),
			"4 user: text(\"c\")\n5 assistant: text(\"d\")\n6 user: text(\"e\")\n! 4 window 2 messages before it\n",
		},
		{
			"what nobody takes is left out, and lone surrogates", window.GenericRules(),
			eventtest.Number(eventtest.Created(), says(skein.RoleUser, skein.Part{Kind: skein.PartOther, Raw: []byte("1")}, text("a\xed\xa0\x80")), says(skein.RoleUser, text(" \n")), says(skein.Role("developer"), text("b"))),
			"2 user: text(\"a\ufffd\")\n4 user: text(\"b\")\n! 2 part other\n! 2 text\n! 3 empty user\n! 4 role developer\n",
		},
		{
			"text in a tool's message is the user's", window.OpenAIChatRules("m"),
			eventtest.Number(eventtest.Created(), answer("", "", eventtest.Call("a")), says(skein.RoleTool, eventtest.Result("a", "x"), file("image/png", "00"))),
			"2 assistant: call(a " + ls + ")\n2 tool: result(a \"x\")\n3 user: file(f)\n",
		},
		{
			"a window begins where the user speaks", newest(6), talk,
			"6 user: text(\"c\")\n7 assistant: call(y " + ls + ")\n7 user: result(y \"2\")\n9 assistant: text(\"d\")\n! 6 window 3 messages before it\n",
		},
		{
			"a window is never cut in a round", newest(2), talk,
			"0 user: " + unshown + "\n9 assistant: text(\"d\")\n! 9 window 5 messages before it\n! 9 first\n",
		},
		{
			"a window has at least the last round", newest(1), talk[:8],
			"0 user: " + unshown + "\n7 assistant: call(y " + ls + ")\n7 user: result(y \"2\")\n! 7 window 4 messages before it\n! 7 first\n",
		},
		{"a window that all fits in", newest(8), talk[:6], view(t, talk[:6], newest(0))},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, view(t, c.events, c.rules)); diff != "" {
				t.Errorf("Context (-want +got):\n%s", diff)
			}
		})
	}
}
