package agent_test

import (
	"testing"

	"github.com/skein-dev/skein"
)

// TestOfCallsThatAForkShowsNothingIsKnown: the parent may have continued and
// run them.
func TestOfCallsThatAForkShowsNothingIsKnown(t *testing.T) {
	g := open(t, says("one"))
	g.say("go", "one")
	if err := g.Close(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	answer := skein.Say(1, *calls("note {}").message)
	answer.ClientID = "turn-dead-1"
	last, err := skein.Add(t.Context(), g.store, g.ID(), answer)
	if err != nil {
		t.Fatal(err)
	}
	parent := g.ID()
	g.options.Created = skein.Created{Parent: &skein.Parent{Session: parent, Seq: last, Why: skein.Fork}}
	g.options.Session = ""
	g.open()
	g.say("on", "done")
	g.again()
	g.say("on", "done")
	g.wantShown(`user "go"`, `assistant "one" call(c0 note {})`,
		`user result(c0 "[Interrupted: there is no result, and it is unknown whether the tool took effect.]" failed) "on"`,
		`assistant "done"`, `user "on"`)
}
