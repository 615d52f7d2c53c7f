package atif

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

const at = skein.Time(1795230386350)

// export writes a session to a new folder and returns that and the documents.
func export(t *testing.T, s *memory.Store, id skein.SessionID) (dir string, done []writeback.Exported) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	done, err = writeback.Export(t.Context(), s, Format(), id, dir, writeback.Exports{NoSide: true})
	if err != nil {
		t.Fatalf("Export(%s) = %v", id, err)
	}
	return dir, done
}

func store(t *testing.T, id skein.SessionID, blobs []skein.Blob, evs ...skein.Event) *memory.Store {
	t.Helper()
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	add(t, s, id, blobs, evs...)
	return s
}

func add(t *testing.T, s *memory.Store, id skein.SessionID, blobs []skein.Blob, evs ...skein.Event) {
	t.Helper()
	if _, err := s.Append(t.Context(), skein.Batch{Session: id, Events: evs, Blobs: blobs}); err != nil {
		t.Fatal(err)
	}
}

func begins(c skein.Created) skein.Event {
	c.Agent, c.Provider, c.Model = "pear", "anthropic", "m-1"
	return skein.NewEvent(skein.KindCreated, at, c)
}

func agent(parts ...skein.Part) skein.Message {
	return skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: "m-1", Parts: parts}
}

func call(id, input string) skein.Part {
	return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: "bash", Input: []byte(input)}}
}

func result(id, text string) skein.Message {
	return skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: id, Text: skein.Text(text)}}}}
}

// everything is a session with most kinds of content.
func everything(t *testing.T) *memory.Store {
	blob := skein.NewBlob([]byte("\x89PNG\r\n\x1a\n pear"))
	look := skein.UserSays("look")
	look.Parts = append(look.Parts, skein.Part{Kind: skein.PartFile, File: &skein.File{Media: "image/png", Blob: blob.Hash, Size: 13}})
	asks := agent(skein.Part{Kind: skein.PartReasoning, Text: "hm"}, skein.TextPart("I"), call("c1", `{"a":1.50}`), call("c2", `"x"`))
	asks.Usage = &skein.Usage{Input: 10, Output: 5, CacheRead: 100, CacheWrite: 20, Reasoning: 2, Reported: 1_500_000}
	s := store(t, "s1", []skein.Blob{blob}, begins(skein.Created{Title: "Pears", Cwd: "/home/ada"}), skein.Say(at, look), skein.Say(at+1, asks),
		skein.NewEvent(skein.KindTool, at+2, skein.ToolState{Call: "c1", State: skein.Completed, Child: "s1-child"}),
		skein.Say(at+2, result("c1", "A")),
		skein.Say(at+3, skein.Message{Role: skein.RoleSteer, Parts: []skein.Part{skein.TextPart("hurry")}}),
		skein.Say(at+4, result("c2", "B")), skein.Say(at+5, result("c9", "nobody's")),
		skein.NewEvent(skein.KindCompacted, at+6, skein.Compacted{To: 4, Summary: "they looked", Before: 9, After: 3}),
		skein.Say(at+7, agent(skein.TextPart("one"), skein.TextPart("two"))),
		skein.Say(at+8, skein.Message{Role: skein.RoleSystem, Parts: []skein.Part{skein.TextPart("be good")}}))
	add(t, s, "s1-child", nil, begins(skein.Created{Parent: &skein.Parent{Session: "s1", Why: skein.Child, Call: "c1"}}), skein.Say(at+2, skein.UserSays("help")))
	return s
}

func TestWhatIsWrittenKeepsTheSpecificationsRules(t *testing.T) {
	dir, done := export(t, everything(t), "s1")
	if len(done) != 2 {
		t.Fatalf("Export writes %d sessions, want 2", len(done))
	}
	for _, d := range done {
		data, err := os.ReadFile(filepath.Join(dir, d.Spot.Path))
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range wrongs(data) {
			t.Errorf("%s: %s\n%s", d.Spot.Path, wrong, data)
		}
	}
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	dir, done := export(t, everything(t), "s1")
	want := []string{
		"inputs of tools that are not objects: as the member input of one",
		"results that came later: at the step of their call",
		"results without a call in the same document: of the environment",
	}
	var lost []string
	for _, l := range done[0].Losses {
		lost = append(lost, l.What)
	}
	if slices.Sort(lost); !slices.Equal(lost, want) {
		t.Errorf("losses are %q, want %q", lost, want)
	}
	s := memory.New()
	defer s.Close()
	rep, err := importer.Import(t.Context(), s, []interop.Format{Format()}, []string{dir}, interop.Options{})
	if err != nil || rep.Sessions != 2 || rep.Damaged+rep.Skipped != 0 {
		t.Fatalf("Import = %+v, %v, want 2 sessions", rep, err)
	}
	got, err := s.Session(t.Context(), "s1")
	if u := (skein.Usage{Input: 10, Output: 5, CacheRead: 100, CacheWrite: 20, Reasoning: 2, Reported: 1_500_000, Requests: 1}); err != nil || got.Usage != u || got.Title != "Pears" || got.Agent != "pear" {
		t.Errorf("s1 is %+v, %v, want its title and usage %+v", got, err, u)
	}
	if c, err := s.Session(t.Context(), "s1-child"); err != nil || c.Parent == nil || c.Parent.Session != "s1" || c.Parent.Call != "c1" {
		t.Errorf("s1-child is %+v, %v, want a child of s1 by c1", c, err)
	}
	wants := `user: look, file | assistant: hm, I, bash{"a":1.50}, bash{"input":"x"} | tool: =A, =B | steer: hurry | tool: =nobody's | assistant: one, two | system: be good`
	if is := words(t, s, "s1"); is != wants {
		t.Errorf("s1 says\n%s\nwant\n%s", is, wants)
	}
}

