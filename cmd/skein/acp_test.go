//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/acptest"
	"github.com/skein-dev/skein/store/sqlite"
)

// What the agent of tests is told: where its sessions are, and what it can do.
const (
	agentDir = "SKEIN_TEST_ACP_DIR"
	agentCan = "SKEIN_TEST_ACP_CAN"
)

// An acpDesk is where editors start skein, which starts an agent: three programs.
type acpDesk struct {
	*testing.T
	dir string
	can string
}

// A connection is a skein that an editor has started.
type connection struct {
	*acptest.ScriptedEditor
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  io.Closer
	fuse *fuse
}

func newACPDesk(t *testing.T, can string) *acpDesk {
	t.Helper()
	dir, err := os.MkdirTemp("", "acp") //nolint:usetesting // the paths of sockets must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	d := &acpDesk{t, dir, can}
	for _, name := range []string{"home", "agent", "work"} {
		if err := os.Mkdir(filepath.Join(d.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// openedIn returns a desk, and an editor that has opened a new session there. It answers
// permissions with permit, as [acptest.ScriptedEditor] does.
func openedIn(t *testing.T, permit string) (d *acpDesk, e *connection, id string) {
	t.Helper()
	d = newACPDesk(t, "")
	e = d.start("1")
	e.Permit = permit
	e.Initialize()
	return d, e, e.New(d.dir)
}

// start starts skein, which dies at a place, see asProgram, with an agent.
func (d *acpDesk) start(dies string) *connection {
	d.Helper()
	return d.types(dies, nil, "acp", "--", "env", asProgram+"=agent", d.self())
}

// self returns the path of this program.
func (d *acpDesk) self() string {
	d.Helper()
	self, err := os.Executable()
	if err != nil {
		d.Fatal(err)
	}
	return self
}

// types starts skein with these arguments and variables.
func (d *acpDesk) types(dies string, more []string, args ...string) *connection {
	d.Helper()
	cmd := exec.Command(d.self(), args...)
	cmd.Dir = filepath.Join(d.dir, "work")
	cmd.Env = append([]string{
		asProgram + "=" + dies, "PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(d.dir, "home"), "SKEIN_HOME=" + filepath.Join(d.dir, "home"),
		agentDir + "=" + filepath.Join(d.dir, "agent"), agentCan + "=" + d.can, "GORACE=atexit_sleep_ms=0",
	}, more...)
	cmd.Stderr = d.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		d.Fatal(err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		d.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		d.Fatal(err)
	}
	w.Close()
	f := &fuse{Reader: out}
	c := &connection{acptest.NewEditor(d.T, f, in), cmd, in, out, f}
	c.Strict()
	d.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		out.Close()
	})
	return c
}

// leave ends the editor's side, and waits for skein.
func (c *connection) leave() {
	c.in.Close()
	_ = c.cmd.Wait() // it may have been killed
}

// said returns what a session has, message by message.
func (d *acpDesk) said(id string) (all []string) {
	d.Helper()
	s, err := sqlite.Open(d.Context(), filepath.Join(d.dir, "home", "skein.db"), sqlite.Options{})
	if err != nil {
		d.Fatal(err)
	}
	defer s.Close()
	var b skein.EntryBuilder
	for e, err := range s.Events(d.Context(), skein.SessionID(id), 0) {
		if err == nil {
			err = b.Add(e)
		}
		if err != nil {
			d.Fatal(err)
		}
	}
	for _, e := range b.Entries() {
		for _, p := range e.Message.Parts {
			text := string(p.Text)
			if p.Result != nil {
				text = string(p.Result.Text)
			}
			all = append(all, string(e.Message.Role)+": "+text)
		}
	}
	return all
}

// knows checks that the store has the prompts that the agent has read and that end with
// a text.
func (d *acpDesk) knows(id, end string) {
	d.Helper()
	files, err := filepath.Glob(filepath.Join(d.dir, "agent", "*"))
	if err != nil {
		d.Fatal(err)
	}
	stored := d.said(id)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			d.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if prompt, err := strconv.Unquote(strings.TrimSpace(line)); err == nil && strings.HasSuffix(prompt, end) && !slices.Contains(stored, "user: "+prompt) {
				d.Errorf("the agent has read %q, and the store has %q", prompt, stored)
			}
		}
	}
}

