package codex

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

const (
	wrappedFile = "rollout-2025-09-10T09-00-00-01993311-2222-7bbb-8bbb-00000000c002.jsonl"
	newestFile  = "rollout-2026-04-28T09-00-00-019de000-3333-7ccc-8ccc-00000000d003.jsonl"
)

func testLines(t testing.TB, name string) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

var stamps = regexp.MustCompile(`^\{"timestamp":"[^"]*"`)

// forkOf returns the rollout of a fork: its own meta, the lines of its parent
// under new times, and lines of its own.
func forkOf(id, parent, source string, replayed []string, own ...string) (name, text string) {
	lines := []string{wrap("session_meta", fmt.Sprintf(`{"id":%q,"forked_from_id":%q,"timestamp":"2026-06-01T00:00:00.000Z","cwd":"/home/ada/elsewhere","originator":"codex_cli_rs","cli_version":"0.130.0","source":%s,"model_provider":"other"}`, id, parent, source))}
	for _, l := range replayed {
		lines = append(lines, stamps.ReplaceAllString(l, `{"timestamp":"2026-06-01T00:00:00.001Z"`))
	}
	lines = append(lines, own...)
	return "rollout-2026-06-01T00-00-00-" + id + ".jsonl", strings.Join(lines, "\n") + "\n"
}

// made returns the kinds and payloads of m under its key.
func made(m interop.Made) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s", m.Key)
	for _, it := range m.Items {
		fmt.Fprintf(&b, "\n%s %s", it.Event.Kind, it.Event.Payload)
	}
	return b.String()
}

// shared returns how many of the fork's records with items are also the parent's, and
// how many are not.
func shared(parent, fork []interop.Made) (same, own int) {
	has := map[string]bool{}
	for _, m := range parent {
		if counts(m) {
			has[made(m)] = true
		}
	}
	for _, m := range fork {
		switch {
		case !counts(m):
		case has[made(m)]:
			same++
		default:
			own++
		}
	}
	return same, own
}

// counts reports whether a record makes events, and not only of its thread's
// name and meta.
func counts(m interop.Made) bool {
	return len(m.Items) > 0 && !strings.HasPrefix(string(m.Key), "cx:thread:") && m.Items[0].Event.Kind != skein.KindTitled &&
		!bytes.Contains(m.Items[0].Event.Payload, []byte("thread_name"))
}

func steps(all []interop.Made) (n int) {
	for _, m := range all {
		if counts(m) {
			n++
		}
	}
	return n
}

const (
	forkID   = "019f0000-5555-7eee-8eee-00000000f005"
	secondID = "019f0000-6666-7eee-8eee-00000000f006"
)

var ownPrompt = response(`{"type":"message","role":"user","content":"something else"}`)

func TestAReplayHasTheKeysOfItsParent(t *testing.T) {
	for _, file := range []string{wrappedFile, newestFile} {
		lines := testLines(t, file)
		parent := readAll(t, file, strings.Join(lines, "\n"))
		id := idOfName(file)
		name, text := forkOf(forkID, id, `"cli"`, lines, ownPrompt)
		fork := readAll(t, name, text)
		if same, own := shared(parent, fork); same != steps(parent) || own != 1 {
			t.Errorf("fork of %s: %d records are the parent's and %d its own, want %d and 1", file, same, own, steps(parent))
		}
		if b := fork[0].Begin; len(b) != 1 || b[0].ID != forkID || b[0].ParentID != "" {
			t.Errorf("fork of %s begins with %+v, want the session %s", file, b, forkID)
		}
	}
}

func TestAForkOfAForkHasTheKeysOfBoth(t *testing.T) {
	lines := testLines(t, wrappedFile)
	first := idOfName(wrappedFile)
	name, text := forkOf(forkID, first, `"cli"`, lines[:20], ownPrompt)
	middle := readAll(t, name, text)
	name, text2 := forkOf(secondID, forkID, `"cli"`, strings.Split(strings.TrimSpace(text), "\n"), response(`{"type":"message","role":"user","content":"and more"}`))
	last := readAll(t, name, text2)
	if same, own := shared(middle, last); same != steps(middle) || own != 1 {
		t.Errorf("fork of a fork: %d records are the middle one's and %d its own, want %d and 1", same, own, steps(middle))
	}
}

