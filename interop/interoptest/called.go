package interoptest

import (
	"slices"
	"testing"

	"github.com/skein-dev/skein"
)

// usualCalls are calls of the tools that every agent has, as several agents name them:
// Claude Code, Codex, Gemini CLI, Cline, pi.
func usualCalls() []skein.Call {
	return []skein.Call{
		{Name: "Bash", Input: []byte(`{"command":"ls"}`)},
		{Name: "exec_command", Input: []byte(`{"cmd":"ls"}`)},
		{Name: "run_shell_command", Input: []byte(`{"command":"ls"}`)},
		{Name: "execute_command", Input: []byte(`{"command":"ls","requires_approval":"false"}`)},
		{Name: "Read", Input: []byte(`{"file_path":"/home/ada/pear/a.go"}`)},
		{Name: "read_file", Input: []byte(`{"absolute_path":"/home/ada/pear/a.go"}`)},
		{Name: "read_file", Input: []byte(`{"path":"a.go"}`)},
		{Name: "Write", Input: []byte(`{"file_path":"/home/ada/pear/a.go","content":"package a\n"}`)},
		{Name: "write_file", Input: []byte(`{"file_path":"/home/ada/pear/a.go","content":"package a\n"}`)},
		{Name: "write_to_file", Input: []byte(`{"path":"a.go","content":"package a\n"}`)},
		{Name: "Edit", Input: []byte(`{"file_path":"/home/ada/pear/a.go","old_string":"a","new_string":"b"}`)},
		{Name: "replace", Input: []byte(`{"file_path":"/home/ada/pear/a.go","old_string":"a","new_string":"b"}`)},
		{Name: "edit", Input: []byte(`{"path":"a.go","oldText":"a","newText":"b"}`)},
		{Name: "Grep", Input: []byte(`{"pattern":"pears"}`)},
		{Name: "search_files", Input: []byte(`{"path":".","regex":"pears","file_pattern":"*.go"}`)},
		{Name: "Glob", Input: []byte(`{"pattern":"*.go"}`)},
		{Name: "list_files", Input: []byte(`{"path":".","recursive":"true"}`)},
		{Name: "list_directory", Input: []byte(`{"path":"/home/ada/pear"}`)},
	}
}

// called checks, for a format that can be written: what other agents' tools did that
// its program can do too is written as calls with their results, not as text.
func (s writes) called(t *testing.T) {
	for _, c := range usualCalls() {
		c.ID = "toolu_2"
		at := skein.At(epoch) + 6500
		evs := []skein.Event{
			skein.Say(at, skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: "claude-sonnet-4-5", Parts: []skein.Part{{Kind: skein.PartCall, Call: &c}}}),
			skein.Say(at+10, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: c.ID, Name: c.Name, Text: "quinces"}}}}),
		}
		var calls, results int
		s.tells(t, added{evs: evs, held: func(_ skein.Session, back []skein.Event) bool {
			for _, e := range back {
				m, err := skein.Decode[skein.Message](e)
				if e.Kind != skein.KindSaid || err != nil {
					continue
				}
				for _, p := range m.Parts {
					if p.Call != nil {
						calls++
					}
				}
				if slices.ContainsFunc(m.Parts, func(p skein.Part) bool { return p.Result != nil }) {
					results++
				}
			}
			return true
		}})
		if calls != 2 || results != 2 { // the other one is in every session that is written this way
			t.Errorf("of %s %s there are %d calls and %d results, want 2 of each", c.Name, c.Input, calls, results)
		}
	}
}