// An agent that has read a prompt may rely on its being stored: it kills skein to prove
// it.
func TestAPromptIsOnDiskBeforeTheAgentSeesIt(t *testing.T) {
	d := newACPDesk(t, "")
	c := d.start("1")
	c.Initialize()
	id := c.New(filepath.Join(d.dir, "work"))
	if _, ok := c.Await(c.Send("session/prompt", acptest.PromptOf(id, "kill"))); ok {
		t.Fatal("skein answered after it had been killed")
	}
	c.leave()
	if got := d.said(id); !slices.Equal(got, []string{"user: kill"}) {
		t.Errorf("the store has %q", got)
	}
}

// An editor that has the answer to a prompt may rely on the turn's being stored.
func TestATurnIsOnDiskBeforeItsAnswer(t *testing.T) {
	turns := 20
	if testing.Short() {
		turns = 4
	}
	d := newACPDesk(t, "")
	for n := range turns {
		c := d.start("1")
		c.Initialize()
		id := c.New(filepath.Join(d.dir, "work"))
		text := fmt.Sprintf("say turn %d\ntool ls\nstream 500\nsay end", n)
		if stop := c.Prompt(id, text); stop != "end_turn" {
			t.Fatalf("the turn ended with %q", stop)
		}
		if err := c.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		c.leave()
		got := d.said(id)
		if len(got) != 5 || got[0] != "user: "+text || got[1] != fmt.Sprintf("assistant: turn %d", n) || got[3] != "tool: output of ls" || !strings.HasSuffix(got[4], "498 499 end") {
			t.Fatalf("turn %d: the store has %.200q", n, got)
		}
	}
}

// Wherever skein dies, what it acknowledged is stored: a session that the editor knows,
// a prompt that the agent has read, a turn that was answered.
func TestSkeinDiesAtEveryAppend(t *testing.T) {
	d := newACPDesk(t, "")
	for n, lived := 1, false; !lived; n++ {
		for _, when := range []string{"before", "after"} {
			c := d.start(fmt.Sprint(when, " ", n))
			c.Initialize()
			var r struct{ SessionID string }
			a, ok := c.Await(c.Send("session/new", map[string]any{"cwd": d.dir, "mcpServers": []any{}}))
			if !ok {
				continue // nothing was acknowledged
			}
			if !bytes.Contains(a.Result, []byte("sessionId")) {
				t.Fatalf("%s %d: the session is %s", when, n, a.Result)
			}
			if err := json.Unmarshal(a.Result, &r); err != nil {
				t.Fatal(err)
			}
			acknowledged := []string{}
			for turn := 1; ; turn++ {
				if turn > 3 {
					lived = true
					break
				}
				text := fmt.Sprintf("say one %d\npermit ls\nsay two\n%s %d", turn, when, n)
				if _, ok := c.Await(c.Send("session/prompt", acptest.PromptOf(r.SessionID, text))); !ok {
					break
				}
				acknowledged = append(acknowledged, "user: "+text, fmt.Sprintf("assistant: one %d", turn), "assistant: ", "tool: output of ls", "assistant: two")
			}
			c.leave()
			d.knows(r.SessionID, fmt.Sprintf("\n%s %d", when, n))
			if got := d.said(r.SessionID); len(got) < len(acknowledged) || !slices.Equal(got[:len(acknowledged)], acknowledged) {
				t.Fatalf("%s %d: the store has\n%s\nwant\n%s", when, n, strings.Join(got, "\n"), strings.Join(acknowledged, "\n"))
			}
		}
	}
}
