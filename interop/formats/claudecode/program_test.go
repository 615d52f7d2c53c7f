//go:build programs

package claudecode

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// ask lets Claude Code continue a session in dir.
func (p *provider) ask(t *testing.T, program, home, dir string, args ...string) {
	t.Helper()
	if strings.HasSuffix(program, ".js") {
		program, args = "node", append([]string{program}, args...)
	}
	c := exec.CommandContext(t.Context(), program, args...)
	c.Dir = dir
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "CLAUDE_CONFIG_DIR=" + home, "ANTHROPIC_BASE_URL=" + p.URL, "ANTHROPIC_API_KEY=none",
		"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	}
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Gladly.") {
		t.Fatalf("claude %v = %v, want it to answer:\n%s", args, err, out)
	}
}

// programs (go test -tags programs) returns the versions of Claude Code to try, from SKEIN_CLAUDE: paths
// of claude, or of cli.js for one that node runs.
func programs(t *testing.T) []string {
	t.Helper()
	all := filepath.SplitList(os.Getenv("SKEIN_CLAUDE"))
	if len(all) == 0 {
		t.Fatal("SKEIN_CLAUDE is not set: say where Claude Code is that opens what is written")
	}
	return all
}

func TestClaudeCodeGoesOnWithWhatIsWritten(t *testing.T) {
	for _, program := range programs(t) {
		t.Run(filepath.Base(program), func(t *testing.T) { goesOn(t, program) })
	}
}

func goesOn(t *testing.T, program string) {
	p, store := newProvider(t), memory.New()
	defer store.Close()
	dir, home := realDir(t), realDir(t)
	const id = "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23"
	blob := skein.NewBlob(onePixel)
	evs := append([]skein.Event{skein.NewEvent(skein.KindCreated, 1795230386000, skein.Created{Cwd: dir, Title: "Ages", Agent: "codex"})}, talk(blob)...)
	if _, err := store.Append(t.Context(), skein.Batch{Session: id, Events: evs, Blobs: []skein.Blob{blob}}); err != nil {
		t.Fatal(err)
	}
	done, err := writeback.Export(t.Context(), store, Format(), id, home, writeback.Exports{})
	if err != nil {
		t.Fatal(err)
	}
	command, in := resume(done[0].Spot, skein.Session{Cwd: dir})
	if in != dir || command[2] != id {
		t.Errorf("resume(%+v) = %v in %s, want session %s in %s", done[0].Spot, command, in, id, dir)
	}
	p.ask(t, program, home, in, "--resume", id, "-p", "the first prompt")
	want := `user: They spoke of ages.
user: newer
assistant: I look.
assistant: [I called the tool apply_patch, which no longer exists, with this input:] *** Begin
assistant: Bash {"command":"cd /srv && ls"}
user: result of c_1
user: [The tool apply_patch answered:]
user: done
assistant: And
assistant: Read {"file_path":"DIR/a.go"}
user: result of c3
user: see this
user: image
assistant: a dot
user: the first prompt
`
	if diff := cmp.Diff(inOrder(want), inOrder(p.heard(t, "the first prompt", dir))); diff != "" {
		t.Errorf("the model was told (-want +got):\n%s", diff)
	}

	// What the program added is imported, the session continues here from before
	// that, and is written back.
	rep, err := importer.Import(t.Context(), store, []interop.Format{Format()}, []string{home}, interop.Options{})
	if err != nil || rep.Damaged != 0 {
		t.Fatalf("Import of what the program wrote = %+v, %v", rep, err)
	}
	here, err := store.Session(t.Context(), id)
	if err != nil || here.LastPrompt != "the first prompt" {
		t.Fatalf("Session(%s) = %+v, %v, want it to have gone on", id, here, err)
	}
}

// wentBack lets the program continue one of its own sessions that was rewound and
// continued here.
func TestClaudeCodeGoesOnWithWhatWentBackAndOnHere(t *testing.T) {
	for _, program := range programs(t) {
		t.Run(filepath.Base(program), func(t *testing.T) { wentBack(t, program) })
	}
}

func wentBack(t *testing.T, program string) {
	p, dir, home := newProvider(t), realDir(t), realDir(t)
	const id = "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d24"
	p.ask(t, program, home, dir, "--session-id", id, "-p", "one")
	p.ask(t, program, home, dir, "--resume", id, "-p", "two")
	store := memory.New()
	defer store.Close()
	if _, err := importer.Import(t.Context(), store, []interop.Format{Format()}, []string{home}, interop.Options{}); err != nil {
		t.Fatal(err)
	}
	back := skein.Seq(0)
	for e, err := range store.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if m, err := skein.Decode[skein.Message](e); err == nil && m.Role == skein.RoleUser && m.Words() == "two" {
			back = e.Seq - 1
		}
	}
	at := skein.At(time.Now())
	_, err := skein.Add(t.Context(), store, id,
		skein.NewEvent(skein.KindRewound, at, skein.Rewound{To: back}), skein.Say(at, skein.UserSays("instead")),
		skein.Say(at, skein.Message{Role: skein.RoleAssistant, Provider: "openai", Model: "gpt-6", Parts: []skein.Part{skein.TextPart("of two")}}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writeback.Sync(t.Context(), store, Format(), id); err != nil {
		t.Fatal(err)
	}
	p.ask(t, program, home, dir, "--resume", id, "-p", "three")
	want := "user: one\nassistant: Gladly.\nuser: instead\nassistant: of two\nuser: three\n"
	if got := p.heard(t, "three", dir); got != want {
		t.Errorf("the model was told\n%swant\n%s", got, want)
	}
}

// inOrder normalizes the order of blocks that a version may move in a message.
func inOrder(told string) []string { return slices.Sorted(strings.Lines(told)) }
