package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/clitest"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/store/memory"
)

// A brake is a store that simulates Ctrl-C while the second batch is stored.
type brake struct {
	skein.Store
	appends int
	stop    context.CancelFunc
}

func (b *brake) Unwrap() skein.Store { return b.Store }

func (b *brake) Append(ctx context.Context, bs ...skein.Batch) ([]skein.Receipt, error) {
	if b.appends++; b.appends == 2 {
		b.stop()
		return nil, context.Canceled
	}
	return b.Store.Append(ctx, bs...)
}

func (b *brake) Close() error { return nil }

func TestAnImportThatIsInterruptedSaysWhatItTookAndThatItGoesOn(t *testing.T) {
	st := memory.New()
	t.Cleanup(func() { st.Close() })
	ctx, stop := context.WithCancel(t.Context())
	env, _, stderr := clitest.NewEnv(t, &brake{Store: st, stop: stop})
	dir := t.TempDir()
	for _, id := range []string{"b0a7ce01-0000-4000-8000-000000000001", "b0a7ce01-0000-4000-8000-000000000002"} {
		line := `{"parentUuid":null,"isSidechain":false,"type":"user","sessionId":"` + id + `","uuid":"` + id + `","timestamp":"2026-11-20T10:00:01.000Z","message":{"role":"user","content":"Hello"}}` + "\n"
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"import", "--format", "claude-code", dir}
	if code := Main(ctx, env, args); code != fault.ExitInterrupted {
		t.Errorf("an interrupted import exits %d, want %d", code, fault.ExitInterrupted)
	}
	want := "imported so far: 1 new session, 1 message, 2 events\nthis is stored; the next import continues with the rest\nskein: interrupted\n"
	if got := stderr.String(); got != want {
		t.Errorf("an interrupted import says\n%s\nwant\n%s", got, want)
	}
	stderr.Reset()
	if code := Main(t.Context(), env, args); code != fault.ExitDone || !strings.HasPrefix(stderr.String(), "1 new session, 1 message, 2 events in 2 files") {
		t.Errorf("import again exits %d and says %q, want 0 and the other session", code, stderr)
	}
}

// Several formats may recognize a document's name, but none of them by the name
// alone.
func TestADocumentThatIsTooLongIsNamedWhoeverItIs(t *testing.T) {
	st := memory.New()
	t.Cleanup(func() { st.Close() })
	for name, c := range map[string]struct{ text, want string }{
		"a trajectory":      {`{"schema_version":"ATIF-v1.7","session_id":"x","steps":[]}`, "60.0 MB; a document may have at most 50.3 MB: split it"},
		"spans":             {`{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"gen_ai.system"}]}]}]}]}`, "60.0 MB; a document may have at most 50.3 MB"},
		"one of a stranger": {`{"packages":[]}`, "no format recognizes"},
	} {
		file := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, 60_000_000); err != nil {
			t.Fatal(err)
		}
		for code, args := range map[int][]string{fault.ExitFailed: {"import", file}, fault.ExitDone: {"import", "--list", file}} { // --list imports nothing
			env, _, stderr := clitest.NewEnv(t, &brake{Store: st, appends: 2})
			if got := Main(t.Context(), env, args); got != code || !strings.Contains(stderr.String(), c.want) {
				t.Errorf("skein %v of %s exits %d and says\n%s\nwant exit %d and %q in it", args, name, got, stderr, code, c.want)
			}
		}
	}
}
