package acp_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/acptest"
)

// A line that is longer than what is recorded passes whole, in both directions.
func TestALineOfAnyLengthPasses(t *testing.T) {
	const size = 65 << 20
	d := open(t, setting{})
	id := d.New(d.cwd)
	n := len(d.Lines(0))
	d.Prompt(id, fmt.Sprintf("long %d", size))
	got := acptest.Texts(acptest.Updates(d.Lines(n), id), "agent_message_chunk")
	if len(got) != size || strings.Trim(got, "x") != "" {
		t.Errorf("the editor got %d bytes, want %d", len(got), size)
	}
	if notes := d.notes(id, "acp:not_recorded"); len(notes) != 1 {
		t.Errorf("the line is noted as %q", notes)
	}
	if stop := d.Prompt(id, "say short\n"+strings.Repeat("y", size)); stop != "end_turn" {
		t.Errorf("a long prompt ends with %q", stop)
	}
	said := d.said(id)
	if len(said) != 3 || said[2] != "assistant: short" || len(said[1]) > 200 || !strings.HasPrefix(said[1], "user: ") {
		t.Errorf("the store has %.200q", said)
	}
}

// A gate lets through what is read while it is open.
type gate struct {
	io.Reader
	mu sync.Mutex
}

func (g *gate) Read(b []byte) (int, error) {
	g.mu.Lock()
	g.mu.Unlock() //nolint:staticcheck // it only waits
	return g.Reader.Read(b[:min(len(b), 4096)])
}

// An editor that does not read stops its agent, but not what it says itself.
func TestAnEditorThatDoesNotRead(t *testing.T) {
	g := &gate{}
	d := open(t, setting{gate: g})
	id, other := d.New(d.cwd), d.New(d.cwd)
	g.mu.Lock() // from now on, the editor does not read
	flood := d.Send("session/prompt", acptest.PromptOf(id, strings.Repeat("long 1000000\n", 30)))
	asked := d.Send("session/prompt", acptest.PromptOf(other, "say hello"))
	for e, err := range d.store.Watch(t.Context(), skein.SessionID(other), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(e.Payload, []byte("say hello")) {
			break // it is on disk, while the agent cannot say anything
		}
	}
	g.mu.Unlock()
	for _, id := range []string{flood, asked} {
		if a, ok := d.Await(id); !ok || a.Error != nil {
			t.Errorf("the answer is %+v, %t", a.Error, ok)
		}
	}
	if got := d.said(id); len(got) < 2 || len(strings.Join(got[1:], "")) < 30_000_000 {
		t.Errorf("the store has %d messages", len(got))
	}
}
