package remember_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/agent/tool/remember"
)

func TestRememberKeepsReplacesAndForgets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "config")
	keep := remember.New(dir)
	for _, step := range []struct{ input, answer, want string }{
		{`{"file":"MEMORY.md","text":"uses fish"}`, "changed ", "uses fish\n"},
		{`{"file":"MEMORY.md","text":" likes tea\n"}`, "changed ", "uses fish\nlikes tea\n"},
		{`{"file":"MEMORY.md","text":"uses fish"}`, "already has this", "uses fish\nlikes tea\n"},
		{`{"file":"MEMORY.md","text":"likes coffee","replaces":"likes tea"}`, "changed ", "uses fish\nlikes coffee\n"},
		{`{"file":"MEMORY.md","replaces":"uses fish"}`, "changed ", "likes coffee\n"},
		{`{"file":"MEMORY.md","replaces":"uses fish"}`, "does not contain this text", "likes coffee\n"},
		{`{"file":"MEMORY.md","replaces":"e","text":"x"}`, "more than once", "likes coffee\n"},
		{`{"file":"MEMORY.md"}`, "text: empty", "likes coffee\n"},
		{`{"file":"../x.md","text":"a"}`, "want USER.md or MEMORY.md", "likes coffee\n"},
		{`{"file":"MEMORY.md","text":"` + strings.Repeat("x", 33<<10) + `"}`, "replace or remove something first", "likes coffee\n"},
	} {
		out, err := keep.Run(t.Context(), tool.Call{Input: json.RawMessage(step.input)})
		if err != nil {
			out.Text = err.Error()
		}
		got, rerr := os.ReadFile(filepath.Join(dir, "MEMORY.md"))
		if rerr != nil || string(got) != step.want || !strings.Contains(out.Text, step.answer) {
			t.Errorf("remember %.80s answers %q, and the file says %q, %v; want %q and %q", step.input, out.Text, got, rerr, step.answer, step.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("the folder has %v, %v, want the file and its lock", left, err)
	}
}

func TestRememberAsksAndShowsAllOfIt(t *testing.T) {
	keep := remember.New("/cfg")
	q := keep.Ask(tool.Call{Input: json.RawMessage(`{"file":"USER.md","text":"a\u001b[2J\nb","replaces":"c"}`)})
	if !strings.Contains(q, "USER.md, which every later session reads?\n- c\n+ a\\x1b[2J\n+ b") {
		t.Errorf("the question is %q", q)
	}
	if q := keep.Ask(tool.Call{Input: json.RawMessage(`{"file":"x"}`)}); q != "" {
		t.Errorf("of what is not run the question is %q", q)
	}
}

func TestRememberLosesNoLineWhereAgentsWriteAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "config")
	const agents = 40
	var all sync.WaitGroup
	for i := range agents {
		keep := remember.New(dir)
		all.Go(func() {
			if _, err := keep.Run(t.Context(), tool.Call{Input: json.RawMessage(fmt.Sprintf(`{"file":"MEMORY.md","text":"line %d"}`, i))}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := os.ReadFile(filepath.Join(dir, "MEMORY.md")); err != nil || strings.Count(string(got), "line ") != agents {
		t.Errorf("of %d lines the file has %d: %q, %v", agents, strings.Count(string(got), "line "), got, err)
	}
}
