package reads

import (
	"fmt"
	"math"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm/window"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func windows() []harness.Check {
	return []harness.Check{
		{Name: "the newest messages, and all that their context needs", Run: newestWindow},
		{Name: "a session without messages", Run: emptyWindow},
		{Name: "the same context as all events, whatever they are", Run: anyWindow},
		{Name: "through forks", Run: forkWindow},
	}
}

// rulesets returns the rules of every provider.
func rulesets() map[string]window.Rules {
	return map[string]window.Rules{
		"generic": window.GenericRules(), "anthropic": window.AnthropicRules("m"), "google": window.GoogleRules("m"),
		"chat": window.OpenAIChatRules("m"), "responses": window.OpenAIResponsesRules(""),
	}
}

func windowOf(t *harness.Test, id skein.SessionID, n int) []skein.Event {
	t.Helper()
	evs, err := t.Store.Window(t.Context(), id, n)
	if err != nil {
		t.Fatalf("Window(%s, %d) = %v", id, n, err)
	}
	return evs
}

// wrongWindow says what is wrong with the windows of id; "" if nothing is.
func wrongWindow(t *harness.Test, id skein.SessionID) string {
	t.Helper()
	events := t.Events(id)
	for _, n := range []int{0, 1, 2, 3, 5, 9, math.MaxInt} {
		shown := windowOf(t, id, n)
		for i := 1; i < len(shown); i++ {
			if shown[i].Seq <= shown[i-1].Seq {
				return fmt.Sprintf("Window(%s, %d) has event %d after %d", id, n, shown[i].Seq, shown[i-1].Seq)
			}
		}
		for name, r := range rulesets() {
			for _, r.Newest = range []int{1, max(1, n-1), n} {
				want, err := window.Context(events, r)
				t.NoErr("Context of all events", err)
				got, err := window.Context(shown, r)
				t.NoErr("Context of a window", err)
				want.Repairs, got.Repairs = nil, nil
				if diff := cmp.Diff(want, got); diff != "" {
					return fmt.Sprintf("context of Window(%s, %d), rules %s, newest %d (-of all events +of the window):\n%s", id, n, name, r.Newest, diff)
				}
			}
		}
	}
	return ""
}

func newestWindow(t *harness.Test) {
	t.Add("a", fixture.Created())
	t.Add("a", fixture.Some(60)...)
	if wrong := wrongWindow(t, "a"); wrong != "" {
		t.Fatal(wrong)
	}
	t.Add("a", skein.NewEvent(skein.KindCompacted, fixture.Noon, skein.Compacted{To: 50, Summary: "what was"}))
	t.Add("a", fixture.Some(6)...)
	t.Add("a", skein.NewEvent(skein.KindRewound, fixture.Noon, skein.Rewound{To: 66}), fixture.User("again"))
	if wrong := wrongWindow(t, "a"); wrong != "" {
		t.Fatal(wrong)
	}
	_, err := t.Store.Window(t.Context(), "nobody", 3)
	t.WantErr("Window of nobody", err, skein.ErrNotFound)
}

func emptyWindow(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.Noted("nothing was said"))
	if wrong := wrongWindow(t, "a"); wrong != "" {
		t.Fatal(wrong)
	}
}

func anyWindow(t *harness.Test) {
	t.Cleanup(harness.Fewer())
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		id := skein.SessionID(fmt.Sprint("s", n))
		t.Add(id, fixture.Created())
		t.Add(id, talk(rt, 1)...)
		if wrong := wrongWindow(t, id); wrong != "" {
			rt.Fatalf("%s\nof\n%s", wrong, listed(t.Events(id)))
		}
	})
}

