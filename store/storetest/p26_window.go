package storetest

import (
	"fmt"
	"math"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm/window"
)

func windows() []check {
	return []check{
		{name: "the newest messages, and all that their context needs", run: newestWindow},
		{name: "a session without messages", run: emptyWindow},
		{name: "the same context as all events, whatever they are", run: anyWindow},
		{name: "through forks", run: forkWindow},
	}
}

// rulesets returns the rules of every provider.
func rulesets() map[string]window.Rules {
	return map[string]window.Rules{
		"generic": window.GenericRules(), "anthropic": window.AnthropicRules("m"), "google": window.GoogleRules("m"),
		"chat": window.OpenAIChatRules("m"), "responses": window.OpenAIResponsesRules(""),
	}
}

func (t *test) window(id skein.SessionID, n int) []skein.Event {
	t.Helper()
	evs, err := t.s.Window(t.Context(), id, n)
	if err != nil {
		t.Fatalf("Window(%s, %d) = %v", id, n, err)
	}
	return evs
}

// wrongWindow says what is wrong with the windows of id; "" if nothing is.
func (t *test) wrongWindow(id skein.SessionID) string {
	t.Helper()
	events := t.events(id)
	for _, n := range []int{0, 1, 2, 3, 5, 9, math.MaxInt} {
		shown := t.window(id, n)
		for i := 1; i < len(shown); i++ {
			if shown[i].Seq <= shown[i-1].Seq {
				return fmt.Sprintf("Window(%s, %d) has event %d after %d", id, n, shown[i].Seq, shown[i-1].Seq)
			}
		}
		for name, r := range rulesets() {
			for _, r.Newest = range []int{1, max(1, n-1), n} {
				want, err := window.Context(events, r)
				t.noErr("Context of all events", err)
				got, err := window.Context(shown, r)
				t.noErr("Context of a window", err)
				want.Repairs, got.Repairs = nil, nil
				if diff := cmp.Diff(want, got); diff != "" {
					return fmt.Sprintf("context of Window(%s, %d), rules %s, newest %d (-of all events +of the window):\n%s", id, n, name, r.Newest, diff)
				}
			}
		}
	}
	return ""
}

func newestWindow(t *test) {
	t.add("a", created())
	t.add("a", some(60)...)
	if wrong := t.wrongWindow("a"); wrong != "" {
		t.Fatal(wrong)
	}
	t.add("a", skein.NewEvent(skein.KindCompacted, noon, skein.Compacted{To: 50, Summary: "what was"}))
	t.add("a", some(6)...)
	t.add("a", skein.NewEvent(skein.KindRewound, noon, skein.Rewound{To: 66}), user("again"))
	if wrong := t.wrongWindow("a"); wrong != "" {
		t.Fatal(wrong)
	}
	_, err := t.s.Window(t.Context(), "nobody", 3)
	t.wantErr("Window of nobody", err, skein.ErrNotFound)
}

func emptyWindow(t *test) {
	t.add("a", created(), noted("nothing was said"))
	if wrong := t.wrongWindow("a"); wrong != "" {
		t.Fatal(wrong)
	}
}

func anyWindow(t *test) {
	t.Cleanup(fewer())
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		id := skein.SessionID(fmt.Sprint("s", n))
		t.add(id, created())
		t.add(id, talk(rt, 1)...)
		if wrong := t.wrongWindow(id); wrong != "" {
			rt.Fatalf("%s\nof\n%s", wrong, listed(t.events(id)))
		}
	})
}

func forkWindow(t *test) {
	t.Cleanup(fewer())
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		id := skein.SessionID(fmt.Sprint("s", n))
		t.add(id, created())
		last := t.add(id, talk(rt, 1)...)
		for k := range 2 {
			at := skein.Seq(rapid.IntRange(1, int(last)).Draw(rt, "fork at"))
			kid := skein.SessionID(fmt.Sprint(id, "-", k))
			own := t.add(kid, fork(id, at))
			last = t.add(kid, talk(rt, own)...)
			id = kid
		}
		if wrong := t.wrongWindow(id); wrong != "" {
			rt.Fatalf("%s\nof\n%s", wrong, listed(t.events(id)))
		}
	})
}

