//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm/llmtest"
)

// A maker is a provider and the names by which it is configured.
type maker struct {
	model, key, base string
	serve            func(testing.TB, ...llmtest.Reply) *llmtest.Server
}

// makers returns one maker for each wire format.
func makers() []maker {
	return []maker{
		{"anthropic:claude-x", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", llmtest.Anthropic},
		{"openai:gpt-x", "OPENAI_API_KEY", "OPENAI_BASE_URL", llmtest.OpenAI},
		{"google:gemini-x", "GEMINI_API_KEY", "GOOGLE_OPENAI_BASE_URL", llmtest.Google},
		{"vllm:m", "VLLM_API_KEY", "VLLM_BASE_URL", llmtest.Chat},
	}
}

// A desk is where a person runs commands, each in a process of its own, and talks
// to a provider.
type desk struct {
	*testing.T
	home   string // home folder of skein
	work   string // working directory: a project named api
	env    []string
	model  string
	server *llmtest.Server
}

// at runs test at a desk for each provider, which sends replies, and after those
// "It is so.". In a short run each test has one provider, not always the same.
func at(t *testing.T, replies []llmtest.Reply, test func(d *desk)) {
	all := makers()
	if testing.Short() {
		i := len(t.Name()) % len(all)
		all = all[i : i+1]
	}
	for _, m := range all {
		t.Run(m.model, func(t *testing.T) {
			t.Parallel()
			test(newDesk(t, m, replies...))
		})
	}
}

func newDesk(t *testing.T, m maker, replies ...llmtest.Reply) *desk {
	t.Helper()
	dir := t.TempDir()
	d := &desk{T: t, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "api"), model: m.model, server: m.serve(t, replies...)}
	d.server.Otherwise(llmtest.Says("It is so."))
	for _, folder := range []string{d.home, d.work} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	untitled := filepath.Join(d.work, ".skein")
	if err := os.Mkdir(untitled, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(untitled, "config.toml"), []byte("titles = \"off\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + d.home, "SKEIN_HOME=" + d.home, "LC_ALL=C.UTF-8",
		m.key + "=" + llmtest.Key, m.base + "=" + d.server.URL,
		"GORACE=atexit_sleep_ms=0", // else each process waits a second at its end
	}
	t.Cleanup(func() {
		for i, r := range d.server.Requests() {
			if r.Refused != "" {
				t.Errorf("request %d was turned down: %s\n%s", i+1, r.Refused, r.Body)
			}
		}
	})
	return d
}

// A process is a command that is running or has ended.
type process struct {
	d         *desk
	cmd       *exec.Cmd
	out, errs bytes.Buffer
	ended     chan struct{}
	code      int // -1: it was killed
}

// start starts a command that dies at a place; with "1" it does not.
func (d *desk) start(dies string, args ...string) *process {
	d.Helper()
	self, err := os.Executable()
	if err != nil {
		d.Fatal(err)
	}
	return d.launch(dies, exec.Command(self, args...))
}

func (d *desk) launch(dies string, cmd *exec.Cmd) *process {
	d.Helper()
	p := &process{d: d, cmd: cmd, ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = d.work, append([]string{asProgram + "=" + dies}, d.env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errs
	p.cmd.WaitDelay = time.Minute // its children may hold its output open
	if err := p.cmd.Start(); err != nil {
		d.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // the exit code is checked
		p.code = p.cmd.ProcessState.ExitCode()
	}()
	d.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.ended
	})
	return p
}

// wait waits for the end of a process.
func (p *process) wait() *process {
	p.d.Helper()
	select {
	case <-p.ended:
	case <-time.After(late):
		p.d.Fatalf("%q does not come to its end", p.cmd.Args[1:])
	}
	return p
}

func (p *process) signal(s syscall.Signal) {
	p.d.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.d.Fatalf("%q: %s: %v", p.cmd.Args[1:], s, err)
	}
}

// want checks the exit code of a process that has ended, and that its stdout and
// stderr contain the given text.
func (p *process) want(code int, out string, errs ...string) *process {
	p.d.Helper()
	ok := p.code == code && strings.Contains(p.out.String(), out)
	for _, e := range errs {
		ok = ok && strings.Contains(p.errs.String(), e)
	}
	if !ok {
		p.d.Fatalf("%s\nwant exit code %d, stdout with %q, stderr with %q", p, code, out, errs)
	}
	return p
}

// String describes a process that has ended.
func (p *process) String() string {
	return fmt.Sprintf("skein %q ends with exit code %d, stdout:\n%s\nstderr:\n%s", p.cmd.Args[1:], p.code, &p.out, &p.errs)
}

// types runs a command to its end.
func (d *desk) types(args ...string) *process {
	d.Helper()
	return d.start("1", args...).wait()
}

// whole checks that doctor finds nothing wrong, except a small disk.
func (d *desk) whole() {
	d.Helper()
	p := d.types("doctor").want(0, "")
	for line := range strings.Lines(p.out.String()) {
		if !strings.HasPrefix(line, "ok ") && !strings.HasPrefix(line, "warning  disk ") {
			d.Errorf("%s\nwant all to be well", p)
		}
	}
}

// asked waits until the provider has received n requests.
func (d *desk) asked(n int) {
	d.Helper()
	deadline := time.After(late)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for len(d.server.Requests()) < n {
		select {
		case <-tick.C:
		case <-deadline:
			d.Fatalf("the provider was asked %d times, want %d", len(d.server.Requests()), n)
		}
	}
}

// effects returns how many times the tool ran.
func (d *desk) effects() int {
	d.Helper()
	b, err := os.ReadFile(filepath.Join(d.work, "effects"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.Fatal(err)
	}
	return strings.Count(string(b), "ran\n")
}

// runs returns an answer that calls a tool to run a command, and then records an
// effect.
func runs(command string) llmtest.Reply {
	input := skein.MustJSON(map[string]string{"command": "echo ran >> effects; " + command})
	return llmtest.Calls(skein.Call{ID: "call_1", Name: "shell", Input: input})
}

// A gate is where a tool waits in the middle of its work.
type gate struct {
	d    *desk
	here *os.File // receives a line when the tool is there
	on   *os.File // a line lets the tool go on
}

// held is the shell code with which a tool stops at the gate.
const held = "echo > here; read x < on; "

func (d *desk) gate() *gate {
	d.Helper()
	g := &gate{d: d}
	for name, f := range map[string]**os.File{"here": &g.here, "on": &g.on} {
		path := filepath.Join(d.work, name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			d.Fatal(err)
		}
		var err error
		if *f, err = os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0); err != nil {
			d.Fatal(err)
		}
		d.Cleanup(func() { _ = (*f).Close() }) // this also releases an orphaned tool
	}
	return g
}

// reached waits until the tool that p runs is at the gate.
func (g *gate) reached(p *process) {
	g.d.Helper()
	err := g.here.SetReadDeadline(time.Now().Add(late))
	if err != nil {
		g.d.Fatal(err)
	}
	go func() {
		<-p.ended
		_ = g.here.SetReadDeadline(time.Now()) // it may be closed
	}()
	if _, err = g.here.Read(make([]byte, 1)); err == nil {
		return
	}
	select {
	case <-p.ended:
		g.d.Fatalf("%s\nwant its tool to run", p)
	default:
		g.d.Fatalf("the tool does not run: %v", err)
	}
}

// open lets the tool go on.
func (g *gate) open() {
	g.d.Helper()
	if _, err := g.on.WriteString("\n"); err != nil {
		g.d.Fatal(err)
	}
}
