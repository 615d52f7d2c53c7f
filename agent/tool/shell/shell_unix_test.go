//go:build unix

package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/agent/tool/shell"
)

func input(command string, seconds int) json.RawMessage {
	return skein.MustJSON(map[string]any{"command": command, "timeout_seconds": seconds})
}

func run(t *testing.T, command string) tool.Output {
	t.Helper()
	out, err := shell.New(shell.Options{}).Run(t.Context(), tool.Call{Input: input(command, 60), Cwd: t.TempDir()})
	if err != nil {
		t.Fatalf("shell %q: %v", command, err)
	}
	return out
}

func TestACommandIsAnsweredWithWhatItWrites(t *testing.T) {
	for command, want := range map[string]string{
		"echo one; echo two >&2; echo three": "one\ntwo\nthree\n",
		"printf 'no line feed'":              "no line feed",
		"true":                               "[no output]\n",
		"cat":                                "[no output]\n", // no input
		"echo a; exit 3":                     "a\n[exit status 3]\n",
		"printf a; false":                    "a\n[exit status 1]\n",
		"kill -9 $$":                         "[ended by signal: killed]\n",
		"no-such-command-at-all 2>/dev/null": "[exit status 127]\n",
	} {
		out := run(t, command)
		if failed := strings.Contains(want, "status") || strings.Contains(want, "signal"); out.Text != want || out.Failed != failed {
			t.Errorf("%q answers %q, failed %v; want %q, %v", command, out.Text, out.Failed, want, failed)
		}
	}
	if meta := string(run(t, "printf abc; exit 3").Meta); meta != `{"exit":3,"size":3}` {
		t.Errorf("meta is %s, want the exit status and size", meta)
	}
}

func TestACommandRunsInTheFolderOfItsCall(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out, err := shell.New(shell.Options{}).Run(t.Context(), tool.Call{Input: input("pwd; echo $PWD", 0), Cwd: dir})
	if want := dir + "\n" + dir + "\n"; err != nil || out.Text != want {
		t.Errorf("pwd says %q, %v; want %q", out.Text, err, want)
	}
	if _, err := shell.New(shell.Options{}).Run(t.Context(), tool.Call{Input: input("pwd", 0), Cwd: dir + "/gone"}); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("in a folder that is gone: %v, want an error that names it", err)
	}
}

func TestACommandKnowsNoSecretsUnlessItMay(t *testing.T) {
	environ := []string{"PATH=/usr/bin:/bin", "ANTHROPIC_API_KEY=hidden1", "PASSWORD=hidden2", "SSH_AUTH_SOCK=hidden3", "MINE=hidden4"}
	for _, c := range []struct {
		keep []string
		want int
	}{{nil, 0}, {[]string{"SSH_AUTH_SOCK", "MINE"}, 2}} {
		out, err := shell.New(shell.Options{Environ: environ, Keep: c.keep}).Run(t.Context(), tool.Call{Input: input("env", 0), Cwd: t.TempDir()})
		if got := strings.Count(out.Text, "hidden"); err != nil || got != c.want || !strings.Contains(out.Text, "PATH=/usr/bin:/bin\n") {
			t.Errorf("with %v a command knows %d secrets (%v), want %d:\n%s", c.keep, got, err, c.want, out.Text)
		}
	}
}

func TestLongOutputGoesToABlob(t *testing.T) {
	out := run(t, "i=0; while [ $i -lt 9000 ]; do echo line number $i; i=$((i+1)); done")
	if len(out.Blobs) != 1 || len(out.Files) != 1 || out.Files[0].Blob != out.Blobs[0].Hash {
		t.Fatalf("%d blobs, files %+v; want one that is named", len(out.Blobs), out.Files)
	}
	b := out.Blobs[0]
	if err := b.Check(); err != nil || strings.Count(string(b.Data), "\n") != 9000 {
		t.Errorf("the blob has %d lines, %v; want all 9000", strings.Count(string(b.Data), "\n"), err)
	}
	if len(out.Text) > 40<<10 || !strings.HasPrefix(out.Text, "line number 0\n") || !strings.HasSuffix(out.Text, "line number 8999\n") || !strings.Contains(out.Text, string(b.Hash)) {
		t.Errorf("the text, of %d bytes, is %.60q … %q; want head, reference and tail", len(out.Text), out.Text, out.Text[len(out.Text)-60:])
	}
	if short := run(t, "head -c 65536 /dev/zero | tr '\\0' x"); len(short.Blobs) != 0 || len(short.Text) != 65536 {
		t.Errorf("64 KB: %d blobs and %d bytes of text; want them whole", len(short.Blobs), len(short.Text))
	}
}