func listed(events []skein.Event) (s string) {
	for _, e := range events {
		s += fmt.Sprintf("%d %s %s\n", e.Seq, e.Kind, e.Payload)
	}
	return s
}

// talk returns events of every kind that a context depends on, to follow the
// session's own event at base.
func talk(rt *rapid.T, base skein.Seq) (evs []skein.Event) {
	for range rapid.IntRange(0, 3).Draw(rt, "system") {
		evs = append(evs, skein.Say(noon, skein.Message{Role: skein.RoleSystem, Parts: []skein.Part{skein.TextPart("be kind")}}))
	}
	n := len(evs) + rapid.IntRange(1, 40).Draw(rt, "events")
	dull := rapid.IntRange(0, 4).Draw(rt, "dull") // how rarely something other than a message comes
	for len(evs) < n {
		evs = append(evs, talked(rt, base, base+skein.Seq(len(evs)), dull))
	}
	return evs
}

// talked returns one event that follows the session's event at last.
func talked(rt *rapid.T, base, last skein.Seq, dull int) skein.Event {
	throw := func(name string, n int) int { return rapid.IntRange(0, n-1).Draw(rt, name) }
	switch throw("kind", 6+4*dull) {
	case 0:
		return skein.NewEvent(skein.KindRewound, noon, skein.Rewound{To: skein.Seq(throw("to", int(last)+1))})
	case 1:
		c := skein.Compacted{To: skein.Seq(throw("to", int(last)+1)), Summary: pick(rt, "summary", "", "what was", "what was before"), Failed: throw("failed", 5) == 0}
		for range throw("keeps", 4) {
			if c.To > 0 {
				c.Keep = append(c.Keep, skein.Seq(1+throw("keep", int(c.To))))
			}
		}
		if throw("opaque", 3) == 0 {
			c.Opaque = []byte(`{"type":"compaction"}`)
		}
		return skein.NewEvent(skein.KindCompacted, noon, c)
	case 2:
		far := pick(rt, "far", 4, int(last-base)+1) // the first messages have special rules
		a := skein.Amended{Seq: base + skein.Seq(throw("amends", min(far, int(last-base)+1))), Withdrawn: throw("withdrawn", 2) == 0}
		return skein.NewEvent(skein.KindAmended, noon, a)
	case 3:
		return skein.NewEvent(skein.KindTool, noon, skein.ToolState{Call: pick(rt, "call", "a", "b"), State: pick(rt, "state", skein.Pending, skein.Completed, skein.Failed)})
	case 4:
		return noted("x")
	}
	return skein.Say(noon, utterance(rt))
}

func utterance(rt *rapid.T) skein.Message {
	m := skein.Message{
		ID:   pick(rt, "message", "", "", "", "m1", "m2", "m3"),
		Role: pick(rt, "role", skein.RoleUser, skein.RoleAssistant, skein.RoleAssistant, skein.RoleTool, skein.RoleSystem, skein.RoleSteer),
	}
	if m.Role == skein.RoleAssistant {
		m.Provider, m.Model = pick(rt, "provider", "anthropic", "openai"), "m"
		m.Interrupted = rapid.IntRange(0, 5).Draw(rt, "interrupted") == 0
	}
	for range rapid.IntRange(0, 3).Draw(rt, "parts") {
		m.Parts = append(m.Parts, utteredPart(rt))
	}
	return m
}

func utteredPart(rt *rapid.T) skein.Part {
	call := pick(rt, "id", "a", "b", "c", "")
	switch pick(rt, "part", "text", "text", "call", "result", "reasoning", "file", "other") {
	case "call":
		return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: call, Name: "shell", Input: []byte(pick(rt, "input", `{"x":1}`, `{}`))}}
	case "result":
		return skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: call, Text: pick[skein.Text](rt, "output", "x", "y")}}
	case "reasoning":
		return skein.Part{Kind: skein.PartReasoning, Text: "hm", Raw: []byte(`"signed"`)}
	case "file":
		return skein.Part{Kind: skein.PartFile, File: &skein.File{Name: "f", Media: "image/png", URL: "https://example.org/f.png"}}
	case "other":
		return skein.Part{Kind: skein.PartOther, Raw: []byte("1")}
	}
	return skein.TextPart(pick(rt, "text", "hello", "what was", " ", "", "and so on"))
}
