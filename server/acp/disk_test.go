package acp_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/acptest"
	"github.com/skein-dev/skein/store/memory"
)

// A slowStore calls before before it appends an event that has a text.
type slowStore struct {
	skein.Store
	text   string
	before func()
}

func (s slowStore) Unwrap() skein.Store { return s.Store }

func (s slowStore) Append(ctx context.Context, batches ...skein.Batch) ([]skein.Receipt, error) {
	for _, b := range batches {
		for _, e := range b.Events {
			if bytes.Contains(e.Payload, []byte(s.text)) {
				s.before()
			}
		}
	}
	return s.Store.Append(ctx, batches...)
}

// As long as a prompt is not on disk, the agent has not read it, while another session
// goes on.
func TestAPromptWaitsForTheDiskAlone(t *testing.T) {
	dir, reached, release := t.TempDir(), make(chan struct{}), make(chan struct{})
	d := open(t, setting{dir: dir, store: slowStore{memory.New(), "say slowly", func() { close(reached); <-release }}})
	slow, other := d.New(d.cwd), d.New(d.cwd)
	asked := d.Send("session/prompt", acptest.PromptOf(slow, "say slowly"))
	<-reached
	for range 20 {
		d.Prompt(other, "say quickly")
	}
	told, err := os.ReadFile(filepath.Join(dir, "inner-1"))
	if err != nil || len(told) > 0 {
		t.Errorf("the agent has read %q before it was stored, %v", told, err)
	}
	close(release)
	if a, ok := d.Await(asked); !ok || a.Error != nil {
		t.Errorf("the answer is %+v", a)
	}
}

// As long as a turn is not on disk, the editor has no answer, while another session
// goes on.
func TestAnAnswerWaitsForTheDiskAlone(t *testing.T) {
	reached, release := make(chan struct{}), make(chan struct{})
	d := open(t, setting{store: slowStore{memory.New(), `"the last words"`, func() { close(reached); <-release }}})
	slow, other := d.New(d.cwd), d.New(d.cwd)
	asked := d.Send("session/prompt", acptest.PromptOf(slow, "say the last words"))
	<-reached
	for range 20 {
		d.Prompt(other, "say quickly")
	}
	for _, line := range d.Lines(0) {
		if strings.HasPrefix(string(line), `{"jsonrpc":"2.0","id":`+asked+",") {
			t.Errorf("the editor got %s before the turn was stored", line)
		}
	}
	close(release)
	if a, ok := d.Await(asked); !ok || a.Error != nil {
		t.Errorf("the answer is %+v", a)
	}
}

// What cannot be stored does not reach the agent, and the editor is told.
func TestAPromptThatCannotBeStored(t *testing.T) {
	dir := t.TempDir()
	st := memory.New()
	d := open(t, setting{dir: dir, store: st})
	id := d.New(d.cwd)
	if _, err := skein.LeasesOf(st).Acquire(t.Context(), skein.SessionID(id), skein.LeaseRequest{Program: "another", TakeOver: true}); err != nil {
		t.Fatal(err)
	}
	a, ok := d.Await(d.Send("session/prompt", acptest.PromptOf(id, "say hello")))
	if !ok || a.Error == nil || !strings.Contains(a.Error.Message, "taken over") {
		t.Errorf("the answer is %+v, %t", a, ok)
	}
	if told, err := os.ReadFile(filepath.Join(dir, "inner-1")); err != nil || len(told) > 0 {
		t.Errorf("the agent has read %q, %v", told, err)
	}
}
