package harness

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"

	"github.com/skein-dev/skein"
)

// A Process is a child that the suite started.
type Process struct {
	t    *Test
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	done bool
}

// Start starts a child on the data of the test's store and waits until it has
// opened it.
func (t *Test) Start(j Job) *Process {
	t.Helper()
	j.Address = t.Address
	// Without Child in its TestMain, the child finds no test to run, and ends.
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), jobVariable+"="+string(skein.MustJSON(j)))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	t.NoErr("a child's input", err)
	out, err := cmd.StdoutPipe()
	t.NoErr("a child's output", err)
	t.NoErr("start of a child", cmd.Start())
	p := &Process{t: t, cmd: cmd, in: in, out: bufio.NewReader(out)}
	t.Cleanup(p.Kill)
	if r, ok := p.Reply(); !ok || r.N != -1 {
		t.Fatalf("the child does not open the store: it answers %+v (%v)", r, ok)
	}
	return p
}

// Reply returns the next answer, and false if there are no more.
func (p *Process) Reply() (r ChildOutput, ok bool) {
	p.t.Helper()
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return r, false // a killed child's last line may be incomplete
	}
	if err := json.Unmarshal(line, &r); err != nil {
		p.t.Fatalf("a child says %q: %v (does TestMain call storetest.Main or Child?)", line, err)
	}
	return r, true
}

// Tell makes a child that holds a lease write.
func (p *Process) Tell() {
	p.t.Helper()
	_, err := io.WriteString(p.in, "\n")
	p.t.NoErr("telling a child", err)
}

// Kill ends the child at once, as kill -9 does.
func (p *Process) Kill() {
	if p.done {
		return
	}
	p.done = true
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()         // its status says that it was killed
}

// KillSoon begins to kill the child and returns at once.
func (p *Process) KillSoon() {
	go func() { _ = p.cmd.Process.Kill() }() // it may have ended
}

// Wait waits for the child to end by itself.
func (p *Process) Wait() {
	p.t.Helper()
	p.done = true
	p.t.NoErr("close of a child's input", p.in.Close())
	p.t.NoErr("a child", p.cmd.Wait())
}
