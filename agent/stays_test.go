package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
)

// A server opens a thread for each turn, without ended and resumed events.
func TestAProgramThatStaysGoesOnWithoutAWord(t *testing.T) {
	g := openWith(t, func(o *agent.Options) { o.Program, o.Host, o.Stays = "serve", "h", true }, says("one"))
	g.say("1", "one")
	turn := func(program string, stays bool, text string) {
		t.Helper()
		if err := g.Close(t.Context(), "done"); err != nil {
			t.Fatal(err)
		}
		g.options.Program, g.options.Stays = program, stays
		g.reopen(says(text))
		g.say("next", text)
	}
	turn("serve", true, "two")
	turn("chat", false, "three")
	turn("serve", true, "four")
	for range 40 { // a turn may have many
		if _, err := skein.Add(t.Context(), g.store, g.ID(), skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "a"}), skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "b"})); err != nil {
			t.Fatal(err)
		}
	}
	turn("serve", true, "five")
	turn("chat", false, "six")
	turn("mail", true, "seven")
	if err := g.Close(context.WithoutCancel(t.Context()), "done"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range g.events() {
		if e.Kind == skein.KindResumed || e.Kind == skein.KindEnded {
			got = append(got, string(e.Kind)+" "+decode[skein.Program](t, e).Program)
		}
	}
	const want = "resumed chat, ended chat, resumed serve, resumed chat, ended chat, resumed mail"
	if has := strings.Join(got, ", "); has != want {
		t.Errorf("the session says %s, want %s", has, want)
	}
}
