package window_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/eventtest"
	"github.com/skein-dev/skein/llm/window"
)

// contextHolds says what is wrong with the contexts of events; "" if nothing
// is.
func contextHolds(events []skein.Event, name string, r window.Rules) string {
	v, err := window.Context(events, r)
	if err != nil {
		return fmt.Sprintf("Context(%d events, %s): %v", len(events), name, err)
	}
	if err := r.Check(v.Messages); err != nil {
		return fmt.Sprintf("Context(%d events, %s): %v, in\n%s", len(events), name, err, showMessages(v.Messages))
	}
	if len(v.Seqs) != len(v.Messages) {
		return fmt.Sprintf("Context(%d events, %s) has %d places for %d messages", len(events), name, len(v.Seqs), len(v.Messages))
	}
	return ""
}

func showMessages(messages []skein.Message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(eventtest.ShowMessage(m))
	}
	return b.String()
}

func TestContextOfEveryPrefixKeepsTheRules(t *testing.T) {
	rules := allRules()
	rapid.Check(t, func(t *rapid.T) {
		events := eventtest.EventsFrom(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "events"))
		for n := range len(events) + 1 {
			for name, r := range rules {
				if wrong := contextHolds(events[:n], name, r); wrong != "" {
					t.Fatal(wrong)
				}
			}
		}
	})
}

func TestContextAfterARewindIsWhatItWas(t *testing.T) {
	rules := allRules()
	rapid.Check(t, func(t *rapid.T) {
		events := eventtest.EventsFrom(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "events"))
		to := rapid.IntRange(0, len(events)).Draw(t, "to")
		back := eventtest.Number(append(events, eventtest.Rewound(skein.Seq(to)))...)
		for name, r := range rules {
			was, err := window.Context(events[:to], r)
			if err != nil {
				t.Fatal(err)
			}
			is, err := window.Context(back, r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(was, is); diff != "" {
				t.Fatalf("%s: context after rewound{%d} (-right after it +now):\n%s", name, to, diff)
			}
		}
	})
}

func TestContextLeavesTheEventsAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "events")
		events := eventtest.EventsFrom(data)
		for name, r := range allRules() {
			first, err := window.Context(events, r)
			if err != nil {
				t.Fatal(err)
			}
			second, err := window.Context(events, r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(first, second); diff != "" {
				t.Fatalf("%s: Context a second time (-first +second):\n%s", name, diff)
			}
		}
		if diff := cmp.Diff(eventtest.EventsFrom(data), events); diff != "" {
			t.Fatalf("events after Context (-before +after):\n%s", diff)
		}
	})
}

func FuzzContext(f *testing.F) {
	f.Add([]byte("a session of some length, with calls and rewinds"))
	f.Fuzz(func(t *testing.T, data []byte) {
		events := eventtest.EventsFrom(data)
		for name, r := range allRules() {
			if wrong := contextHolds(events, name, r); wrong != "" {
				t.Fatal(wrong)
			}
		}
	})
}

// allRules returns the rules of every provider, with and without a window.
func allRules() map[string]window.Rules {
	all := map[string]window.Rules{
		"generic": window.GenericRules(), "anthropic": window.AnthropicRules("m"), "google": window.GoogleRules("m"),
		"openai chat": window.OpenAIChatRules("m"), "openai responses": window.OpenAIResponsesRules(""),
	}
	for name, r := range maps.Clone(all) {
		for _, n := range []int{1, 4} {
			r.Newest = n
			all[fmt.Sprintf("%s, newest %d", name, n)] = r
		}
		r.Newest = 0
		for _, n := range []int{1, 5000} {
			r.Room = n
			all[fmt.Sprintf("%s, room for %d", name, n)] = r
		}
	}
	return all
}