func TestAReplayThatLeavesLinesOutKeepsTheOthersKeys(t *testing.T) {
	lines := testLines(t, newestFile)
	parent := readAll(t, newestFile, strings.Join(lines, "\n"))
	var kept []string
	for _, l := range lines {
		if !strings.Contains(l, `"exec_command_end"`) && !strings.Contains(l, `"mcp_tool_call_end"`) {
			kept = append(kept, l)
		}
	}
	name, text := forkOf(forkID, idOfName(newestFile), `"cli"`, kept)
	if same, own := shared(parent, readAll(t, name, text)); same != steps(parent)-3 || own != 0 {
		t.Errorf("%d records are the parent's and %d are not, want %d and 0", same, own, steps(parent)-3)
	}
}

func TestAReplayOfTheLastTurnsHasTheKeysOfThose(t *testing.T) {
	lines := testLines(t, newestFile)
	parent := readAll(t, newestFile, strings.Join(lines, "\n"))
	var from int
	for i, l := range lines {
		if strings.Contains(l, `"task_started"`) && i > 10 {
			from = i
			break
		}
	}
	name, text := forkOf(forkID, idOfName(newestFile), `{"subagent":{"thread_spawn":{"parent_thread_id":"`+idOfName(newestFile)+`","depth":1}}}`, lines[from:])
	fork := readAll(t, name, text)
	// The first turn_context repeats all settings, and so does each record whose
	// place in the message depends on what was left out.
	if same, own := shared(parent, fork); same < 20 || own > 2 {
		t.Errorf("%d records are the parent's and %d are not, want at least 20 and at most 2\n%s", same, own, dump(fork))
	}
	if b := fork[0].Begin[0]; b.Created.Parent.Why != skein.Child {
		t.Errorf("sub-agent begins as %+v, want a child", b.Created.Parent)
	}
}

func TestTheSameWordsInAnotherThreadAreNoReplay(t *testing.T) {
	for _, file := range []string{wrappedFile, newestFile} {
		text := strings.Join(testLines(t, file), "\n")
		other := strings.ReplaceAll(strings.ReplaceAll(text, idOfName(file), forkID), "019de000-7001", "019f0000-7001")
		a := readAll(t, file, text)
		b := readAll(t, strings.Replace(file, idOfName(file), forkID, 1), other)
		if same, own := shared(a, b); same != 0 || own != steps(a) {
			t.Errorf("%s once more in another thread: %d records are the first's, want 0", file, same)
		}
	}
}

func TestSubAgentsAreChildren(t *testing.T) {
	for source, want := range map[string]string{
		`{"subagent":{"thread_spawn":{"parent_thread_id":"p1","depth":1,"agent_role":"explorer"}}}`: "p1|child|subagent|explorer",
		`{"subagent":"review"}`:               "||subagent|review",
		`{"subagent":{"other":"guardian"}}`:   "||subagent|guardian",
		`{"custom":"my_tool"}`:                "||my_tool|",
		`{"internal":"memory_consolidation"}`: "|||",
		`"exec"`:                              "||exec|",
		`null`:                                "|||",
	} {
		m := one(t, wrap("session_meta", `{"id":"019de000-0000-7000-8000-00000000000a","source":`+source+`}`))
		b := m.Begin[0]
		why := skein.Why("")
		if b.Created.Parent != nil {
			why = b.Created.Parent.Why
		}
		if got := fmt.Sprintf("%s|%s|%s|%s", b.ParentID, why, b.Created.Surface, b.Created.Profile); got != want {
			t.Errorf("source %s begins as %q, want %q", source, got, want)
		}
	}
}

func TestAThreadWithoutItsMetaIsNamedByItsFile(t *testing.T) {
	parent := wrap("session_meta", `{"id":"019de000-9999-7000-8000-000000000009","cwd":"/x"}`)
	all := readAll(t, testName, parent+"\n"+ownPrompt)
	if len(all[0].Items) != 0 || len(all[1].Begin) != 1 || all[1].Begin[0].ID != "019de000-0000-7000-8000-00000000000a" {
		t.Errorf("a rollout whose own meta is missing makes\n%swant the session of its file name", dump(all))
	}
	all = readAll(t, "odd name.jsonl", ownPrompt)
	if id := all[0].Begin[0].ID; !strings.HasPrefix(string(id), "codex-") || id.Check() != nil {
		t.Errorf("a file without meta and ID begins the session %q, want codex-…", id)
	}
}

func TestALateMetaStillTellsTheDirectory(t *testing.T) {
	all := readAll(t, testName, ownPrompt+"\n"+wrap("session_meta", `{"id":"019de000-0000-7000-8000-00000000000a","cwd":"/home/ada"}`))
	if c := decode[skein.Changed](t, all[1], skein.KindChanged); c.Cwd == nil || *c.Cwd != "/home/ada" {
		t.Errorf("late meta changes %+v, want the directory /home/ada", c)
	}
}