func TestMoreThanCanBeKeptIsCounted(t *testing.T) {
	out := run(t, "head -c 41943040 /dev/zero | tr '\\0' x; echo; echo the end")
	if !strings.Contains(out.Text, "more bytes of output were not kept]") || !strings.HasSuffix(out.Text, "x\nthe end\n") || len(out.Blobs[0].Data) != 32<<20 {
		t.Errorf("40 MB: blob of %d bytes, text ends %q; want 32 MB, the count and the end", len(out.Blobs[0].Data), out.Text[len(out.Text)-120:])
	}
	if !strings.Contains(string(out.Meta), `"size":41943049`) {
		t.Errorf("meta is %s, want the whole size", out.Meta)
	}
}

func TestWhatIsNoUTF8IsReplacedAndKept(t *testing.T) {
	out := run(t, `printf 'a\377b\000'`)
	if !strings.HasPrefix(out.Text, "a\ufffdb\x00\n[The output was not UTF-8") || len(out.Blobs) != 1 || string(out.Blobs[0].Data) != "a\xffb\x00" {
		t.Errorf("it answers %q with %d blobs; want it readable, and the bytes in one", out.Text, len(out.Blobs))
	}
}

func TestTheTimeLimitEndsACommand(t *testing.T) {
	out, err := shell.New(shell.Options{}).Run(t.Context(), tool.Call{Input: input("echo begun; sleep 1000 & sleep 1000", 1), Cwd: t.TempDir()})
	if want := "begun\n[killed: the command had not ended after 1s]\n"; err != nil || out.Text != want || !out.Failed || !strings.Contains(string(out.Meta), `"timeout":true`) {
		t.Errorf("it answers %q (%s), failed %v, %v; want %q", out.Text, out.Meta, out.Failed, err, want)
	}
}

func TestTheEndOfTheContextEndsACommand(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen strings.Builder
	out, err := shell.New(shell.Options{}).Run(ctx, tool.Call{Input: input("echo begun; sleep 1000; echo over", 0), Cwd: t.TempDir(), Progress: func(s string) {
		seen.WriteString(s)
		cancel()
	}})
	if want := "begun\n[interrupted: the command was killed before it ended]\n"; err != nil || out.Text != want || !out.Failed || seen.String() != "begun\n" {
		t.Errorf("it answers %q after showing %q, %v; want %q", out.Text, seen.String(), err, want)
	}
}

func TestAProgramLeftBehindDoesNotHangIt(t *testing.T) {
	out := run(t, "echo begun; sleep 1000 & echo $!")
	var pid int
	if _, err := fmt.Sscanf(out.Text, "begun\n%d\n", &pid); err != nil || out.Failed || !strings.Contains(out.Text, "is still running") {
		t.Fatalf("it answers %q, failed %v; want its output, and that something still runs", out.Text, out.Failed)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("the program left behind: %v, want it alive", err)
	}
}

func TestProgressIsWholeCharacters(t *testing.T) {
	var pieces []string
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := shell.New(shell.Options{}).Run(t.Context(), tool.Call{Input: input(`printf 'a\303'; cat go; printf '\266b\303'`, 0), Cwd: dir, Progress: func(s string) {
		pieces = append(pieces, s)
		if len(pieces) == 1 {
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
				t.Error(err)
			}
		}
	}})
	if got := strings.Join(pieces, "|"); err != nil || got != "a|öb|\ufffd" {
		t.Errorf("progress is %q, %v; want a|öb and the rest at the end", got, err)
	}
}

func TestAPersonIsAskedAboutTheWholeCommand(t *testing.T) {
	sh := shell.New(shell.Options{})
	q := sh.Ask(tool.Call{Input: input("ls\x1b[2K\necho \u202edone", 0), Cwd: "/home/a\rb"})
	if want := "Run this command in /home/a\\rb?\n\nls\\x1b[2K\necho \\u202edone"; q != want {
		t.Errorf("the question is %q, want %q", q, want)
	}
	if got := sh.Title(input("\n go test ./...\nrm x", 0)); got != "go test ./..." {
		t.Errorf("the title is %q, want the first line", got)
	}
	if sh.Safe {
		t.Error("a command is safe to repeat")
	}
}

func TestWrongInputIsTurnedDown(t *testing.T) {
	sh := shell.New(shell.Options{})
	for _, in := range []string{`{}`, `{"command":" "}`, `{"cmd":"ls"}`, `{"command":"ls","timeout_seconds":601}`, `{"command":"ls","timeout_seconds":-1}`, `{"command":"a\u0000b"}`, `[]`, `{`} {
		c := tool.Call{Input: json.RawMessage(in), Cwd: t.TempDir()}
		if out, err := sh.Run(t.Context(), c); err == nil {
			t.Errorf("input %s is run: %q", in, out.Text)
		}
		if q := sh.Ask(c); q != "" {
			t.Errorf("a person is asked about the input %s, which is not run: %q", in, q)
		}
	}
	if !json.Valid(sh.Spec.Schema) {
		t.Errorf("schema is no JSON: %s", sh.Spec.Schema)
	}
}
