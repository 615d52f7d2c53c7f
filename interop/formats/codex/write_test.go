package codex

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// epoch is when the sessions of these tests begin.
const epoch skein.Time = 1795230386310

// An exporting is a store and a home of Codex that it is written to.
type exporting struct {
	*testing.T
	store *memory.Store
	home  string
	done  []writeback.Exported
}

func newExporting(t *testing.T) *exporting {
	t.Helper()
	x := &exporting{T: t, store: memory.New(), home: t.TempDir()}
	t.Cleanup(func() { x.store.Close() })
	return x
}

// begin makes a session of another agent.
func (x *exporting) begin(id skein.SessionID, c skein.Created, evs ...skein.Event) {
	x.Helper()
	evs = append([]skein.Event{skein.NewEvent(skein.KindCreated, epoch, c)}, evs...)
	if _, err := x.store.Append(x.Context(), skein.Batch{Session: id, Events: evs}); err != nil {
		x.Fatal(err)
	}
}

func (x *exporting) export(id skein.SessionID) {
	x.Helper()
	done, err := writeback.Export(x.Context(), x.store, Format(), id, x.home, writeback.Exports{NoSide: true})
	if err != nil {
		x.Fatalf("Export(%s) = %v", id, err)
	}
	x.done = done
}

// lines returns type and payload of the lines of a rollout, of all types or of
// those named.
func (x *exporting) lines(path string, types ...string) (all []string) {
	x.Helper()
	b, err := os.ReadFile(filepath.Join(x.home, filepath.FromSlash(path)))
	if err != nil {
		x.Fatal(err)
	}
	for l := range bytes.Lines(b) {
		var in struct {
			Type    string
			Payload json.RawMessage
		}
		if err := json.Unmarshal(l, &in); err != nil || !bytes.HasSuffix(l, []byte("\n")) {
			x.Fatalf("%s has the line %q, %v, want JSON Lines", path, l, err)
		}
		if len(types) == 0 || strings.Contains(strings.Join(types, " "), in.Type) {
			all = append(all, string(in.Payload))
		}
	}
	return all
}

// calls writes one call with its result, and returns their items.
func callAndResult(t *testing.T, c skein.Call, r skein.Result) (items []string, x *exporting) {
	t.Helper()
	x = newExporting(t)
	c.ID, r.CallID, r.Name = "toolu_1", "toolu_1", c.Name
	x.begin("0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23", skein.Created{Cwd: "/home/ada/pear"},
		skein.Say(epoch+1000, skein.UserSays("do it")),
		skein.Say(epoch+2000, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{{Kind: skein.PartCall, Call: &c}}}),
		skein.Say(epoch+3000, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &r}}}))
	x.export("0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23")
	return x.lines(x.done[0].Spot.Path, typeItem)[1:], x
}

