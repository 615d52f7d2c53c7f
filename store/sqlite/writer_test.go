package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/skein-dev/skein"
)

// A conflict of one caller in a group commit fails only that caller.
func TestOneOfAGroupFails(t *testing.T) {
	s := open(t, "")
	add(t, s, "a", created())
	const n = 200
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		all.Go(func() {
			b := skein.Batch{Session: "a", Events: []skein.Event{user(fmt.Sprint("message ", i))}}
			if i%4 == 3 {
				b.After = 4711 // never true
			}
			if i%8 == 1 { // the first half of it is good
				b.Events = append(b.Events, skein.NewEvent(skein.KindRewound, noon, skein.Rewound{To: 1 << 40}))
			}
			_, errs[i] = s.Append(context.Background(), b)
		})
	}
	all.Wait()
	good := 0
	for i, err := range errs {
		switch {
		case i%4 == 3:
			if !errors.Is(err, skein.ErrConflict) {
				t.Errorf("Append %d = %v, want %v", i, err, skein.ErrConflict)
			}
		case i%8 == 1:
			if !errors.Is(err, skein.ErrInvalid) {
				t.Errorf("Append %d = %v, want %v", i, err, skein.ErrInvalid)
			}
		case err != nil:
			t.Errorf("Append %d = %v", i, err)
		default:
			good++
		}
	}
	if got := len(events(t, s, "a")); got != good+1 {
		t.Errorf("the session has %d events, want %d", got, good+1)
	}
	if x, err := s.Session(t.Context(), "a"); err != nil || x.Messages != good {
		t.Errorf("Session() has %d messages (%v), want %d", x.Messages, err, good)
	}
}

// If somebody has the file locked in the shell, writers wait instead of
// failing; a caller that does not want to wait need not.
func TestWritersWaitForTheShell(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	add(t, s, "a", created())
	shell(t, name, "SELECT 1;") // skips the test if there is no shell
	c := exec.Command("sqlite3", "-batch", name)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, "BEGIN IMMEDIATE; SELECT 'held';\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	impatient, patient := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := s.Append(ctx, skein.Batch{Session: "a", Events: []skein.Event{user("never")}})
		impatient <- err
	}()
	cancel()
	if err := <-impatient; !errors.Is(err, context.Canceled) {
		t.Errorf("Append that was given up = %v, want %v", err, context.Canceled)
	}
	go func() {
		_, err := skein.Add(context.Background(), s, "a", user("in the end"))
		patient <- err
	}()
	if n := len(events(t, s, "a")); n != 1 {
		t.Errorf("the session has %d events while the shell holds the file, want 1", n)
	}
	if _, err := io.WriteString(in, "COMMIT;\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-patient; err != nil {
		t.Errorf("Append that waited for the shell = %v", err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := len(events(t, s, "a")); n != 2 {
		t.Errorf("the session has %d events, want 2", n)
	}
}

// A fork takes over its parent's settings as of that seq.
func TestForkTakesWhatWasSetThen(t *testing.T) {
	s := open(t, "")
	set := func(v string) skein.Event {
		return skein.NewEvent(skein.KindChanged, noon, skein.Changed{Project: &v, Cwd: &v, Agent: &v})
	}
	says := func(model string) skein.Event {
		return skein.Say(noon, skein.Message{Role: skein.RoleAssistant, Model: model, Parts: []skein.Part{skein.TextPart("x")}})
	}
	add(t, s, "p", skein.NewEvent(skein.KindCreated, noon, skein.Created{Project: "/one", Agent: "one", Model: "m1"}),
		user("first"), says("m2"), set("two"), says("m3"), set("three"))
	for i, want := range []string{"/one m1 ", "/one m1 first", "/one m2 first", "two m2 first", "two m3 first", "three m3 first"} {
		id := skein.SessionID(fmt.Sprint("f", i))
		add(t, s, id, fork("p", skein.Seq(i+1)))
		x, err := s.Session(t.Context(), id)
		if got := fmt.Sprint(x.Project, " ", x.Model, " ", x.First); err != nil || got != want {
			t.Errorf("a fork at %d has %q (%v), want %q", i+1, got, err, want)
		}
		add(t, s, id, user("own"), set("four"))
		grandchild := skein.SessionID(fmt.Sprint("g", i))
		add(t, s, grandchild, fork(id, skein.Seq(i+1)))
		if y, err := s.Session(t.Context(), grandchild); err != nil || y.Project != x.Project || y.Model != x.Model || y.Messages != x.Messages {
			t.Errorf("a fork of the fork at %d has %+v (%v), want what %+v has", i+1, y, err, x)
		}
	}
}
