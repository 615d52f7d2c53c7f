//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/skein-dev/skein/llm/llmtest"
)

// late is how long to wait for something before giving up. It costs nothing if the
// thing happens, and a machine may be slow.
const late = 5 * time.Minute

// A pane is a terminal in which a shell runs, with the command skein.
type pane struct {
	t    *testing.T
	n    int    // number of the last word that the shell printed, so that each is unique
	dir  string // of tmux's socket s: such a path must be short, so we change into it
	home string // home folder of skein
	work string // working directory of the shell: a project named api
	path string // its PATH
}

// newPane starts a terminal of this size. The variables in env are added to a plain
// UTF-8 environment.
func newPane(t *testing.T, width, height int, env ...string) *pane {
	t.Helper()
	t.Parallel()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("SKIPPED: tmux is not installed, so the conversation in a terminal is not tested")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := &pane{t: t, dir: dir, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "api"), path: filepath.Join(dir, "bin") + ":" + os.Getenv("PATH")}
	for _, d := range []string{p.home, p.work, filepath.Join(dir, "bin")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program := fmt.Sprintf("#!/bin/sh\n%s=1 exec %q \"$@\"\n", asProgram, exe)
	if err := os.WriteFile(filepath.Join(dir, "bin", "skein"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	args := []string{"-f", "/dev/null", "new-session", "-d", "-s", "p", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-c", p.work}
	for _, v := range append([]string{
		"HOME=" + p.home, "SKEIN_HOME=" + p.home, "LC_ALL=C.UTF-8", "ENV=", "NO_COLOR=", "SKEIN_STORE=",
	}, env...) {
		args = append(args, "-e", v)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen at the end:\n%s", p.screen())
		}
		p.tmux("kill-server")
	})
	p.tmux(append(args, "sh", "-i")...)
	p.await(`^[$#]`)
	p.enter("PS1='$ '")
	p.clear()
	return p
}

// heldModel is the model of a heldPane.
const heldModel = "anthropic:claude-x"

// heldPane is newPane with a provider that stops in the middle of its first answer
// until goOn is called, and afterward says "It is so.".
func heldPane(t *testing.T, width, height int, answer string) (p *pane, goOn func()) {
	t.Helper()
	on := make(chan struct{})
	server := llmtest.Anthropic(t, llmtest.Holds(llmtest.Says(answer), 1000, on))
	server.Otherwise(llmtest.Says("It is so."))
	p = newPane(t, width, height, "ANTHROPIC_API_KEY="+llmtest.Key, "ANTHROPIC_BASE_URL="+server.URL)
	untitled := filepath.Join(p.work, ".skein")
	if err := os.Mkdir(untitled, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(untitled, "config.toml"), []byte("titles = \"off\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return p, func() { close(on) }
}

// fifo makes a named pipe in the folder; a tool that reads it waits until the test
// ends.
func (p *pane) fifo(name string) {
	p.t.Helper()
	path := filepath.Join(p.work, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		p.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = f.Close() }) // this releases an orphaned tool
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-u", "-S", "s"}, args...)...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "PATH="+p.path)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// keys presses keys, by their names in tmux.
func (p *pane) keys(names ...string) {
	p.t.Helper()
	p.tmux(append([]string{"send-keys", "-t", "p"}, names...)...)
}

// enter types text and presses Enter.
func (p *pane) enter(text string) {
	p.t.Helper()
	p.tmux("send-keys", "-t", "p", "-l", text)
	p.keys("Enter")
}

// paste pastes text as a terminal with bracketed paste does.
func (p *pane) paste(text string) {
	p.t.Helper()
	p.tmux("set-buffer", text)
	p.tmux("paste-buffer", "-p", "-t", "p")
}

// resize changes the width of the terminal, and waits until the program in it has
// been told: tmux takes a moment to do that.
func (p *pane) resize(width int) {
	p.t.Helper()
	p.tmux("resize-window", "-t", "p", "-x", fmt.Sprint(width))
	tty := strings.TrimSpace(p.tmux("display-message", "-p", "-t", "p", "#{pane_tty}"))
	p.until(func(string) bool {
		f, err := os.OpenFile(tty, os.O_RDONLY|syscall.O_NOCTTY, 0)
		if err != nil {
			p.t.Fatal(err)
		}
		defer f.Close()
		got, _, err := term.GetSize(f.Fd())
		return err == nil && got == width
	}, fmt.Sprintf("has %d columns", width))
}

// screen returns the terminal's content and scrollback, without the free space at
// the end.
func (p *pane) screen() string {
	p.t.Helper()
	return strings.TrimRight(p.tmux("capture-pane", "-p", "-S", "-", "-t", "p"), "\n ")
}

// await waits until the screen matches pattern, line by line, and returns it.
func (p *pane) await(pattern string) string {
	p.t.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	return p.until(func(s string) bool { return re.MatchString(s) }, "matches "+pattern)
}

// prompt waits until the person may type, after an empty line. The same is on the
// screen until it shows what was entered: await that, or the answer, first.
func (p *pane) prompt() string {
	p.t.Helper()
	return p.await(`^❯\s*\z`)
}

func (p *pane) until(ok func(screen string) bool, want string) string {
	p.t.Helper()
	deadline := time.After(late)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		s := p.screen()
		if ok(s) {
			return s
		}
		select {
		case <-tick.C:
		case <-deadline:
			p.t.Fatalf("the screen is\n%s\nwant one that %s", s, want)
		}
	}
}

// clear clears the terminal and its scrollback, except for one word.
func (p *pane) clear() {
	p.t.Helper()
	p.n++
	p.enter(fmt.Sprint("clear; echo cleared ", p.n))
	p.await(fmt.Sprintf(`^cleared %d\n\$ *\z`, p.n))
	p.tmux("clear-history", "-t", "p")
}

// chat starts skein chat and waits for the prompt.
func (p *pane) chat(args string) {
	p.t.Helper()
	p.enter("skein chat " + args)
	p.prompt()
}

// leave presses Ctrl-D when the person may type, waits for the shell, and checks
// that the exit code is 0. The last prompt must have been answered: Ctrl-D would
// stop the answer.
func (p *pane) leave() string {
	p.t.Helper()
	p.await(`^[❯>]\s*\z`)
	p.keys("C-d")
	p.await(`^\$ *\z`)
	return p.code(0)
}

// code waits for the end of the last command and checks its exit code.
func (p *pane) code(want int) string {
	p.t.Helper()
	p.n++
	p.enter(fmt.Sprintf("echo code=$? of %d", p.n))
	return p.await(fmt.Sprintf(`code=%d of %d\n\$ *\z`, want, p.n))
}
