package interoptest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/adk"
	"github.com/skein-dev/skein/interop/formats/agentuse"
	"github.com/skein-dev/skein/interop/formats/agsh"
	"github.com/skein-dev/skein/interop/formats/aider"
	"github.com/skein-dev/skein/interop/formats/amp"
	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/interop/formats/atif"
	"github.com/skein-dev/skein/interop/formats/claudecode"
	"github.com/skein-dev/skein/interop/formats/cline"
	"github.com/skein-dev/skein/interop/formats/codex"
	"github.com/skein-dev/skein/interop/formats/copilot"
	"github.com/skein-dev/skein/interop/formats/copilotvscode"
	"github.com/skein-dev/skein/interop/formats/crush"
	"github.com/skein-dev/skein/interop/formats/cursor"
	"github.com/skein-dev/skein/interop/formats/ethos"
	"github.com/skein-dev/skein/interop/formats/gemini"
	"github.com/skein-dev/skein/interop/formats/goose"
	"github.com/skein-dev/skein/interop/formats/llmlogs"
	"github.com/skein-dev/skein/interop/formats/openaiagents"
	"github.com/skein-dev/skein/interop/formats/opencode"
	"github.com/skein-dev/skein/interop/formats/otelgenai"
	"github.com/skein-dev/skein/interop/formats/pi"
	"github.com/skein-dev/skein/interop/formats/qwen"
	"github.com/skein-dev/skein/interop/formats/skeinlog"
	"github.com/skein-dev/skein/interop/formats/skillet"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/interoptest"
	"github.com/skein-dev/skein/store/memory"
)

// everyFormat returns all formats, in the order of skein import.
func everyFormat() []interop.Format {
	return []interop.Format{
		skeinlog.Format(),
		qwen.Format(),
		claudecode.Format(),
		codex.Format(),
		codex.Old(),
		agsh.Format(),
		amplifier.Format(),
		agentuse.Format(),
		ethos.Format(),
		skillet.Format(),
		llmlogs.Format(),
		amp.Format(),
		cursor.Format(),
		cline.Format(),
		aider.Format(),
		pi.Format(),
		gemini.Format(),
		gemini.Qwen(),
		goose.Format(),
		crush.Format(),
		copilot.Format(),
		opencode.Format(),
		copilotvscode.Format(),
		atif.Format(),
		otelgenai.Format(),
		openaiagents.Format(),
		adk.Format(),
	}
}

