package amplifier_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	lines "github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// every is a folder with one of everything, by the names of its files.
func every() map[string]string {
	return map[string]string{
		"transcript.jsonl": strings.Join([]string{
			user(1, "one <é> \u2028"),
			`{"role": "assistant", "content": [{"type": "text", "text": "a"}], "tool_calls": [{"id": "c1", "tool": "t", "arguments": {"n": 1}}], "metadata": {"timestamp": "2026-09-03T08:00:02.000+00:00"}}`,
			`{"role": "tool", "name": "t", "tool_call_id": "c1", "content": "r", "metadata": {"timestamp": "2026-09-03T08:00:03.000+00:00"}}`,
		}, "\n") + "\n",
		"events.jsonl":  logLine(1, "prompt:submit", `{"prompt": "one"}`) + "\n" + logLine(2, "llm:response", `{"provider": "anthropic", "usage": {"input_tokens": 3, "output_tokens": 4}}`) + "\n",
		"metadata.json": fmt.Sprintf("{\n  \"session_id\": %q,\n  \"name\": \"Name\"\n}", liveID),
	}
}

// lay writes files that are old enough not to be in use.
func (f *folder) lay(files map[string]string) {
	f.Helper()
	then := time.Now().Add(-interop.TornFor)
	for name, data := range files {
		at := filepath.Join(f.path, name)
		if err := errors.Join(os.WriteFile(at, []byte(data), 0o600), os.Chtimes(at, then, then)); err != nil {
			f.Fatal(err)
		}
	}
}

func TestAFolderCutAnywhereIsReadAndTheRestLater(t *testing.T) {
	f, whole := newFolder(t), memory.New()
	defer whole.Close()
	f.lay(every())
	bring(t, whole, f.path)
	want := session(t, whole, liveID)
	for name, data := range every() {
		for at := range data {
			s := memory.New()
			f.lay(map[string]string{name: data[:at]})
			if rep := bring(t, s, f.path); rep.Skipped != 0 {
				t.Fatalf("%s cut at byte %d: Import = %+v, want nothing skipped", name, at, rep)
			}
			f.lay(map[string]string{name: data})
			bring(t, s, f.path)
			got := session(t, s, liveID)
			if words(t, s, liveID) != words(t, whole, liveID) || got.Title != want.Title || got.Usage != want.Usage || got.Messages != want.Messages {
				t.Fatalf("%s cut at byte %d and then whole: it says %q as %+v, want %q as %+v", name, at, words(t, s, liveID), got, words(t, whole, liveID), want)
			}
			s.Close()
		}
	}
}

// exact imports a folder and checks that its records have all its bytes, and that
// reading it again adds nothing.
func exact(t *testing.T, f *folder) {
	t.Helper()
	s := memory.New()
	defer s.Close()
	bring(t, s, f.path)
	if err := os.Chtimes(filepath.Join(f.path, "transcript.jsonl"), later, later); err != nil {
		t.Fatal(err)
	}
	if again := bring(t, s, f.path); again.Events != 0 {
		t.Errorf("Import again = %+v, want nothing new", again)
	}
	var records bytes.Buffer
	if err := writeback.WriteSource(t.Context(), s, amplifier.Name, f.path, &records); err != nil {
		t.Fatal(err)
	}
	kept := map[string]string{}
	for l := range bytes.Lines(records.Bytes()) {
		in, err := lines.Parse(l)
		if err != nil {
			t.Fatal(err)
		}
		kept[in.File] += string(in.Data())
	}
	for _, name := range []string{"transcript.jsonl", "events.jsonl", "metadata.json"} {
		if was := f.read(name); kept[name] != was {
			t.Errorf("the records have %q of %s, want %q", kept[name], name, was)
		}
	}
}

func FuzzFormat(f *testing.F) {
	for _, data := range every() {
		f.Add([]byte(data), []byte(data))
	}
	f.Add([]byte(`{"role":"assistant","content":[{"type":"tool_result"},1,null],"tool_calls":[7,{"id":"x","function":{"arguments":"["}}]}{"a":NaN}`), []byte(`{"event":"tool:pre","data":{"tool_call_id":"x"}}`))
	f.Add([]byte("\xef\xbb\xbf{\"role\":\"user\"}\r\n\x00\n\xff"), []byte(`{"ts":"","event":"llm:response","data":{"usage":{"cost_usd":"1e99"}}}`))
	f.Fuzz(func(t *testing.T, said, logged []byte) {
		at := newFolder(t)
		at.lay(map[string]string{"transcript.jsonl": string(said), "events.jsonl": string(logged), "metadata.json": string(said)})
		exact(t, at)
	})
}

