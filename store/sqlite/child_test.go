package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite"
)

// childEnv names what the child process does; its arguments are in the variable
// childArgs, one per line.
const (
	childEnv  = "SKEIN_SQLITE_CHILD"
	childArgs = "SKEIN_SQLITE_ARGS"
)

// A child is another process that has the store open.
type child struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts a child, which ends with the test.
func start(t *testing.T, what string, args ...string) *child {
	t.Helper()
	c := command(t, what, args...)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// command prepares a child.
func command(t *testing.T, what string, args ...string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), childEnv+"="+what, childArgs+"="+strings.Join(args, "\n"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{t, cmd, in, bufio.NewReader(out)}
	t.Cleanup(func() {
		if cmd.Process != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		cancel()
	})
	return c
}

// line returns the next line of the child's output; "" at its end.
func (c *child) line() string {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil && err != io.EOF {
		c.t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}

// want checks that the child's next line is want.
func (c *child) want(want string) {
	c.t.Helper()
	if got := c.line(); got != want {
		c.t.Fatalf("the other process says %q, want %q", got, want)
	}
}

// say sends the child a line.
func (c *child) say(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// wait waits until the child ends, which must be without an error.
func (c *child) wait() {
	c.t.Helper()
	if err := c.cmd.Wait(); err != nil {
		c.t.Fatalf("the other process: %v", err)
	}
}

// childMain is the main function of a child.
func childMain(what string) int {
	args := strings.Split(os.Getenv(childArgs), "\n")
	do := map[string]func([]string) error{
		"append": childAppend, "write": childWrite, "read": childRead, "follow": childFollow, "hold": childHold,
	}[what]
	if do == nil {
		do = childFaults[what]
	}
	if err := do(args); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

func childOpen(name string) (*sqlite.Store, error) {
	return sqlite.Open(context.Background(), name, sqlite.Options{})
}

// childAppend appends to four sessions at once until it is killed, and prints
// what was acknowledged: session, client ID, seq. Its arguments are the file
// and the prefix of its client IDs.
func childAppend(args []string) error {
	s, err := childOpen(args[0])
	if err != nil {
		return err
	}
	var said sync.Mutex
	say := func(r skein.Receipt, b skein.Batch) {
		said.Lock()
		defer said.Unlock()
		for i, e := range b.Events {
			fmt.Printf("%s %s %d\n", b.Session, e.ClientID, r.Seqs[i])
		}
	}
	errs := make(chan error)
	for w := range 4 {
		go func() {
			id := skein.SessionID(fmt.Sprint("s", w))
			for i := 0; ; i++ {
				b := skein.Batch{Session: id}
				for k := range 1 + i%3 {
					e := user(strings.Repeat("some text that takes its place ", 1+i%50))
					e.ClientID = skein.ClientID(fmt.Sprintf("%s-%d-%d-%d", args[1], w, i, k))
					b.Events = append(b.Events, e)
				}
				r, err := s.Append(context.Background(), b)
				if err != nil {
					errs <- err
					return
				}
				say(r[0], b)
			}
		}()
	}
	return <-errs
}

// childWrite appends n messages to each of several sessions, one writer each.
// Its arguments are the file, n and the sessions.
func childWrite(args []string) error {
	s, err := childOpen(args[0])
	if err != nil {
		return err
	}
	var n int
	if _, err := fmt.Sscan(args[1], &n); err != nil {
		return err
	}
	errs := make(chan error)
	for _, id := range args[2:] {
		go func() {
			for i := range n {
				if _, err := skein.Add(context.Background(), s, skein.SessionID(id), user(fmt.Sprint("child ", i))); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range args[2:] {
		if err := <-errs; err != nil {
			return err
		}
	}
	return s.Close()
}

// childRead reads every session, appends to one, and prints the result.
func childRead(args []string) error {
	s, err := childOpen(args[0])
	if err != nil {
		return err
	}
	n := 0
	for x, err := range s.Sessions(context.Background(), skein.Filter{}) {
		if err != nil {
			return err
		}
		for _, err := range s.Events(context.Background(), x.ID, 0) {
			if err != nil {
				return err
			}
			n++
		}
	}
	r, err := s.Search(context.Background(), skein.Query{Substring: "text"})
	if err != nil {
		return err
	}
	_, err = skein.Add(context.Background(), s, skein.SessionID(args[1]), user("more"))
	fmt.Printf("%d events, %d hits, read-only: %v\n", n, len(r.Hits), isReadOnly(err))
	return s.Close()
}

// childHold acquires the lease of a session, and then appends a message with
// its fencing number for every line that it is sent.
func childHold(args []string) error {
	s, err := childOpen(args[0])
	if err != nil {
		return err
	}
	id := skein.SessionID(args[1])
	l, err := s.Acquire(context.Background(), id, skein.LeaseRequest{Program: "child"})
	if err != nil {
		return err
	}
	fmt.Println("fence", l.Fence)
	in := bufio.NewReader(os.Stdin)
	for {
		if _, err := in.ReadString('\n'); err != nil {
			return nil //nolint:nilerr // the parent is done
		}
		_, err := s.Append(context.Background(), skein.Batch{Session: id, Fence: l.Fence, Events: []skein.Event{user("from the child")}})
		fmt.Println("fenced", errors.Is(err, skein.ErrFenced), "failed", err != nil)
	}
}
