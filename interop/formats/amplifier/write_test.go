package amplifier_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// store returns a store with these sessions.
func store(t *testing.T, sessions map[skein.SessionID][]skein.Event, order ...skein.SessionID) *memory.Store {
	t.Helper()
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	for _, id := range order {
		if _, err := s.Append(t.Context(), skein.Batch{Session: id, Events: sessions[id]}); err != nil {
			t.Fatalf("Append(%s) = %v", id, err)
		}
	}
	return s
}

func export(t *testing.T, s *memory.Store, id skein.SessionID) (home string, done []writeback.Exported) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home = filepath.Join(root, ".amplifier")
	if done, err = writeback.Export(t.Context(), s, amplifier.Format(), id, home, writeback.Exports{}); err != nil {
		t.Fatalf("Export(%s) = %v", id, err)
	}
	return home, done
}

func readFile(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func created(c skein.Created) skein.Event {
	c.Cwd, c.Project = "/home/ann/shop", "/home/ann/shop"
	return skein.NewEvent(skein.KindCreated, 1_788_000_000_000, c)
}

func calls(ids ...string) skein.Message {
	m := skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{}}
	for _, id := range ids {
		m.Parts = append(m.Parts, skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: "task", Input: json.RawMessage(`{}`)}})
	}
	return m
}

func answers(id string) skein.Message {
	return skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: id, Text: "ok"}}}}
}

const (
	first  = skein.SessionID("0193a000-0000-7000-8000-000000000001")
	second = skein.SessionID("0193a000-0000-7000-8000-000000000002")
)

func TestAForkHasSyntheticResultsBehindTheRealOnes(t *testing.T) {
	s := store(t, map[skein.SessionID][]skein.Event{
		first: {created(skein.Created{}), skein.Say(2, skein.UserSays("go")), skein.Say(3, calls("a", "b")), skein.Say(4, answers("b"))},
		second: {
			created(skein.Created{Parent: &skein.Parent{Session: first, Seq: 4, Why: skein.Fork}}), skein.Say(5, skein.UserSays("another way")),
		},
	}, first, second)
	home, done := export(t, s, second)
	var roles []string
	for l := range strings.Lines(readFile(t, home, done[0].Spot.Path, "transcript.jsonl")) {
		var m struct {
			Role   string
			CallID string `json:"tool_call_id"`
		}
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatal(err)
		}
		roles = append(roles, strings.TrimSuffix(m.Role+":"+m.CallID, ":"))
	}
	if got, want := strings.Join(roles, " "), "user assistant tool:b tool:a assistant user"; got != want {
		t.Errorf("the fork's transcript is %s, want %s", got, want)
	}
}

func TestAForkThatEndsInCallsAnswersThemOnce(t *testing.T) {
	s := store(t, map[skein.SessionID][]skein.Event{
		first:  {created(skein.Created{}), skein.Say(2, skein.UserSays("go")), skein.Say(3, calls("a", "b")), skein.Say(4, answers("b"))},
		second: {created(skein.Created{Parent: &skein.Parent{Session: first, Seq: 4, Why: skein.Fork}})},
	}, first, second)
	home, done := export(t, s, second)
	lines := func(want string) {
		t.Helper()
		var roles []string
		for l := range strings.Lines(readFile(t, home, done[0].Spot.Path, "transcript.jsonl")) {
			var m struct {
				Role   string
				CallID string `json:"tool_call_id"`
			}
			if err := json.Unmarshal([]byte(l), &m); err != nil {
				t.Fatal(err)
			}
			roles = append(roles, strings.TrimSuffix(m.Role+":"+m.CallID, ":"))
		}
		if got := strings.Join(roles, " "); got != want {
			t.Errorf("the fork's transcript is %s, want %s", got, want)
		}
	}
	lines("user assistant tool:b tool:a")
	if rep := bring(t, s, home); rep.Events != 0 {
		t.Errorf("Import of what was exported = %+v, want nothing new", rep)
	}
	if _, err := s.Append(t.Context(), skein.Batch{Session: second, Events: []skein.Event{skein.Say(6, skein.UserSays("and now"))}}); err != nil {
		t.Fatal(err)
	}
	if _, err := writeback.Sync(t.Context(), s, amplifier.Format(), second); err != nil {
		t.Fatalf("Sync(%s) = %v", second, err)
	}
	lines("user assistant tool:b tool:a user")
	if rep := bring(t, s, home); rep.Events != 0 {
		t.Errorf("Import of what was written back = %+v, want nothing new", rep)
	}
}

