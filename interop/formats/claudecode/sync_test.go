package claudecode

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// laid returns a home with a session in it, and its file.
func laid(t *testing.T, text string) (home, name string) {
	t.Helper()
	home = realDir(t)
	name = filepath.Join(home, "projects", "-srv-shop", backID+".jsonl")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return home, name
}

func TestASessionIsWrittenBackAsItGoesOn(t *testing.T) {
	const id = backID
	begin := `{"parentUuid":null,"isSidechain":false,"cwd":"/srv/shop","sessionId":"` + id + `","version":"2.1.9","type":"user","message":{"role":"user","content":"one"},"uuid":"u1","timestamp":"2026-11-21T04:00:00.000Z"}
{"parentUuid":"u1","isSidechain":false,"cwd":"/srv/shop","sessionId":"` + id + `","version":"2.1.9","type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"eins"}]},"uuid":"u2","timestamp":"2026-11-21T04:00:01.000Z"}
{"type":"last-prompt","lastPrompt":"one","leafUuid":"u2","sessionId":"` + id + `"}
`
	home, name := laid(t, begin)
	store := memory.New()
	defer store.Close()
	if _, err := importer.Import(t.Context(), store, []interop.Format{Format()}, []string{home}, interop.Options{}); err != nil {
		t.Fatal(err)
	}
	at := skein.Time(1795230386000)
	say := func(role skein.Role, p skein.Part) skein.Event {
		return skein.Say(at, skein.Message{Role: role, Provider: "anthropic", Model: "claude-opus-5-5", Parts: []skein.Part{p}})
	}
	call := skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: "c1", Name: "Bash", Input: []byte(`{"command":"ls"}`)}}
	result := skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: "c1", Text: "a.go"}}
	want := []string{`user a< "one"`, `assistant b<a [{"type":"text","text":"eins"}]`, `last-prompt < `}
	for _, step := range []struct {
		evs  []skein.Event
		want []string
	}{
		{ // a call without a result so far
			[]skein.Event{skein.Say(at, skein.UserSays("two")), say(skein.RoleAssistant, call)},
			[]string{`user c<b "two"`, `assistant d<c [{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls"}}]`, `last-prompt < `},
		},
		{ // and then with one
			[]skein.Event{say(skein.RoleTool, result), say(skein.RoleAssistant, skein.TextPart("One file."))},
			[]string{`user e<d [{"type":"tool_result","tool_use_id":"c1","content":"a.go"}]`, `assistant f<e [{"type":"text","text":"One file."}]`, `last-prompt < `},
		},
		{ // going back to what was written here
			[]skein.Event{skein.NewEvent(skein.KindRewound, at, skein.Rewound{To: 7}), skein.Say(at, skein.UserSays("instead"))},
			[]string{`user g<e "instead"`, `last-prompt < `},
		},
		{ // and to what was read
			[]skein.Event{skein.NewEvent(skein.KindRewound, at, skein.Rewound{To: 3}), skein.Say(at, skein.UserSays("otherwise"))},
			[]string{`user h<b "otherwise"`, `last-prompt < `},
		},
		{
			[]skein.Event{skein.NewEvent(skein.KindRewound, at, skein.Rewound{To: 0}), skein.Say(at, skein.UserSays("anew"))},
			[]string{`user i< "anew"`, `last-prompt < `},
		},
		{ // a compaction
			[]skein.Event{skein.NewEvent(skein.KindCompacted, at, skein.Compacted{To: 3, Summary: "They counted."}), skein.Say(at, skein.UserSays("on"))},
			[]string{`systemcompact_boundary j<i `, `user k<j summary "They counted."`, `user l<k "on"`, `last-prompt < `},
		},
	} {
		if _, err := skein.Add(t.Context(), store, id, step.evs...); err != nil {
			t.Fatal(err)
		}
		if _, err := writeback.Sync(t.Context(), store, Format(), id); err != nil {
			t.Fatal(err)
		}
		want = append(want, step.want...)
		if diff := cmp.Diff(want, told(t, name)); diff != "" {
			t.Fatalf("the lines (-want +got):\n%s", diff)
		}
	}
	data, err := os.ReadFile(name)
	if err != nil || string(data[:len(begin)]) != begin {
		t.Errorf("what the file had has changed: %.300s, %v", data, err)
	}
}

// What another store said at the same seq of the session, and wrote to the file, does
// not keep this store's messages out of it.
func TestTwoStoresWriteToOneFile(t *testing.T) {
	const id = backID
	begin := `{"parentUuid":null,"isSidechain":false,"cwd":"/srv/shop","sessionId":"` + id + `","version":"2.1.9","type":"user","message":{"role":"user","content":"one"},"uuid":"u1","timestamp":"2026-11-21T04:00:00.000Z"}` + "\n"
	home, name := laid(t, begin)
	for i, text := range []string{"of the first", "of the second"} {
		s := memory.New()
		defer s.Close()
		if _, err := importer.Import(t.Context(), s, []interop.Format{Format()}, []string{home}, interop.Options{}); err != nil {
			t.Fatal(err)
		}
		at := skein.Time(1795230386000 + int64(i))
		evs := []skein.Event{skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: "x"}), skein.Say(at, skein.UserSays(text))}
		if _, err := skein.Add(t.Context(), s, id, evs[i:]...); err != nil { // both at the same seq
			t.Fatal(err)
		}
		if done, err := writeback.Sync(t.Context(), s, Format(), id); err != nil {
			t.Fatalf("Sync of %q = %+v, %v", text, done, err)
		}
	}
	want := []string{`user a< "one"`, `user b<a "of the first"`, `user c<b "of the second"`}
	if diff := cmp.Diff(want, told(t, name)); diff != "" {
		t.Errorf("the lines (-want +got):\n%s", diff)
	}
}
