package interoptest_test

import (
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
	for want, data := range map[string]string{
		"the stream-json output of Gemini CLI": `{"type":"init","timestamp":"2026-10-10T12:00:00.000Z","session_id":"a","model":"m"}
{"type":"message","role":"user","content":"list","timestamp":"2026-10-10T12:00:00.000Z"}
`,
		"the stream-json output of Claude Code": `{"type":"system","subtype":"init","cwd":"/home/ada","session_id":"a","tools":["Bash"],"model":"m","uuid":"b"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"hi"}]},"session_id":"a","uuid":"c"}
`,
		"the stream-json output of Claude Code with many tools": `{"type":"system","subtype":"init","cwd":"/home/ada","session_id":"a","tools":["` + strings.Repeat(`mcp__tool","`, 9000) + `"],"model":"m","uuid":"b"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"hi"}]},"session_id":"a","uuid":"c"}
`,
		"a transcript of Claude Managed Agents": `{"id":"sevt_1","type":"user.message","content":[{"type":"text","text":"hi"}],"processed_at":"2026-10-10T12:00:00Z"}
`,
	} {
		at := filepath.Join(t.TempDir(), "transcript.jsonl")
		if err := os.WriteFile(at, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		store := memory.New()
		defer store.Close()
		rep, err := importer.Import(t.Context(), store, everyFormat(), []string{at}, interop.Options{Named: true})
		if err != nil || len(rep.Skips) != 1 || !strings.HasPrefix(rep.Skips[0].Why, "it looks like "+strings.TrimSuffix(want, " with many tools")+" (") || rep.Sessions != 0 {
			t.Errorf("Import = %+v, %v, want it named as %s", rep, err, want)
		}
	}
}
