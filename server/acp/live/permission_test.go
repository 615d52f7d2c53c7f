package live

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/skein-dev/skein"
)

// A decider owns a session whose agent takes every answer.
type decider struct {
	nobody
	took []string
}

func (d *decider) Decide(id string, _ json.RawMessage, by string) error {
	d.took = append(d.took, id+" by "+by)
	return nil
}

const permission = `{"toolCall":{"toolCallId":"c1","title":"rm"},"options":[{"optionId":"y","name":"Allow"}]}`

// opens opens a hub of a session.
func opens(t *testing.T, at Sockets, name string, o Owner) *SessionHub {
	t.Helper()
	l, err := at.listen(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	h := NewHub(o, "s", name)
	go h.accept(l) //nolint:errcheck // it ends with the test
	t.Cleanup(h.Close)
	return h
}

// What an agent asks can be seen and answered without watching the session. An answer
// counts for what was asked, and not for what another process asks in the session later.
func TestAPermissionIsAnsweredWithoutWatching(t *testing.T) {
	at, d := Sockets{Dir: t.TempDir(), Store: "x"}, &decider{}
	ok := json.RawMessage(`{"outcome":{"outcome":"selected","optionId":"y"}}`)
	if _, err := at.Asked(t.Context(), "s"); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("a session that is not live: %v, want %v", err, skein.ErrNotFound)
	}
	h := opens(t, at, "h1", d)
	h.Ask("7", []byte(permission))
	asked, err := at.Asked(t.Context(), "s")
	if err != nil || len(asked) != 1 {
		t.Fatalf("the session asks %v, %v; want one permission", asked, err)
	}
	h.Close()
	h = opens(t, at, "h2", d)
	h.Ask("8", []byte(permission))
	if err := at.Answer(t.Context(), "s", "ann", asked[0].Name, ok); err == nil {
		t.Errorf("an answer to what an earlier process asked is taken for another question: %v", d.took)
	}
	if asked, err = at.Asked(t.Context(), "s"); err != nil || len(asked) != 1 {
		t.Fatalf("the session asks %v, %v; want one permission", asked, err)
	}
	if err := at.Answer(t.Context(), "s", "ann", asked[0].Name, ok); err != nil {
		t.Fatal(err)
	}
	if err := at.Answer(t.Context(), "s", "bob", asked[0].Name, ok); !errors.Is(err, ErrAnswered) {
		t.Errorf("the second answer: %v, want %v", err, ErrAnswered)
	}
	if len(d.took) != 1 || d.took[0] != "8 by ann" {
		t.Errorf("the agent was answered %v, want once, by ann", d.took)
	}
	if asked, err = at.Asked(t.Context(), "s"); err != nil || len(asked) > 0 {
		t.Errorf("then the session asks %v, %v", asked, err)
	}
}
