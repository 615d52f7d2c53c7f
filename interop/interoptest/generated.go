package interoptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// generatedSessions is how many sessions are generated to be written.
const generatedSessions = 25

// whatever checks, for a format that can be written: any session, written and read
// again, is the same.
func (s writes) whatever(t *testing.T) {
	sessions := rapid.Custom(conversation)
	for seed := range generatedSessions {
		evs := sessions.Example(seed)
		from := memory.New()
		defer from.Close()
		if _, err := from.Append(context.Background(), skein.Batch{Session: "generated", Events: evs}); err != nil {
			t.Fatal(err)
		}
		home := filepath.Join(t.TempDir(), "home")
		_, err := writeback.Export(context.Background(), from, s.Format, "generated", home, writeback.Exports{})
		if errors.Is(err, skein.ErrInvalid) {
			continue // it contained nothing that the format could hold
		}
		if err != nil {
			t.Fatalf("seed %d: Export() = %v", seed, err)
		}
		home, err = filepath.EvalSymlinks(home)
		if err != nil {
			t.Fatal(err)
		}
		to := memory.New()
		defer to.Close()
		if rep := s.bring(t, to, home); rep.Damaged != 0 || rep.Skipped != 0 {
			t.Errorf("seed %d: Import of what was written = %+v, want no damage", seed, rep)
		}
		if diff := cmp.Diff(events(t, from)["generated"], events(t, to)["generated"]); diff != "" {
			t.Fatalf("seed %d: there and back (-was +is):\n%s", seed, diff)
		}
	}
}

// A narrator generates a conversation.
type narrator struct {
	*rapid.T
	at    skein.Time
	open  []string // calls without a result
	calls int
	evs   []skein.Event
}

// conversation generates the events of a session.
func conversation(rt *rapid.T) []skein.Event {
	w := &narrator{T: rt, at: skein.At(epoch)}
	w.add(skein.KindCreated, skein.Created{Title: w.text("title"), Cwd: "/home/ada/pear", Project: "/home/ada/pear", Agent: "skein", Model: "m-1", Provider: "openai"})
	for range rapid.IntRange(1, 25).Draw(rt, "events") {
		w.event()
	}
	return w.evs
}

func (w *narrator) add(kind skein.Kind, v any) {
	w.at += skein.Time(rapid.IntRange(-5, 5000).Draw(w.T, "later"))
	w.evs = append(w.evs, skein.NewEvent(kind, w.at, v))
}

// text generates a text, sometimes with what other programs' files have trouble with.
func (w *narrator) text(what string) string {
	return rapid.OneOf(
		rapid.StringN(1, 30, 200),
		rapid.SampledFrom([]string{"<b>&amp;", "line\r\nline\n", "\u2028\u2029", "\x00nul", "/path/to a.go:1", "'\"\\", "…日本語😀", "   ", "{\"type\":\"text\"}", "<context>\n</context>\n\nx"}),
	).Draw(w.T, what)
}

func (w *narrator) event() {
	switch rapid.IntRange(0, 9).Draw(w.T, "kind") {
	case 0, 1:
		w.add(skein.KindSaid, skein.UserSays(w.text("prompt")))
	case 2, 3, 4:
		said := skein.Message{Role: skein.RoleAssistant, Provider: "openai", Model: "m-1", Parts: w.answer()}
		if n := int64(len(w.evs)); n%2 == 0 {
			said.Tier, said.Usage = "priority", &skein.Usage{Input: n, Output: 2 * n, CacheWrite: 5 * n, CacheHour: 3 * n}
		}
		w.add(skein.KindSaid, said)
	case 5, 6:
		w.results()
	case 7:
		w.add(skein.KindTitled, skein.Titled{Title: w.text("title"), By: skein.ByPerson})
	case 8:
		w.add(skein.KindNoted, skein.Noted{Name: "note", Data: skein.MustJSON(w.text("data"))})
	default:
		w.add(skein.KindRewound, skein.Rewound{To: skein.Seq(rapid.IntRange(1, len(w.evs)).Draw(w.T, "to"))})
	}
}

func (w *narrator) answer() (parts []skein.Part) {
	for range rapid.IntRange(1, 3).Draw(w.T, "parts") {
		switch rapid.IntRange(0, 3).Draw(w.T, "part") {
		case 0:
			parts = append(parts, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(w.text("reasoning"))})
		case 1:
			w.calls++
			id := fmt.Sprintf("call_%d", w.calls)
			w.open = append(w.open, id)
			input := skein.MustJSON(map[string]any{"text": w.text("input"), "n": json.Number("1.50")})
			parts = append(parts, skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: "tool", Input: input}})
		default:
			parts = append(parts, skein.TextPart(w.text("answer")))
		}
	}
	return parts
}

// results answers some of the calls.
func (w *narrator) results() {
	var parts []skein.Part
	for len(w.open) > 0 && (len(parts) == 0 || rapid.Bool().Draw(w.T, "another")) {
		res := &skein.Result{CallID: w.open[0], Name: "tool", Text: skein.Text(w.text("output")), Failed: rapid.Bool().Draw(w.T, "failed")}
		parts, w.open = append(parts, skein.Part{Kind: skein.PartResult, Result: res}), w.open[1:]
	}
	if len(parts) > 0 {
		w.add(skein.KindSaid, skein.Message{Role: skein.RoleTool, Parts: parts})
	}
}
