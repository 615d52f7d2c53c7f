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
	took   []string
	result string // of the last one
}

func (d *decider) Decide(id string, result json.RawMessage, by string) error {
	d.result = string(result)
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
	if err := at.Answer(t.Context(), "s", "ann", Wish{Answer: asked[0].Name, Result: ok}); err == nil {
		t.Errorf("an answer to what an earlier process asked is taken for another question: %v", d.took)
	}
	if asked, err = at.Asked(t.Context(), "s"); err != nil || len(asked) != 1 {
		t.Fatalf("the session asks %v, %v; want one permission", asked, err)
	}
	if err := at.Answer(t.Context(), "s", "ann", Wish{Answer: asked[0].Name, Result: ok}); err != nil {
		t.Fatal(err)
	}
	if err := at.Answer(t.Context(), "s", "bob", Wish{Answer: asked[0].Name, Result: ok}); !errors.Is(err, ErrAnswered) {
		t.Errorf("the second answer: %v, want %v", err, ErrAnswered)
	}
	if len(d.took) != 1 || d.took[0] != "8 by ann" {
		t.Errorf("the agent was answered %v, want once, by ann", d.took)
	}
	if asked, err = at.Asked(t.Context(), "s"); err != nil || len(asked) > 0 {
		t.Errorf("then the session asks %v, %v", asked, err)
	}
}

// Who may answer only for the call that is asked for is not offered, and cannot choose,
// what decides about later calls too.
func TestAnAnswerForOneCallDecidesAboutNoOther(t *testing.T) {
	const asks = `{"toolCall":{"toolCallId":"c1"},"options":[{"optionId":"y","name":"Allow","kind":"allow_once"},{"optionId":"a","name":"Always","kind":"allow_always"},
		{"optionId":"n","name":"No","kind":"reject_once"},{"optionId":"x","name":"Never","kind":"reject_always"},{"optionId":"?","name":"Who knows"}]}`
	at, d := Sockets{Dir: t.TempDir(), Store: "x"}, &decider{}
	h := opens(t, at, "h1", d)
	h.Ask("7", []byte(asks))
	asked, err := at.Asked(t.Context(), "s")
	if err != nil || len(asked) != 1 {
		t.Fatalf("the session asks %v, %v; want one permission", asked, err)
	}
	var offer struct{ Options []struct{ OptionID string } }
	if err := json.Unmarshal(OfferOnce(asked[0].Params), &offer); err != nil || len(offer.Options) != 2 || offer.Options[0].OptionID != "y" || offer.Options[1].OptionID != "n" {
		t.Errorf("offered for one call: %v, %v; want y and n", offer, err)
	}
	choose := func(option string) error {
		result := skein.MustJSON(map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": option}})
		return at.Answer(t.Context(), "s", "phone", Wish{Answer: asked[0].Name, Result: result, Once: true})
	}
	for _, option := range []string{"a", "x", "?"} {
		if err := choose(option); err == nil {
			t.Errorf("an answer for one call chooses %q, want an error", option)
		}
	}
	if len(d.took) > 0 {
		t.Errorf("the agent was answered %v", d.took)
	}
	// Another reader of JSON might find another option in this than was looked at.
	twice := []byte(`{"outcome":{"outcome":"selected","optionId":"a","OPTIONID":"y"},"_meta":{}}`)
	err = at.Answer(t.Context(), "s", "phone", Wish{Answer: asked[0].Name, Result: twice, Once: true})
	if want := `{"outcome":{"outcome":"selected","optionId":"y"}}`; err != nil || len(d.took) != 1 || d.result != want {
		t.Errorf("allow once: %v, and the agent was answered %v with %s, want %s", err, d.took, d.result, want)
	}
}