// cases returns the folder with the cases of each format, by its name. A format
// that is not in everyFormat fails the test.
func cases(t *testing.T) map[string]string {
	t.Helper()
	in := map[string]string{ // where the name differs from the format's
		"claude-code": "claudecode", "copilot-vscode": "copilotvscode", "llm": "llmlogs", "openai-agents": "openaiagents",
		"otel-genai": "otelgenai", "skein": "skeinlog", "codex-old": "codex/olddata",
		"qwen-old": "", // the shape of gemini's, distinguished by their folder
	}
	dirs, seen := map[string]string{}, map[string]bool{"entire": true} // that of a folder of Git, whose files have fixed names
	for _, f := range everyFormat() {
		dir, ok := in[f.Name]
		switch {
		case !ok:
			dir = f.Name
		case dir == "":
			continue
		}
		if filepath.Dir(dir) == "." {
			dir = filepath.Join(dir, "testdata")
		}
		seen[filepath.Dir(dir)] = true
		dirs[f.Name] = filepath.Join("..", "formats", dir)
	}
	entries, err := os.ReadDir(filepath.Join("..", "formats"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !seen[e.Name()] {
			t.Errorf("format %s is not tested under other names: add it", e.Name())
		}
	}
	return dirs
}

// A file's content decides its format, whatever its name.
func TestContentDecidesTheFormat(t *testing.T) {
	interoptest.Names(t, everyFormat(), cases(t))
}

// So it does for a file that the user names, although its program knows it only among
// others.
func TestAFileAloneIsOfTheFormatThatItsContentSays(t *testing.T) {
	mute := []string{ // these have settings or paths, are empty lists, or are cut off at their beginning
		".project_root", ".workspace-trusted", "migration", "workspace.json", "settings.json", "projects.json", "config.md",
		"context-intelligence/metadata.json", "f3f1c006-0000-4000-8000-000000000006/metadata.json",
		"workspaceStorage/0f/state.vscdb", "1765000000000/ui_messages.json", "part/01KXAMPE000000000000000005.json",
		"session_diff/ses_e0224193bffeJ3v73cYSA1GNCu.json", "session_diff/ses_e02262b05ffeG4pEpNqSZX1FjE.json", "todo/ses_e02262b05ffeG4pEpNqSZX1FjE.json",
	}
	interoptest.Alone(t, everyFormat(), cases(t), func(path string) bool {
		return slices.ContainsFunc(mute, func(end string) bool { return strings.HasSuffix("/"+path, "/"+end) })
	})
}

// What is known, and that no format reads it, is said.
func TestWhatNoFormatReadsIsNamed(t *testing.T) {
	for _, c := range []struct{ want, data string }{
		{"the stream-json output of Gemini CLI", geminiStream},
		{"the stream-json output of Gemini CLI", "YOLO mode is enabled.\nLoaded cached credentials.\n" + geminiStream},
		{"the stream-json output of Claude Code", `{"type":"system","subtype":"init","cwd":"/home/ada","session_id":"a","tools":["Bash"],"model":"m","uuid":"b"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"hi"}]},"session_id":"a","uuid":"c"}
`},
		{"the stream-json output of Claude Code", `{"type":"system","subtype":"init","cwd":"/home/ada","session_id":"a","tools":["` + strings.Repeat(`mcp__tool","`, 9000) + `"],"model":"m","uuid":"b"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"hi"}]},"session_id":"a","uuid":"c"}
`},
		{"the stream-json output of Claude Code", `{"type":"user","message":{"role":"user","content":"go"},"parent_tool_use_id":null,"session_id":"a","uuid":"b"}
`},
		{"the stream-json output of Qwen Code", `{"type":"system","subtype":"init","uuid":"b","session_id":"a","cwd":"/home/ada","tools":[],"model":"m","qwen_code_version":"0.5.0"}
`},
		{"the stream-json output of Cursor's agent", `{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/home/ada","session_id":"a","model":"m","permissionMode":"default"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"go"}]},"session_id":"a"}
`},
		{"the exec --json output of Codex", `{"type":"thread.started","thread_id":"0199a213-81c0-7800-8aa1-bbab2a035a53"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"hi"}}
`},
		{"the run --format json output of opencode", `{"type":"step_start","timestamp":1765000000000,"sessionID":"ses_1","part":{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"step-start"}}
{"type":"text","timestamp":1765000000001,"sessionID":"ses_1","part":{"id":"prt_2","sessionID":"ses_1","messageID":"msg_1","type":"text","text":"hi"}}
`},
		{"a transcript of Claude Managed Agents", managed},
		{"a transcript of Claude Managed Agents", `{"id":"sevt_0","type":"span.model_request_start","processed_at":"2026-10-10T12:00:00Z"}` + "\n" + managed},
		{"a transcript of Claude Managed Agents", `{"id":"sevt_0","type":"user.message","content":[{"type":"text","text":"not yet"}],"processed_at":null}` + "\n" + managed},
		{"a transcript of Claude Managed Agents", `{"type":"event_start","event":{"type":"agent.message","id":"sevt_1"}}` + "\n" + managed},
		{"a transcript of Claude Managed Agents", `{
  "data": [
    ` + managed + `  ],
  "next_page": null
}
`},
	} {
		if why := refusal(t, everyFormat(), "transcript.jsonl", c.data); !strings.HasPrefix(why, "it looks like "+c.want+" (") {
			t.Errorf("%.90q is not imported because %q, want it named as %s", c.data, why, c.want)
		}
	}
}

const (
	geminiStream = `{"type":"init","timestamp":"2026-10-10T12:00:00.000Z","session_id":"a","model":"m"}
{"type":"message","role":"user","content":"list","timestamp":"2026-10-10T12:00:00.000Z"}
`
	managed = `{"id":"sevt_1","type":"user.message","content":[{"type":"text","text":"hi"}],"processed_at":"2026-10-10T12:00:00Z"}
`
)

// Files that have another program's shape are left alone, and named with the program
// that wrote them, wherever they are; those of the program itself are not, although they
// speak of the other.
func TestFilesThatLookAlikeAreNamed(t *testing.T) {
	iflow := `{"uuid":"b","parentUuid":null,"sessionId":"session-041101e6-2a7f-4dfd-90b0-57888a353f6a","timestamp":"2026-02-27T09:11:31.532Z","type":"user","isSidechain":false,"userType":"external","message":{"role":"user","content":"hi"},"cwd":"/home/ada/p","gitBranch":null,"version":"1.0.0"}
`
	pi := func(cwd string, rest ...string) string {
		return `{"type":"session","version":3,"id":"0c751d66-8f74-429d-a604-b29855d36c41","timestamp":"2026-08-03T08:01:44.024Z","cwd":"` + cwd + `"}
` + strings.Join(rest, "\n") + `
{"type":"message","id":"9dcb612e","parentId":null,"timestamp":"2026-08-03T08:01:44.100Z","message":{"role":"user","content":[{"type":"text","text":"is \"customType\":\"openclaw.cache-ttl\" in /.openclaw/ ?"}],"timestamp":1785744104100}}
`
	}
	rollout := func(originator string) string {
		return `{"timestamp":"2026-08-01T18:07:03.000Z","type":"session_meta","payload":{"id":"019fbcca-9fd4-7d20-83dc-0762b2f839b3","timestamp":"2026-08-01T18:07:03.000Z","cwd":"/home/ada/p","originator":"` + originator + `","cli_version":"0.1.0","source":"cli"}}
{"timestamp":"2026-08-01T18:07:04.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}
`
	}
	for _, c := range []struct{ program, format, path, data string }{
		{"iFlow CLI", "claude-code", "x.jsonl", iflow},
		{"iFlow CLI", "claude-code", "x.jsonl", strings.ReplaceAll(iflow, `":`, `": `)},
		{"iFlow CLI", "claude-code", ".iflow/projects/-home-ada-p/session-1.jsonl", strings.ReplaceAll(iflow, `"session-`, `"`)},
		{"Qoder", "claude-code", ".qoder/projects/-home-ada-p/1.jsonl", strings.ReplaceAll(iflow, `"session-`, `"`)},
		{"", "claude-code", "x.jsonl", strings.ReplaceAll(iflow, `"session-`, `"`)},
		{"OpenClaw", "pi", "x.jsonl", pi("/root/.openclaw/workspace")},
		{"OpenClaw", "pi", "x.jsonl", pi("/root/.openclaw")},
		{"OpenClaw", "pi", "x.jsonl", pi(`C:\\Users\\ada\\.openclaw\\workspace`)},
		{"OpenClaw", "pi", "x.jsonl", pi(`C:\\Users\\ada\\.moltbot`)},
		{"", "pi", ".pi/agent/sessions/--root-.openclaw--/1.jsonl", pi("/root/.openclaw")},
		{"", "pi", ".omp/agent/sessions/-.openclaw-workspace/1.jsonl", pi("/root/.openclaw/workspace")},
		{"OpenClaw", "pi", ".openclaw/agents/main/sessions/1.jsonl", pi("/srv")},
		{"OpenClaw", "pi", "x.jsonl", pi("/srv", `{"type":"custom","customType":"model-snapshot","data":{"provider":"ollama","modelId":"m"},"id":"1","parentId":null,"timestamp":"2026-08-03T08:01:44.060Z"}`)},
		{"OpenClaw", "pi", "x.jsonl", pi("/srv", `{"type":"custom","customType":"openclaw:bootstrap-context:full","data":{},"id":"1","parentId":null,"timestamp":"2026-08-03T08:01:44.060Z"}`)},
		{"", "pi", "x.jsonl", pi("/home/ada/openclaw")},
		{"", "pi", "x.jsonl", pi("/home/ada/my.openclaw/x")},
		{"TraeX", "codex", "x.jsonl", rollout("traex_cli")},
		{"TraeX", "codex", ".trae/cli/sessions/2026/08/01/rollout-2026-08-01T18-07-03-019fbcca-9fd4-7d20-83dc-0762b2f839b3.jsonl", rollout("codex-tui")},
		{"Augure Code", "codex", ".augure/sessions/2026/08/01/rollout-2026-08-01T18-07-03-019fbcca-9fd4-7d20-83dc-0762b2f839b3.jsonl", rollout("codex-tui")},
		{"Every Code", "codex", "x.jsonl", rollout("code_cli_rs")},
		{"", "codex", "x.jsonl", rollout("codex_cli_rs")},
	} {
		why := refusal(t, everyFormat(), c.path, c.data)
		if said := strings.HasPrefix(why, "a file of "+c.program+" (") && strings.HasSuffix(why, "--format "+c.format); said != (c.program != "") || !said && why != "" {
			t.Errorf("%s (%.60s…) is not imported because %q, want it named as a file of %q", c.path, c.data, why, c.program)
		}
		only := slices.DeleteFunc(everyFormat(), func(f interop.Format) bool { return f.Name != c.format })
		if why := refusal(t, only, c.path, c.data); why != "" {
			t.Errorf("%s (%.60s…) is not imported as %s, which the user names: %s", c.path, c.data, c.format, why)
		}
	}
}

// refusal imports a file that the user names, and returns why it is not imported; "" if
// it is.
func refusal(t *testing.T, formats []interop.Format, path, data string) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	store := memory.New()
	defer store.Close()
	rep, err := importer.Import(t.Context(), store, formats, []string{at}, interop.Options{Named: true})
	switch {
	case err != nil:
		t.Fatal(err)
	case rep.Sessions == 1 && len(rep.Skips)+len(rep.Others) == 0:
		return ""
	case rep.Sessions != 0:
		return fmt.Sprintf("%d sessions, and %v, %v", rep.Sessions, rep.Skips, rep.Others)
	case len(rep.Others) == 1:
		return rep.Others[0].String()
	case len(rep.Skips) == 1:
		return rep.Skips[0].Why
	}
	return fmt.Sprintf("nothing is said: %+v", rep)
}
