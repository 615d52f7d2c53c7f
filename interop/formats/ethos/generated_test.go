package ethos

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
)

// conversation generates a session that the program can store completely.
func conversation(rt *rapid.T) (evs []skein.Event) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\x00", resultStart + "x", resultEnd, brokenEnd, interruptedBefore + "a]", "<b> & \u2028", "\r\n"}))
	for i := range rapid.IntRange(1, 8).Draw(rt, "turns") {
		at := 10 * (i + 1)
		evs = append(evs, say(at, skein.RoleUser, words(text.Draw(rt, "prompt"))))
		if !rapid.Bool().Draw(rt, "call") {
			evs = append(evs, say(at+1, skein.RoleAssistant, words(text.Draw(rt, "answer"))))
			continue
		}
		id := fmt.Sprint("c", i)
		call := skein.Call{ID: id, Name: "look", Input: skein.MustJSON(map[string]string{"q": text.Draw(rt, "input")})}
		evs = append(evs, say(at+1, skein.RoleAssistant, words(text.Draw(rt, "answer")), skein.Part{Kind: skein.PartCall, Call: &call}),
			say(at+2, skein.RoleTool, skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: id, Name: "look", Text: skein.Text(text.Draw(rt, "output"))}}))
	}
	return evs
}

// spoken returns the texts, calls and results of a session.
func spoken(t testing.TB, s skein.Store, id skein.SessionID) string {
	t.Helper()
	var b strings.Builder
	for e, err := range s.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if m, err := skein.Decode[skein.Message](e); err == nil && e.Kind == skein.KindSaid {
			for _, p := range m.Parts {
				switch {
				case p.Call != nil:
					fmt.Fprintf(&b, "%s calls %s %s %s\n", m.Role, p.Call.ID, p.Call.Name, p.Call.Input)
				case p.Result != nil:
					fmt.Fprintf(&b, "%s answers %s %s %q\n", m.Role, p.Result.CallID, p.Result.Name, p.Result.Text)
				case p.Text != "":
					fmt.Fprintf(&b, "%s %q\n", m.Role, p.Text)
				}
			}
		}
	}
	return b.String()
}

func TestWhatIsWrittenIsReadAsItWasSaid(t *testing.T) {
	const id = "6f0c2f0e-1d0b-4a37-8a55-0d8b7c7a1e01"
	conversations := rapid.Custom(conversation)
	for seed := range 30 {
		home, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		was, is := memory.New(), memory.New()
		defer was.Close()
		defer is.Close()
		made(t, was, id, conversations.Example(seed)...)
		done := export(t, was, id, home)
		rep := bring(t, is, home)
		if got, want := spoken(t, is, id), spoken(t, was, id); got != want && len(done.Losses) == 0 || rep.Damaged+rep.Skipped > 0 {
			t.Fatalf("seed %d: what is read is\n%s\nwant\n%s\n%+v", seed, got, want, rep)
		}
	}
}
