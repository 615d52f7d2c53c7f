package talk

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/clitest"
	"github.com/skein-dev/skein/cli/screen"
	"github.com/skein-dev/skein/cli/thread"
)

// A crowdedStore has no room for new messages.
type crowdedStore struct{ skein.Store }

func (s crowdedStore) Unwrap() skein.Store { return s.Store }

// Append implements [skein.Store].
func (crowdedStore) Append(context.Context, ...skein.Batch) ([]skein.Receipt, error) {
	return nil, skein.ErrFull
}

// A promptScreen remembers what was put into the editor.
type promptScreen struct {
	screen.Screen
	prompt string
}

// Prefill implements [screen.Screen].
func (s *promptScreen) Prefill(text string) { s.prompt = text }

// An aheadScreen is the screen of a person who typed lines ahead.
type aheadScreen struct {
	screen.Screen
	lines []string
}

// Unread implements [screen.Screen].
func (s *aheadScreen) Unread() []string { return s.lines }

func TestLinesThatNobodyReadAreGivenBackAtTheEnd(t *testing.T) {
	j, _ := clitest.NewJob(t)
	var out bytes.Buffer
	c := chatOf(j, thread.Options{})
	c.screen = &aheadScreen{screen.Plain(screen.Streams{In: strings.NewReader(""), Out: &out, Err: &out}), []string{"a long thought", "half of anoth"}}
	if err := c.closeScreen(); err != nil {
		t.Fatal(err)
	}
	if want := "not stored: a long thought\nnot stored: half of anoth\n"; out.String() != want {
		t.Errorf("at its end, the screen has %q, want %q", &out, want)
	}
}

func TestALineThatCouldNotBeStoredIsGivenBack(t *testing.T) {
	for _, full := range []bool{true, false} {
		j, _ := clitest.NewJob(t)
		if full {
			j.Store = crowdedStore{j.Store}
		}
		var out bytes.Buffer
		s := &promptScreen{Screen: screen.Plain(screen.Streams{In: strings.NewReader(""), Out: &out, Err: &out})}
		c := chatOf(j, thread.Options{})
		c.screen = s
		th, err := c.options.Open(t.Context(), j, thread.ProjectThread, c.face())
		if err != nil {
			t.Fatal(err)
		}
		c.thread = th
		if err := c.obey(t.Context(), "a long thought"); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]string{true: "a long thought"}[full]; s.prompt != want {
			t.Errorf("on a disk that is full: %t, the prompt has %q, want %q; the screen: %s", full, s.prompt, want, &out)
		}
		if err := th.End(t.Context(), "done"); err != nil {
			t.Error(err)
		}
	}
}

// As implements [skein.Store].
func (s crowdedStore) As(u skein.User) skein.Store { return crowdedStore{s.Store.As(u)} }
