//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A pane is a terminal in which a shell runs, with the command skein.
type pane struct {
	t    *testing.T
	dir  string // of tmux's socket s: such a path must be short, so we go there
	home string // of skein
	work string // folder that the shell is in: a project named api
	path string // its PATH
}

// newPane starts a terminal of this size. Its variables are those given, on top
// of a plain UTF-8 one.
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
	p.await(`^\$ *\z`)
	p.clear()
	return p
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

// keys presses keys, as tmux names them.
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

// paste pastes text, as a terminal does that says where a paste begins.
func (p *pane) paste(text string) {
	p.t.Helper()
	p.tmux("set-buffer", text)
	p.tmux("paste-buffer", "-p", "-t", "p")
}

func (p *pane) resize(width int) {
	p.t.Helper()
	p.tmux("resize-window", "-t", "p", "-x", fmt.Sprint(width))
}

// screen returns what the terminal shows, and showed before, without what is
// free at the end.
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

// prompt waits until the person may type, with an empty line before it.
func (p *pane) prompt() string {
	p.t.Helper()
	return p.await(`^❯\s*\z`)
}

func (p *pane) until(ok func(screen string) bool, want string) string {
	p.t.Helper()
	deadline := time.After(time.Minute)
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

// clear empties the terminal, and what it showed before, but for a word.
func (p *pane) clear() {
	p.t.Helper()
	p.enter("clear; echo cleared")
	p.await(`^cleared\n\$ *\z`)
	p.tmux("clear-history", "-t", "p")
}

// chat begins to chat and waits for the prompt.
func (p *pane) chat(args string) {
	p.t.Helper()
	p.enter("skein chat " + args)
	p.await(`^❯\s*\z`)
}

// leave presses Ctrl-D and waits for the shell, and the exit code 0.
func (p *pane) leave() string {
	p.t.Helper()
	p.keys("C-d")
	p.await(`^\$ *\z`)
	return p.code(0)
}

// code asks the shell for the exit code of the last command.
func (p *pane) code(want int) string {
	p.t.Helper()
	p.enter("echo code=$?")
	return p.await(fmt.Sprintf(`^code=%d\n\$ *\z`, want))
}
