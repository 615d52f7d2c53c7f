package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/llm/llmtest"
	"github.com/skein-dev/skein/store/sqlite"
)

// A typist types commands in one folder, on one store.
type typist struct {
	t    *testing.T
	home string
	vars map[string]string
	in   string
	wait func(time.Duration) // called with each wait; may be nil
}

func newTypist(t *testing.T, vars map[string]string) *typist {
	t.Helper()
	home := t.TempDir()
	all := map[string]string{"HOME": home, "USERPROFILE": home, "SKEIN_HOME": home}
	for name, v := range vars {
		all[name] = v
	}
	return &typist{t: t, home: home, vars: all}
}

// typed runs a command and returns what it printed and its exit code.
func (p *typist) typed(ctx context.Context, args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	var out, errs bytes.Buffer
	code = Main(ctx, &config.Env{
		Stdin: strings.NewReader(p.in), Stdout: &out, Stderr: &errs,
		Getenv: func(name string) string { return p.vars[name] },
		Getwd:  func() (string, error) { return p.home, nil },
		Now:    time.Now, OS: "linux", Version: "test",
		Wait: func(ctx context.Context, d time.Duration) error {
			if p.wait != nil {
				p.wait(d)
			}
			return ctx.Err()
		},
		Open: func(ctx context.Context, at config.Place) (skein.Store, error) {
			return sqlite.Open(ctx, at.Path, sqlite.Options{})
		},
	}, args)
	return out.String(), errs.String(), code
}

