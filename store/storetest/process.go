package storetest

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"

	"github.com/skein-dev/skein"
)

// A process is a child that the suite started.
type process struct {
	t    *test
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	done bool
}

// start starts a child on the data of the test's store and waits until it has
// opened it.
func (t *test) start(j job) *process {
	t.Helper()
	j.Address = t.address
	// Without Child in its TestMain, the child finds no test to run, and ends.
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), jobVariable+"="+string(skein.MustJSON(j)))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	t.noErr("a child's input", err)
	out, err := cmd.StdoutPipe()
	t.noErr("a child's output", err)
	t.noErr("start of a child", cmd.Start())
	p := &process{t: t, cmd: cmd, in: in, out: bufio.NewReader(out)}
	t.Cleanup(p.kill)
	if r, ok := p.reply(); !ok || r.N != -1 {
		t.Fatalf("the child does not open the store: it answers %+v (%v)", r, ok)
	}
	return p
}

// reply returns the next answer, and false if there are no more.
func (p *process) reply() (r childReply, ok bool) {
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

// tell makes a child that holds a lease write.
func (p *process) tell() {
	p.t.Helper()
	_, err := io.WriteString(p.in, "\n")
	p.t.noErr("telling a child", err)
}

// kill ends the child at once, as kill -9 does.
func (p *process) kill() {
	if p.done {
		return
	}
	p.done = true
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()         // its status says that it was killed
}

// wait waits for the child to end by itself.
func (p *process) wait() {
	p.t.Helper()
	p.done = true
	p.t.noErr("close of a child's input", p.in.Close())
	p.t.noErr("a child", p.cmd.Wait())
}