func TestDepthAndSizeAreBounded(t *testing.T) {
	f, s := newFolder(t), memory.New()
	defer s.Close()
	deep := strings.Repeat(`[`, 200_000)
	f.lay(map[string]string{"transcript.jsonl": user(1, "before") + "\n" + `{"role": "user", "content": ` + deep + "\n" +
		`{"role": "user", "content": ` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}\n" +
		`{"role": "tool", "tool_call_id": "c", "content": 1` + strings.Repeat("0", 100_000) + "}\n" + user(2, "after") + "\n"})
	rep := bring(t, s, f.path)
	if got := words(t, s, liveID); !strings.HasPrefix(got, "before | ") || !strings.HasSuffix(got, " | after") || rep.Damaged == 0 {
		t.Errorf("Import = %+v and it says %.100q, want damage in the middle and what stands around it", rep, got)
	}
}

func TestNothingOutsideOfTheFolderIsRead(t *testing.T) {
	f, s := newFolder(t), memory.New()
	defer s.Close()
	out := filepath.Join(t.TempDir(), "secret.jsonl")
	if err := os.WriteFile(out, []byte(user(1, "secret")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, filepath.Join(f.path, "transcript.jsonl")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	f.lay(map[string]string{"metadata.json": `{"session_id": "x", "parent_id": "../../../../etc", "forked_from_turn": 1, "name": "Linked"}`})
	rep := bring(t, s, f.path)
	sess := session(t, s, liveID)
	if rep.Skipped == 0 || sess.Messages != 0 || sess.Title != "Linked" {
		t.Errorf("Import = %+v and the session is %+v, want the link named and not followed", rep, sess)
	}
}

func TestAnotherProgramsFolderIsLeftAlone(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "projects", "web", "sessions", "one")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(`{"kind": "film"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := memory.New()
	defer s.Close()
	if rep := bring(t, s, root); rep.Files != 0 || rep.Unmatched != 1 || rep.Sessions != 0 {
		t.Errorf("Import = %+v, want 1 file that is not matched", rep)
	}
}

func TestIDsThatAreNoNamesAreNotPaths(t *testing.T) {
	for _, id := range []skein.SessionID{"a/b", "..", ".hidden", "a\\b", "with space", "under_score", "con:1", "ends."} {
		s := memory.New()
		evs := []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{Cwd: "/x/../y\x01"}), skein.Say(2, skein.UserSays("hi"))}
		if _, err := s.Append(t.Context(), skein.Batch{Session: id, Events: evs}); err != nil {
			s.Close()
			continue // no store accepts it
		}
		home := filepath.Join(t.TempDir(), "home")
		done, err := writeback.Export(t.Context(), s, amplifier.Format(), id, home, writeback.Exports{})
		if err != nil {
			t.Fatalf("Export(%q) = %v", id, err)
		}
		name := filepath.Base(filepath.FromSlash(done[0].Spot.Path))
		if strings.ContainsAny(name, "_/\\ :") || strings.HasPrefix(name, ".") || !filepath.IsLocal(filepath.FromSlash(done[0].Spot.Path)) {
			t.Errorf("Export(%q) writes to %q, want a plain name without underscore", id, done[0].Spot.Path)
		}
		s.Close()
	}
}

func TestNumbersThatOnlyPythonReadsAreKept(t *testing.T) {
	f, s := newFolder(t), memory.New()
	defer s.Close()
	f.lay(map[string]string{"transcript.jsonl": `{"role": "tool", "tool_call_id": "c", "content": {"r": NaN, "s": "NaN \" -Infinity", "b": -Infinity}}` + "\n"})
	if rep := bring(t, s, f.path); rep.Damaged != 0 || rep.Messages != 1 {
		t.Errorf("Import = %+v, want 1 message and no damage", rep)
	}
	for e, err := range s.Events(t.Context(), liveID, 1) {
		if err != nil || e.Kind == skein.KindSaid && !bytes.Contains(e.Payload, []byte(`{"r":"NaN","s":"NaN \" -Infinity","b":"-Infinity"}`)) {
			t.Errorf("the result is %s, %v, want the numbers as strings", e.Payload, err)
		}
	}
}

func TestASessionThatIsItsOwnParentHasNone(t *testing.T) {
	f, s := newFolder(t), memory.New()
	defer s.Close()
	f.save(user(1, "one"))
	meta := f.read("metadata.json")
	f.write("metadata.json", strings.Replace(meta, "{", `{"parent_id": "`+liveID+`", "forked_from_turn": 1,`, 1))
	bring(t, s, f.path)
	if got, err := s.Session(t.Context(), liveID); err != nil || got.Parent != nil {
		t.Errorf("Session = %+v, %v, want it without a parent", got, err)
	}
	if got := words(t, s, liveID); got != "one" {
		t.Errorf("it says %q, want one", got)
	}
}
