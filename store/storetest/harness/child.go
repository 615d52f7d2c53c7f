package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
)

// jobVariable is the environment variable that makes the test binary a child.
const jobVariable = "SKEIN_STORETEST_JOB"

// A Job is what a child does. The child answers on standard output, one line of
// JSON for each step.
type Job struct {
	Do      string // append: messages with the client IDs Name-0, Name-1, …; hold: the lease, then a message for each command
	Address string
	Session skein.SessionID
	Name    string
	Count   int // number of messages; 0: until it is killed
}

// A ChildOutput is one line of a child's output.
type ChildOutput struct {
	N     int         // number of the message
	Seq   skein.Seq   // seq of the message
	Fence skein.Fence // hold: number of the lease
	Error string      // "" if there was none
}

// Main is a TestMain for the test of a store: it runs the tests, or does what
// [Child] does. It does not return.
func Main(m *testing.M, dial func(address string) (skein.Store, error)) {
	Child(dial)
	os.Exit(m.Run())
}

// Child runs the test binary as a child process if the suite has started it as
// one: it opens the store with dial, does its job, and ends the process.
// Otherwise it returns at once. It is for a TestMain that has more to do than
// Main.
func Child(dial func(address string) (skein.Store, error)) {
	told := os.Getenv(jobVariable)
	if told == "" {
		return
	}
	var j Job
	err := json.Unmarshal([]byte(told), &j)
	if err == nil {
		err = j.run(dial, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "storetest child:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (j Job) run(dial func(string) (skein.Store, error), in io.Reader, out io.Writer) (err error) {
	s, err := dial(j.Address)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := s.Close(); err == nil {
			err = cerr
		}
	}()
	say := func(r ChildOutput) error {
		_, err := out.Write(append(skein.MustJSON(r), '\n'))
		return err
	}
	if err := say(ChildOutput{N: -1}); err != nil { // the store is open
		return err
	}
	if j.Do == "hold" {
		return j.hold(s, bufio.NewReader(in), say)
	}
	return j.append(s, say)
}

func (j Job) append(s skein.Store, say func(ChildOutput) error) error {
	for i := 0; i < j.Count || j.Count == 0; i++ {
		r := ChildOutput{N: i}
		e := fixture.ID(fmt.Sprint(j.Name, "-", i), fixture.User(fmt.Sprint(j.Name, " ", i)))
		receipts, err := s.Append(context.Background(), skein.Batch{Session: j.Session, Events: []skein.Event{e}})
		if err != nil {
			r.Error = err.Error()
		} else {
			r.Seq = receipts[0].Seqs[0]
		}
		if err := say(r); err != nil {
			return err
		}
	}
	return nil
}

// hold takes the lease, and appends a message with it for each line of in.
func (j Job) hold(s skein.Store, in *bufio.Reader, say func(ChildOutput) error) error {
	l, err := skein.LeasesOf(s).Acquire(context.Background(), j.Session, skein.LeaseRequest{Program: j.Name})
	r := ChildOutput{Fence: l.Fence}
	if err != nil {
		r.Error = err.Error()
	}
	for {
		if err := say(r); err != nil {
			return err
		}
		if _, err := in.ReadString('\n'); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		receipts, err := s.Append(context.Background(), skein.Batch{Session: j.Session, Fence: l.Fence, Events: []skein.Event{fixture.User(j.Name)}})
		r = ChildOutput{N: r.N + 1}
		if err != nil {
			r.Error = err.Error()
		} else {
			r.Seq = receipts[0].Last
		}
	}
}