func forkWindow(t *harness.Test) {
	t.Cleanup(harness.Fewer())
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		id := skein.SessionID(fmt.Sprint("s", n))
		t.Add(id, fixture.Created())
		last := t.Add(id, talk(rt, 1)...)
		for k := range 2 {
			at := skein.Seq(rapid.IntRange(1, int(last)).Draw(rt, "fork at"))
			kid := skein.SessionID(fmt.Sprint(id, "-", k))
			own := t.Add(kid, fixture.Fork(id, at))
			last = t.Add(kid, talk(rt, own)...)
			id = kid
		}
		if wrong := wrongWindow(t, id); wrong != "" {
			rt.Fatalf("%s\nof\n%s", wrong, listed(t.Events(id)))
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
		evs = append(evs, skein.Say(fixture.Noon, skein.Message{Role: skein.RoleSystem, Parts: []skein.Part{skein.TextPart("be kind")}}))
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
		return skein.NewEvent(skein.KindRewound, fixture.Noon, skein.Rewound{To: skein.Seq(throw("to", int(last)+1))})
	case 1:
		c := skein.Compacted{To: skein.Seq(throw("to", int(last)+1)), Summary: harness.Pick(rt, "summary", "", "what was", "what was before"), Failed: throw("failed", 5) == 0}
		for range throw("keeps", 4) {
			if c.To > 0 {
				c.Keep = append(c.Keep, skein.Seq(1+throw("keep", int(c.To))))
			}
		}
		if throw("opaque", 3) == 0 {
			c.Opaque = []byte(`{"type":"compaction"}`)
		}
		return skein.NewEvent(skein.KindCompacted, fixture.Noon, c)
	case 2:
		far := harness.Pick(rt, "far", 4, int(last-base)+1) // the first messages have special rules
		a := skein.Amended{Seq: base + skein.Seq(throw("amends", min(far, int(last-base)+1))), Withdrawn: throw("withdrawn", 2) == 0}
		return skein.NewEvent(skein.KindAmended, fixture.Noon, a)
	case 3:
		return skein.NewEvent(skein.KindTool, fixture.Noon, skein.ToolState{Call: harness.Pick(rt, "call", "a", "b"), State: harness.Pick(rt, "state", skein.Pending, skein.Completed, skein.Failed)})
	case 4:
		return fixture.Noted("x")
	}
	return skein.Say(fixture.Noon, utterance(rt))
}

func utterance(rt *rapid.T) skein.Message {
	m := skein.Message{
		ID:   harness.Pick(rt, "message", "", "", "", "m1", "m2", "m3"),
		Role: harness.Pick(rt, "role", skein.RoleUser, skein.RoleAssistant, skein.RoleAssistant, skein.RoleTool, skein.RoleSystem, skein.RoleSteer),
	}
	if m.Role == skein.RoleAssistant {
		m.Provider, m.Model = harness.Pick(rt, "provider", "anthropic", "openai"), "m"
		m.Interrupted = rapid.IntRange(0, 5).Draw(rt, "interrupted") == 0
	}
	for range rapid.IntRange(0, 3).Draw(rt, "parts") {
		m.Parts = append(m.Parts, utteredPart(rt))
	}
	return m
}

func utteredPart(rt *rapid.T) skein.Part {
	call := harness.Pick(rt, "id", "a", "b", "c", "")
	switch harness.Pick(rt, "part", "text", "text", "call", "result", "reasoning", "file", "other") {
	case "call":
		return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: call, Name: "shell", Input: []byte(harness.Pick(rt, "input", `{"x":1}`, `{}`))}}
	case "result":
		return skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: call, Text: harness.Pick[skein.Text](rt, "output", "x", "y")}}
	case "reasoning":
		return skein.Part{Kind: skein.PartReasoning, Text: "hm", Raw: []byte(`"signed"`)}
	case "file":
		return skein.Part{Kind: skein.PartFile, File: &skein.File{Name: "f", Media: "image/png", URL: "https://example.org/f.png"}}
	case "other":
		return skein.Part{Kind: skein.PartOther, Raw: []byte("1")}
	}
	return skein.TextPart(harness.Pick(rt, "text", "hello", "what was", " ", "", "and so on"))
}
