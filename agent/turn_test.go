package agent_test

import (
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
)

func TestATurnStoresEachThingBeforeTheNext(t *testing.T) {
	g := open(t, calls(`note {"a":1}`), says("well"))
	if g.Begun() {
		t.Error("a thread has begun before its first message")
	}
	out := g.say("go", "well")
	g.wantLog(`1 created
	2 said user "go"
	3 step start
	4 step finish
	5 said assistant call(c0 note {"a":1})
	6 tool c0 running
	7 tool c0 completed
	8 said tool result(c0 "ran {\"a\":1}")
	9 step start
	10 step finish
	11 said assistant "well"
	`)
	g.wantShown(`user "go"`, `assistant call(c0 note {"a":1})`, `user result(c0 "ran {\"a\":1}")`)
	want := agent.Outcome{Text: "well", Stop: agent.Done, Steps: 2, Last: 11, Usage: skein.Usage{Input: 20, Output: 10, Requests: 2}}
	if out != want {
		t.Errorf("Turn = %+v, want %+v", out, want)
	}
	s, err := g.Session(t.Context())
	if err != nil || s.Usage != want.Usage || s.Agent != "tester" || s.Provider != "anthropic" || s.Key != "cli:test" {
		t.Errorf("Session = %+v, %v, want its usage to be %+v", s, err, want.Usage)
	}
}