func words(t *testing.T, s *memory.Store, id skein.SessionID) string {
	t.Helper()
	var evs []skein.Event
	for e, err := range s.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		evs = append(evs, e)
	}
	entries, err := skein.Entries(evs)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, en := range entries {
		var parts []string
		for _, p := range en.Message.Parts {
			switch {
			case p.Call != nil:
				parts = append(parts, p.Call.Name+string(p.Call.Input))
			case p.Result != nil:
				parts = append(parts, "="+string(p.Result.Text))
			case p.File != nil && p.File.Blob != "":
				parts = append(parts, "file")
			default:
				parts = append(parts, string(p.Text))
			}
		}
		all = append(all, string(en.Message.Role)+": "+strings.Join(parts, ", "))
	}
	return strings.Join(all, " | ")
}

func TestASessionWithoutWordsIsNoTrajectory(t *testing.T) {
	s := store(t, "s1", nil, begins(skein.Created{}))
	if _, err := writeback.Export(t.Context(), s, Format(), "s1", t.TempDir(), writeback.Exports{}); err == nil {
		t.Error("Export of a session without messages = nil, want an error: steps must not be empty")
	}
}

// wrongs returns the rules of the reference implementation that a document breaks: no
// unknown members, steps counted from 1, members that only the agent's steps may
// have, results of calls of the same step.
func wrongs(data []byte) (all []string) {
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		return []string{err.Error()}
	}
	only := func(what string, v any, names ...string) map[string]any {
		m, _ := v.(map[string]any)
		for name := range m {
			if !slices.Contains(names, name) {
				all = append(all, what+" has a member "+name)
			}
		}
		return m
	}
	list := func(v any) []any { l, _ := v.([]any); return l }
	only("root", doc, "schema_version", "session_id", "trajectory_id", "agent", "steps", "notes", "final_metrics", "continued_trajectory_ref", "extra", "subagent_trajectories")
	if a := only("agent", doc["agent"], "name", "version", "model_name", "tool_definitions", "extra"); a["name"] == nil || a["version"] == nil {
		all = append(all, "agent has no name or version")
	}
	only("final", doc["final_metrics"], "total_prompt_tokens", "total_completion_tokens", "total_cached_tokens", "total_cost_usd", "total_steps", "extra")
	if len(list(doc["steps"])) == 0 {
		all = append(all, "there are no steps")
	}
	content := func(v any) {
		for _, p := range list(v) {
			m := only("part", p, "type", "text", "source")
			if (m["type"] == "text") != (m["text"] != nil) || (m["type"] == "image") != (m["source"] != nil) {
				all = append(all, "a part is neither text nor image")
			}
			only("source", m["source"], "media_type", "path")
		}
	}
	for i, v := range list(doc["steps"]) {
		s := only("step", v, "step_id", "timestamp", "source", "model_name", "reasoning_effort", "message", "reasoning_content", "tool_calls", "observation", "metrics", "is_copied_context", "llm_call_count", "extra")
		if s["step_id"] != float64(i+1) || s["message"] == nil {
			all = append(all, "a step has a wrong step_id or no message")
		}
		if s["source"] != "agent" && (s["model_name"] != nil || s["reasoning_content"] != nil || s["tool_calls"] != nil || s["metrics"] != nil) {
			all = append(all, "a step that is not the agent's has what only those have")
		}
		content(s["message"])
		calls := map[any]bool{}
		for _, c := range list(s["tool_calls"]) {
			m := only("call", c, "tool_call_id", "function_name", "arguments", "extra")
			if _, ok := m["arguments"].(map[string]any); !ok {
				all = append(all, "arguments are no object")
			}
			calls[m["tool_call_id"]] = true
		}
		only("metrics", s["metrics"], "prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd", "prompt_token_ids", "completion_token_ids", "logprobs", "extra")
		for _, r := range list(only("observation", s["observation"], "results")["results"]) {
			m := only("result", r, "source_call_id", "content", "subagent_trajectory_ref", "extra")
			if id := m["source_call_id"]; id != nil && !calls[id] {
				all = append(all, "a result is of no call of its step")
			}
			content(m["content"])
			for _, ref := range list(m["subagent_trajectory_ref"]) {
				if f := only("ref", ref, "trajectory_id", "session_id", "trajectory_path", "extra"); f["trajectory_id"] == nil && f["trajectory_path"] == nil {
					all = append(all, "a reference refers to nothing")
				}
			}
		}
	}
	return all
}
