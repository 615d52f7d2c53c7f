package agent_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/store/sqlite"
)

// jobVariable is the environment variable that makes the test binary a child.
const jobVariable = "SKEIN_AGENT_JOB"

// A job is what a child process does: a turn in a new session, during which it
// dies or stops.
type job struct {
	Path    string // of the store
	Effects string // file to which running tools write the IDs of their calls
	At      string // place: before 3, after 3 (appends), stream 2, tool c0 (before its effect), effect c0 (after it)
	Wait    bool   // at that place, print a line and wait for input instead of dying
}

func TestMain(m *testing.M) {
	told := os.Getenv(jobVariable)
	if told == "" {
		os.Exit(m.Run())
	}
	var j job
	err := json.Unmarshal([]byte(told), &j)
	if err == nil {
		err = j.run()
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println("done")
	os.Exit(0)
}

func (j job) run() error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, j.Path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	answers := aTurn()
	for i := range answers {
		answers[i].before = func() { j.reach(fmt.Sprint("stream ", i)) }
	}
	o := agent.Options{
		Store: &passing{s, j, 0}, Program: "child", Agent: agent.Agent{Model: newModel(answers...), Tools: j.tools()},
		Created: skein.Created{Key: "k"},
		Wait:    func(context.Context, time.Duration) error { return nil },
	}
	th, err := agent.Open(ctx, o)
	if err != nil {
		return err
	}
	if _, err := th.Turn(ctx, skein.UserSays("go")); err != nil {
		return err
	}
	return th.Close(ctx, "done")
}

// tools returns tools that add a line to the file of effects.
func (j job) tools() []tool.Tool {
	run := func(_ context.Context, c tool.Call) (tool.Output, error) {
		j.reach("tool " + c.ID)
		f, err := os.OpenFile(j.Effects, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return tool.Output{}, err
		}
		defer f.Close()
		_, err = fmt.Fprintln(f, c.ID)
		j.reach("effect " + c.ID)
		return tool.Output{Text: "written"}, err
	}
	return []tool.Tool{{Spec: spec("note"), Run: run}, {Spec: spec("look"), Safe: true, Run: run}}
}

// reach kills the process, as kill -9 does, if this is the place to die.
func (j job) reach(where string) {
	if where != j.At {
		return
	}
	if j.Wait {
		fmt.Println(where)
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // also returns if the other side has exited
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // the signal is on its way
}

// A passing store reports how far it has come.
type passing struct {
	skein.Store
	job job
	n   int
}

func (s *passing) Unwrap() skein.Store { return s.Store }

func (s *passing) Append(ctx context.Context, batches ...skein.Batch) ([]skein.Receipt, error) {
	s.n++
	s.job.reach(fmt.Sprint("before ", s.n))
	r, err := s.Store.Append(ctx, batches...)
	s.job.reach(fmt.Sprint("after ", s.n))
	return r, err
}

// A child is another process that does a job.
type child struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startChild(t *testing.T, j job) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), jobVariable+"="+string(skein.MustJSON(j)))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	return &child{t, cmd, in, bufio.NewReader(out)}
}

// line returns the child's next line, "" at its end.
func (c *child) line() string {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil && err != io.EOF {
		c.t.Fatal(err)
	}
	return line
}
