package agent_test

import (
	"errors"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/llm"
)

func TestAMessageThatComesAgainIsSaidOnce(t *testing.T) {
	g := open(t, says("one"), says("two"), says("never"))
	sayAs := func(id skein.ClientID, text, want string) {
		t.Helper()
		out, err := g.TurnAs(t.Context(), id, skein.UserSays(text))
		if err != nil || out.Text != want || out.Stop != agent.Done {
			t.Errorf("TurnAs(%s) = %+v, %v, want the text %q", id, out, err, want)
		}
	}
	sayAs("tg:1", "first", "one")
	g.again(says("two"), says("never"))
	sayAs("tg:1", "first", "one")
	sayAs("tg:2", "second", "two")
	sayAs("tg:1", "first", "one")
	g.wantShown(`user "first"`, `assistant "one"`, `user "second"`)
}

func TestAMessageThatComesAgainIsAnsweredIfItWasNot(t *testing.T) {
	g := open(t, fails(&llm.Error{Kind: llm.ErrDenied}), says("now"))
	if _, err := g.TurnAs(t.Context(), "tg:1", skein.UserSays("first")); !errors.Is(err, llm.ErrDenied) {
		t.Fatalf("TurnAs with a model that denies: error %v, want %v", err, llm.ErrDenied)
	}
	g.again(says("now"))
	out, err := g.TurnAs(t.Context(), "tg:1", skein.UserSays("first"))
	if err != nil || out.Text != "now" {
		t.Errorf("TurnAs again = %+v, %v, want the text %q", out, err, "now")
	}
	g.wantShown(`user "first"`)
}
