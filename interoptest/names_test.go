package interoptest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/adk"
	"github.com/skein-dev/skein/interop/agentuse"
	"github.com/skein-dev/skein/interop/agsh"
	"github.com/skein-dev/skein/interop/aider"
	"github.com/skein-dev/skein/interop/amp"
	"github.com/skein-dev/skein/interop/amplifier"
	"github.com/skein-dev/skein/interop/atif"
	"github.com/skein-dev/skein/interop/claudecode"
	"github.com/skein-dev/skein/interop/cline"
	"github.com/skein-dev/skein/interop/codex"
	"github.com/skein-dev/skein/interop/copilot"
	"github.com/skein-dev/skein/interop/copilotvscode"
	"github.com/skein-dev/skein/interop/crush"
	"github.com/skein-dev/skein/interop/cursor"
	"github.com/skein-dev/skein/interop/ethos"
	"github.com/skein-dev/skein/interop/gemini"
	"github.com/skein-dev/skein/interop/goose"
	"github.com/skein-dev/skein/interop/llmlogs"
	"github.com/skein-dev/skein/interop/openaiagents"
	"github.com/skein-dev/skein/interop/opencode"
	"github.com/skein-dev/skein/interop/otelgenai"
	"github.com/skein-dev/skein/interop/pi"
	"github.com/skein-dev/skein/interop/qwen"
	"github.com/skein-dev/skein/interop/skeinlog"
	"github.com/skein-dev/skein/interop/skillet"
	"github.com/skein-dev/skein/interoptest"
)

// everyFormat is all that there are, in the order of skein import.
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
	in := map[string]string{ // where that is not called like the format
		"claude-code": "claudecode", "copilot-vscode": "copilotvscode", "llm": "llmlogs", "openai-agents": "openaiagents",
		"otel-genai": "otelgenai", "skein": "skeinlog", "codex-old": "codex/olddata",
		"qwen-old": "", // the shape of gemini's, told apart from them by their folder
	}
	dirs, seen := map[string]string{}, map[string]bool{}
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
		dirs[f.Name] = filepath.Join("..", "interop", dir)
	}
	entries, err := os.ReadDir(filepath.Join("..", "interop"))
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

// What is in a file decides whose it is, whatever it is called.
func TestContentDecidesTheFormat(t *testing.T) {
	interoptest.Names(t, everyFormat(), cases(t))
}
