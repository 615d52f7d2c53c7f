package interoptest

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// writtenBack checks, for a format that can be written: a session that continues here
// after it was imported is written back to where it came from, its own program (another
// import, here) finds what is new after what was there, and repeating it changes
// nothing. through returns the store as the sync sees it.
func (s writes) writtenBack(t *testing.T, name string, through func(*testing.T, skein.Store) skein.Store) {
	root := lay(t, filepath.Join(s.Dir, name))
	store := memory.New()
	defer store.Close()
	s.bring(t, store, root)
	before, synced := snapshot(t, root), 0
	for _, id := range roots(t, store) {
		sess, err := store.Session(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		if sess.Messages == 0 {
			continue
		}
		at := sess.Updated + 1000
		answer := skein.Message{Role: skein.RoleAssistant, Provider: sess.Provider, Model: sess.Model, Parts: []skein.Part{skein.TextPart("<Gladly> & at once.")}}
		finish := skein.NewEvent(skein.KindStep, at+1000, skein.Step{Phase: "finish"}) // something that a format has no line for comes last
		if _, err := skein.Add(context.Background(), store, id, skein.Say(at, skein.UserSays("go on,\nplease")), skein.Say(at+1000, answer), finish); err != nil {
			t.Fatal(err)
		}
		seen := through(t, store)
		done, err := writeback.Sync(context.Background(), seen, s.Format, id)
		if errors.Is(err, skein.ErrInvalid) {
			continue // it has no file of its own
		}
		if err != nil || done.Events != 3 {
			t.Errorf("Sync(%s) = %+v, %v, want 3 events written", id, done, err)
			continue
		}
		if h, ok := seen.(hurt); ok && (h.events[id] > 0) != (len(done.Damaged) > 0) {
			t.Errorf("Sync(%s) names %q as damaged, want event %d", id, done.Damaged, h.events[id])
		}
		if done, err := writeback.Sync(context.Background(), seen, s.Format, id); err != nil || done.Events != 0 {
			t.Errorf("Sync(%s) again = %+v, %v, want nothing new", id, done, err)
		}
		synced++
	}
	if oneWay := slices.Contains(s.OneWay, name); oneWay != (synced == 0) {
		t.Fatalf("%d sessions of %s were written back; is it one of Suite.OneWay: %v", synced, name, oneWay)
	}
	if synced == 0 {
		if diff := cmp.Diff(before, snapshot(t, root)); diff != "" {
			t.Errorf("Sync refused every session of %s, and its files changed (-before +after):\n%s", name, diff)
		}
		return
	}
	if rep := s.bring(t, store, root); rep.Events != 0 {
		t.Errorf("Import of what was written back = %+v, want nothing new", rep)
	}
	fresh := memory.New()
	defer fresh.Close()
	touch(t, root, 1) // otherwise a file that others copy would be younger than they are
	s.bring(t, fresh, root)
	was, is := said(t, store), said(t, fresh)
	for i := range is { // what its program has somewhere else is said where it continues, if it can be read here
		if len(is) == len(was) && strings.Contains(is[i], "is damaged: "+skein.ErrSum.Error()) {
			is[i] = was[i]
		}
	}
	if diff := cmp.Diff(was, is); diff != "" {
		t.Errorf("read again after it was written back (-session +file):\n%s", diff)
	}
}

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
		s.tells(t, addedProperty{evs: evs, held: func(_ skein.Session, back []skein.Event) bool {
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

// cutOff checks that files that answer a call without a result say what is known of
// it: a call that has not run has not taken effect.
func (s writes) cutOff(t *testing.T) {
	for _, state := range []skein.CallState{skein.Pending, skein.Uncertain} {
		c := usualCalls()[0]
		c.ID = "toolu_2"
		at := skein.At(epoch) + 6500
		evs := []skein.Event{
			skein.Say(at, skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: "claude-sonnet-4-5", Parts: []skein.Part{{Kind: skein.PartCall, Call: &c}}}),
			skein.NewEvent(skein.KindTool, at+5, skein.ToolState{Call: c.ID, State: state}),
			skein.Say(at+10, skein.UserSays("Go on.")),
		}
		s.tells(t, addedProperty{evs: evs, held: func(_ skein.Session, back []skein.Event) bool {
			for _, e := range back {
				m, err := skein.Decode[skein.Message](e)
				if e.Kind != skein.KindSaid || err != nil {
					continue
				}
				for _, p := range m.Parts {
					if r := p.Result; r != nil && r.Failed && r.Text != state.Unanswered() && !strings.HasPrefix(string(r.Text), "{") { // the program's own words
						t.Errorf("of a call in the state %q it is told that %q, want %q", state, r.Text, state.Unanswered())
					}
				}
			}
			return true
		}})
	}
}