func TestRunTalksToEveryProvider(t *testing.T) {
	call := skein.Call{ID: "call_1", Name: "read_file", Input: json.RawMessage(`{"path": "note.txt"}`)}
	for _, c := range []struct {
		model, key, base string
		serve            func(testing.TB, ...llmtest.Reply) *llmtest.Server
	}{
		{"anthropic:claude-x", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", llmtest.Anthropic},
		{"openai:gpt-x", "OPENAI_API_KEY", "OPENAI_BASE_URL", llmtest.OpenAI},
		{"google:gemini-x", "GEMINI_API_KEY", "GOOGLE_OPENAI_BASE_URL", llmtest.Google},
		{"google:gemini-x", "GOOGLE_API_KEY", "GOOGLE_OPENAI_BASE_URL", llmtest.Google},
		{"openrouter:a/b", "OPENROUTER_API_KEY", "OPENROUTER_BASE_URL", llmtest.Chat},
		{"ollama:llama:8b", "OLLAMA_API_KEY", "OLLAMA_HOST", llmtest.Chat},
		{"vllm:m", "VLLM_API_KEY", "VLLM_BASE_URL", llmtest.Chat},
	} {
		t.Run(c.model+" "+c.key, func(t *testing.T) {
			s := c.serve(t, llmtest.Calls(call), llmtest.Says("It says: hello."), llmtest.Says("Indeed."), llmtest.Says("What the note says"))
			p := newTypist(t, map[string]string{c.key: llmtest.Key, c.base: s.URL})
			if err := os.WriteFile(filepath.Join(p.home, "note.txt"), []byte("hello from the note\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			out, errs, code := p.typed(t.Context(), "run", "--model", c.model, "what does note.txt say?")
			if code != 0 || out != "It says: hello.\n" || !strings.Contains(errs, "→ read_file: note.txt") {
				t.Fatalf("run --model %s = %q, exit code %d\n%s", c.model, out, code, errs)
			}
			sent := s.Requests()
			if len(sent) != 2 || !strings.Contains(string(sent[1].Body), "hello from the note") || sent[0].System == "" {
				t.Errorf("the provider was asked %d times, at last:\n%s\nwant twice, with what the tool read", len(sent), sent[len(sent)-1].Body)
			}
			// Another process continues with the same model.
			if out, errs, code := p.typed(t.Context(), "continue", "really?"); code != 0 || out != "Indeed.\n" {
				t.Errorf("continue = %q, exit code %d\n%s", out, code, errs)
			}
			if out, _, _ := p.typed(t.Context(), "list", "--json"); !strings.Contains(out, `"title":"What the note says","title_by":"model"`) {
				t.Errorf("after two turns the model has given no title:\n%s", out)
			}
			if out, _, _ := p.typed(t.Context(), "show", "last", "--events"); strings.Contains(out, llmtest.Key) {
				t.Error("the key is in the session")
			}
		})
	}
}

func TestAPromptWithoutAnAnswerIsTakenUpWithoutSayingItAgain(t *testing.T) {
	s := llmtest.Chat(t)
	s.Otherwise(llmtest.Fails(500, "the model is on fire"))
	p := newTypist(t, map[string]string{"VLLM_API_KEY": llmtest.Key, "VLLM_BASE_URL": s.URL})
	_, errs, code := p.typed(t.Context(), "run", "--model", "vllm:m", "hello")
	if code != 1 || !strings.Contains(errs, "the model is on fire") || !strings.Contains(errs, "with: skein continue") {
		t.Fatalf("run with a provider that fails: exit code %d\n%s", code, errs)
	}
	s.Otherwise(llmtest.Says("Hello."))
	if out, errs, code := p.typed(t.Context(), "continue"); code != 0 || out != "Hello.\n" {
		t.Fatalf("continue = %q, exit code %d\n%s", out, code, errs)
	}
	out, _, _ := p.typed(t.Context(), "show", "last", "--json")
	if n := strings.Count(out, `"role":"user"`); n != 1 {
		t.Errorf("the session has %d user messages, want 1:\n%s", n, out)
	}
	if _, errs, code := p.typed(t.Context(), "continue"); code != 2 || !strings.Contains(errs, "has its answer") {
		t.Errorf("continue once more: exit code %d\n%s", code, errs)
	}
}

func TestCtrlCKeepsWhatWasComplete(t *testing.T) {
	s := llmtest.Chat(t, llmtest.Breaks(llmtest.Says("One two three four five six seven eight nine ten."), llmtest.Hang, 600))
	p := newTypist(t, map[string]string{"VLLM_API_KEY": llmtest.Key, "VLLM_BASE_URL": s.URL})
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		for tick := time.NewTicker(5 * time.Millisecond); len(s.Requests()) == 0; {
			<-tick.C
		}
		interrupt()
	}()
	out, errs, code := p.typed(ctx, "run", "--model", "vllm:m", "count")
	if code != 130 || !strings.Contains(errs, "skein: interrupted\n") || !strings.Contains(errs, "Resume with: ") {
		t.Fatalf("run, interrupted = %q, exit code %d\n%s", out, code, errs)
	}
	events, _, _ := p.typed(t.Context(), "show", "last", "--events")
	if !strings.Contains(events, `"how":"interrupted"`) || !strings.Contains(events, `"count"`) {
		t.Errorf("the interrupted session has\n%s", events)
	}
	s.Reply(llmtest.Says("Ten."))
	if out, errs, code := p.typed(t.Context(), "continue"); code != 0 || out != "Ten.\n" {
		t.Errorf("continue = %q, exit code %d\n%s", out, code, errs)
	}
}

// Many runs at once on one store make as many sessions, each with its answer.
func TestFiftyRunsAtOnceLoseNothing(t *testing.T) {
	const runs = 50
	p := newTypist(t, nil)
	errs := make([]error, runs)
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() {
			prompt := fmt.Sprintf("prompt-%d", i)
			out, said, code := p.typed(t.Context(), "run", "--model", "echo", prompt)
			if code != 0 || out != prompt+"\n" {
				errs[i] = fmt.Errorf("%s = %q, exit code %d\n%s", prompt, out, code, said)
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	out, _, _ := p.typed(t.Context(), "list", "--all", "--json", "--limit", "100")
	if n := strings.Count(out, `"turns":1,`); n != runs {
		t.Errorf("there are %d sessions of one turn, want %d", n, runs)
	}
}