func TestSubAgentsLieBesideTheirParent(t *testing.T) {
	s := store(t, map[skein.SessionID][]skein.Event{
		first: {
			created(skein.Created{}), skein.Say(2, skein.UserSays("go")), skein.Say(3, calls("a")),
			skein.NewEvent(skein.KindTool, 4, skein.ToolState{Call: "a", State: skein.Running, Child: second}), skein.Say(5, answers("a")),
		},
		second: {created(skein.Created{Agent: "Stock Keeper", Parent: &skein.Parent{Session: first, Seq: 3, Why: skein.Child, Call: "a"}}), skein.Say(4, skein.UserSays("count"))},
	}, first, second)
	home, done := export(t, s, first)
	if len(done) != 2 || !strings.HasSuffix(done[1].Spot.ID, "_agent") || filepath.Dir(done[0].Spot.Path) != filepath.Dir(done[1].Spot.Path) {
		t.Fatalf("Export = %+v, want a second session beside the first, with an underscore in its ID", done)
	}
	meta := readFile(t, home, done[1].Spot.Path, "metadata.json")
	if !strings.Contains(meta, `"parent_id": "`+string(first)+`"`) || !strings.Contains(meta, `"agent_name": "Stock Keeper"`) || strings.HasSuffix(meta, "\n") {
		t.Errorf("its metadata is\n%s\nwant the parent and the agent, and no line feed at the end", meta)
	}
	for _, d := range done {
		if err := os.Remove(d.Side); d.Side != "" && err != nil {
			t.Fatal(err)
		}
	}
	back := memory.New()
	defer back.Close()
	bring(t, back, home)
	child := session(t, back, done[1].Spot.ID)
	if child.Parent == nil || child.Parent.Session != first || child.Parent.Call != "a" || child.Agent != "Stock Keeper" {
		t.Errorf("read again without the side file it is %+v, want a child that the call a started", child)
	}
}

func TestSlugIsTheFoldersName(t *testing.T) {
	for dir, want := range map[string]string{
		"/home/user/projects/my-app": "-home-user-projects-my-app", "/tmp": "-tmp", `C:\projects\web-app`: "-C-projects-web-app", "/a-b": "-a-b", "/a/b": "-a-b", "/": "-", "": "-",
	} {
		if got := amplifier.Slug(dir); got != want {
			t.Errorf("Slug(%q) = %q, want %q", dir, got, want)
		}
	}
}

func TestAFileIsSpelledAsPythonSpells(t *testing.T) {
	s := store(t, map[skein.SessionID][]skein.Event{first: {created(skein.Created{}), skein.Say(2, skein.UserSays("é<&>\u2028\b\f\x1f\x7f\"\\/\n"))}}, first)
	home, done := export(t, s, first)
	want := `{"role": "user", "content": "é<&>` + "\u2028" + `\b\f\u001f` + "\x7f" + `\"\\/\n", "metadata": {"timestamp": "1970-01-01T00:00:00.002+00:00"}}` + "\n"
	if got := readFile(t, home, done[0].Spot.Path, "transcript.jsonl"); got != want {
		t.Errorf("the transcript is %q, want %q", got, want)
	}
	if want := "projects/-home-ann-shop/sessions/" + string(first); done[0].Spot.Path != want {
		t.Errorf("it lies in %s, want %s", done[0].Spot.Path, want)
	}
	info, err := os.Stat(filepath.Join(home, done[0].Spot.Path, "transcript.jsonl"))
	if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("the transcript has the mode %v, %v, want 0600", info.Mode(), err)
	}
	info, err = os.Stat(filepath.Join(home, done[0].Spot.Path))
	if used := session(t, s, string(first)).Updated; err != nil || skein.At(info.ModTime()) != used {
		t.Errorf("its folder has the time %v, %v, want %v, when something was last said", info.ModTime(), err, used)
	}
}

// Amplifier's store saves such a session too, if it is told to: its folder then
// has a transcript without lines, from which it continues.
func TestASessionWithoutWordsIsAFolderWithoutLines(t *testing.T) {
	s := store(t, map[skein.SessionID][]skein.Event{first: {created(skein.Created{Title: "Pears"})}}, first)
	home, done := export(t, s, first)
	if got := readFile(t, home, done[0].Spot.Path, "transcript.jsonl"); got != "" {
		t.Errorf("its transcript is %q, want no line", got)
	}
	if got := readFile(t, home, done[0].Spot.Path, "metadata.json"); !strings.Contains(got, `"turn_count": 0`) || !strings.Contains(got, `"name": "Pears"`) {
		t.Errorf("its metadata is %s, want no turns and the name", got)
	}
	if err := os.Remove(done[0].Side); err != nil {
		t.Fatal(err)
	}
	back := memory.New()
	defer back.Close()
	bring(t, back, home)
	if got := session(t, back, string(first)); got.Title != "Pears" || got.Messages != 0 {
		t.Errorf("read again it is %+v, want the title and no message", got)
	}
}