func TestARolloutBeginsWithWhatCodexWants(t *testing.T) {
	x := newExporting(t)
	if err := os.WriteFile(filepath.Join(x.home, "config.toml"), []byte("model = \"m\"\n'model_provider' = \"azure\" # ours\n[x]\nmodel_provider = \"no\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x.begin("0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23", skein.Created{Title: "Pears <3", Cwd: "/home/ada/pear", Provider: "anthropic", Model: "claude"}, skein.Say(epoch+1000, skein.UserSays("how many <pears>?")),
		skein.Say(epoch+2000, skein.Message{Role: skein.RoleAssistant, Usage: &skein.Usage{Input: 10, CacheRead: 5, Output: 3}, Parts: []skein.Part{skein.TextPart("Two.")}}))
	x.export("0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23")
	const path = "sessions/2026/11/21/rollout-2026-11-21T03-06-26-0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23.jsonl"
	if got := x.done[0].Spot.Path; got != path {
		t.Fatalf("it is written to %s, want %s", got, path)
	}
	turn := uuidOf("codex turn 2 1795230386310" + string(skein.MustJSON(skein.Created{Title: "Pears <3", Cwd: "/home/ada/pear", Provider: "anthropic", Model: "claude"})))
	want := []string{
		`{"id":"0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23","timestamp":"2026-11-21T03:06:26.310Z","cwd":"/home/ada/pear","originator":"skein","cli_version":"0.169.0","source":"cli","model_provider":"azure"}`,
		`{"type":"task_started","turn_id":"` + turn + `","started_at":1795230387,"model_context_window":null}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"how many <pears>?"}]}`,
		`{"type":"user_message","message":"how many <pears>?","images":[],"local_images":[],"text_elements":[]}`,
		`{"type":"agent_message","message":"Two.","phase":null}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Two."}]}`,
		`{"type":"token_count","info":{"total_token_usage":{"input_tokens":15,"cached_input_tokens":5,"cache_write_input_tokens":0,"output_tokens":3,"reasoning_output_tokens":0,"total_tokens":18},"last_token_usage":{"input_tokens":15,"cached_input_tokens":5,"cache_write_input_tokens":0,"output_tokens":3,"reasoning_output_tokens":0,"total_tokens":18},"model_context_window":null},"rate_limits":null}`,
		`{"type":"task_complete","turn_id":"` + turn + `","last_agent_message":"Two.","completed_at":1795230388}`,
	}
	if diff := cmp.Diff(want, x.lines(path)); diff != "" {
		t.Errorf("the rollout (-want +got):\n%s", diff)
	}
	index, err := os.ReadFile(filepath.Join(x.home, "session_index.jsonl"))
	if want := `{"id":"0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23","thread_name":"Pears <3","updated_at":"2026-11-21T03:06:28.31Z"}` + "\n"; err != nil || string(index) != want {
		t.Errorf("session_index.jsonl is %s, %v, want %s", index, err, want)
	}
}

func TestCallsBecomeThoseOfCodexTools(t *testing.T) {
	run := func(cmd string) string {
		in := string(skein.MustJSON(map[string]string{"cmd": cmd}))
		return `{"type":"function_call","name":"exec_command","arguments":` + string(skein.MustJSON(in)) + `,"call_id":"toolu_1"}`
	}
	patched := func(text string) string {
		return `{"type":"custom_tool_call","status":"completed","call_id":"toolu_1","name":"apply_patch","input":` + string(skein.MustJSON(text)) + `}`
	}
	for _, c := range []struct{ name, input, want string }{
		{"Bash", `{"command":"ls && echo 'x'","description":"list","timeout":5}`, run("ls && echo 'x'")},
		{"shell", `{"command":["bash","-lc","ls | wc"]}`, run("ls | wc")},
		{"run_shell_command", `{"command":["grep","-c","a b","x"]}`, run("grep -c 'a b' x")},
		{"bash", `{"command":"ls","cwd":"/tmp"}`, `{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\",\"workdir\":\"/tmp\"}","call_id":"toolu_1"}`},
		{"Read", `{"file_path":"a b.go"}`, run("cat 'a b.go'")},
		{"read_file", `{"path":"a.go","offset":10,"limit":5}`, run("sed -n 10,14p a.go")},
		{"Grep", `{"pattern":"it's","path":"src","glob":"*.go"}`, run(`rg -n -g '*.go' -e 'it'\''s' src`)},
		{"glob", `{"pattern":"**/*.md"}`, run("rg --files -g '**/*.md'")},
		{"LS", `{"path":"/x"}`, run("ls -la /x")},
		{"Write", `{"file_path":"n.txt","content":"a\nb\n"}`, patched("*** Begin Patch\n*** Add File: n.txt\n+a\n+b\n*** End Patch")},
		{"Edit", `{"file_path":"n.txt","old_string":"a\nb","new_string":""}`, patched("*** Begin Patch\n*** Update File: n.txt\n@@\n-a\n-b\n*** End Patch")},
		{"MultiEdit", `{"path":"n","edits":[{"oldText":"a","newText":"b"},{"oldText":"c","newText":"d"}]}`, patched("*** Begin Patch\n*** Update File: n\n@@\n-a\n+b\n@@\n-c\n+d\n*** End Patch")},
		{"str_replace_editor", `{"command":"create","path":"n","file_text":"x"}`, patched("*** Begin Patch\n*** Add File: n\n+x\n*** End Patch")},
		{"TodoWrite", `{"todos":[{"content":"a","status":"completed","id":"1"},{"content":"b","status":"new"}]}`, `{"type":"function_call","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"a\",\"status\":\"completed\"},{\"step\":\"b\",\"status\":\"pending\"}]}","call_id":"toolu_1"}`},
		{"view_image", `{"path":"p.png"}`, `{"type":"function_call","name":"view_image","arguments":"{\"path\":\"p.png\"}","call_id":"toolu_1"}`},
		{"apply_patch", `"*** Begin Patch\n*** End Patch"`, patched("*** Begin Patch\n*** End Patch")},
	} {
		items, x := callAndResult(t, skein.Call{Name: c.name, Input: []byte(c.input)}, skein.Result{Text: "fine"})
		typ := "function_call_output"
		if strings.Contains(c.want, "custom_tool_call") {
			typ = "custom_tool_call_output"
		}
		want := []string{c.want, `{"type":"` + typ + `","call_id":"toolu_1","output":"fine"}`}
		if diff := cmp.Diff(want, items); diff != "" {
			t.Errorf("%s(%s) is written (-want +got):\n%s", c.name, c.input, diff)
		}
		if len(x.done[0].Losses) == 0 && c.name != "view_image" && c.name != "apply_patch" {
			t.Errorf("%s is written as another tool's, and no loss says so", c.name)
		}
	}
}

func TestACallThatNoToolFitsIsWrittenInWords(t *testing.T) {
	for _, c := range []struct{ name, input string }{
		{"Task", `{"prompt":"x"}`},
		{"mcp__pears__count", `{}`},
		{"Edit", `{"file_path":"a\nb","old_string":"x","new_string":"y"}`},
		{"Bash", `{"command":7}`},
		{"Bash", `"no object"`},
		{"Read", ``},
	} {
		items, x := callAndResult(t, skein.Call{Name: c.name, Input: []byte(c.input)}, skein.Result{Text: "no", Failed: true})
		input := c.input
		if input == "" {
			input = "null"
		}
		say := func(s string) string {
			return `{"type":"message","role":"assistant","content":[{"type":"output_text","text":` + string(skein.MustJSON(s)) + `}]}`
		}
		want := []string{say("[I called the tool " + c.name + ", which no longer exists, with " + input + "]"), say("[The tool " + c.name + " failed: no]")}
		if diff := cmp.Diff(want, items); diff != "" {
			t.Errorf("%s(%s) is written (-want +got):\n%s", c.name, c.input, diff)
		}
		if l := x.done[0].Losses; len(l) != 1 || l[0].What != "call of "+c.name+": written as text, Codex has no such tool" {
			t.Errorf("losses of %s = %+v, want that it is text", c.name, l)
		}
	}
}

func TestACommandThatFailedSaysSo(t *testing.T) {
	items, x := callAndResult(t, skein.Call{Name: "Bash", Input: []byte(`{"command":"ls x"}`)}, skein.Result{Text: "no x", Failed: true})
	if want := `{"type":"function_call_output","call_id":"toolu_1","output":"Process exited with code 1\nOutput:\nno x"}`; items[1] != want {
		t.Errorf("the output is %s, want %s", items[1], want)
	}
	events := strings.Join(func() []string {
		_, x = callAndResult(t, skein.Call{Name: "Write", Input: []byte(`{"path":"x","content":"y"}`)}, skein.Result{Text: "no x", Failed: true})
		return x.lines(x.done[0].Spot.Path, typeEvent)
	}(), "\n")
	for _, want := range []string{`"type":"patch_apply_end","call_id":"toolu_1"`, `"stderr":"no x","success":false,"changes":{"x":{"type":"add","content":"y"}},"status":"failed"`} {
		if !strings.Contains(events, want) {
			t.Errorf("the events are\n%s\nwant %s", events, want)
		}
	}
}
