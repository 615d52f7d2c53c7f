package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/llm/window"
	"github.com/skein-dev/skein/store/memory"
)

// A faulty store fails one of its appends, like a failing disk or network.
type faulty struct {
	skein.Store
	n     int // number of the append that fails, 1 for the first
	times int // how many fail from then on
	err   error
	done  bool // the failing append is stored anyway
	seen  int
}

func (s *faulty) Unwrap() skein.Store { return s.Store }

func (s *faulty) Append(ctx context.Context, batches ...skein.Batch) ([]skein.Receipt, error) {
	s.seen++
	if s.n == 0 || s.seen < s.n || s.seen >= s.n+s.times {
		return s.Store.Append(ctx, batches...)
	}
	if s.done {
		if _, err := s.Store.Append(ctx, batches...); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("faulty: append %d: %w", s.seen, s.err)
}

// aTurn returns the answers of a turn with some of everything.
func aTurn() []answer {
	return []answer{calls("note {}", "look {}", "look {}"), cut("I sta"), says("well")}
}

func faultyRig(t *testing.T, s *faulty) *rig {
	s.Store = memory.New()
	g := openWith(t, func(o *agent.Options) { o.Store = s }, aTurn()...)
	g.store = s
	return g
}

func TestAnUnknownOutcomeIsSettled(t *testing.T) {
	whole := faultyRig(t, &faulty{})
	whole.say("go", "well")
	for n := 1; n <= whole.store.(*faulty).seen; n++ {
		for _, done := range []bool{false, true} {
			for _, tries := range []int{1, 3} {
				g := faultyRig(t, &faulty{n: n, times: tries, err: skein.ErrUnknown, done: done})
				g.say("go", "well")
				if got, want := plainLog(g), plainLog(whole); got != want {
					t.Errorf("with append %d unknown %d times, stored %v, the events are\n%s\nwant\n%s", n, tries, done, got, want)
				}
			}
		}
	}
}

// plainLog is the log without seqs: calls that run side by side may end in any
// order.
func plainLog(g *rig) string {
	var lines []string
	for _, l := range strings.Split(g.log(), "\n") {
		_, l, _ = strings.Cut(l, " ")
		if !strings.HasPrefix(l, "tool") && !strings.HasPrefix(l, "said tool") && !strings.HasPrefix(l, "rewound") {
			lines = append(lines, l)
		}
	}
	return fmt.Sprintf("%d events\n%s", len(g.events()), strings.Join(lines, "\n"))
}

func TestADiskThatFillsEndsTheTurnAndLosesNothingElse(t *testing.T) {
	whole := faultyRig(t, &faulty{})
	whole.say("go", "well")
	for n := 1; n <= whole.store.(*faulty).seen; n++ {
		g := faultyRig(t, &faulty{n: n, times: 1, err: skein.ErrFull})
		out, err := g.Turn(t.Context(), skein.UserSays("go"))
		if !errors.Is(err, skein.ErrFull) || out.Stop != agent.Error {
			t.Fatalf("Turn with a full disk at append %d = %+v, %v, want %v", n, out, err, skein.ErrFull)
		}
		g.model.answers = nil
		ran := g.heard(agent.Running)
		if n == 1 { // nothing was said
			g.say("go", "done")
			continue
		}
		switch p, err := g.Pending(t.Context()); {
		case err != nil:
			t.Fatal(err)
		case p:
			if _, err := g.Retry(t.Context()); err != nil {
				t.Errorf("Retry after append %d failed = %v", n, err)
			}
		default: // the answer that could not be stored was kept for later
			g.say("on", "done")
		}
		g.wantSound()
		if again := g.heard(agent.Running); ran > again {
			t.Errorf("%d tools ran, then %d", ran, again)
		}
		if s, err := g.Session(t.Context()); err != nil || len(s.Open) > 0 || s.Uncertain > 0 {
			t.Errorf("after append %d failed the calls %v are open and %d uncertain, %v, want none: what became of them is known", n, s.Open, s.Uncertain, err)
		}
	}
}

// wantSound checks that no call was started twice, and that the context keeps
// every provider's rules.
func (g *rig) wantSound() {
	g.t.Helper()
	wantSound(g.t, g.events())
}

func wantSound(t *testing.T, events []skein.Event) {
	t.Helper()
	started := map[string]int{}
	for i, e := range events {
		if e.Seq != skein.Seq(i+1) {
			t.Fatalf("event %d has the place %d", i+1, e.Seq)
		}
		if e.Kind == skein.KindTool {
			if s := decode[skein.ToolState](t, e); s.State == skein.Running && s.Child == "" {
				started[s.Call]++
			}
		}
	}
	for c, n := range started {
		if n > 1 {
			t.Errorf("the call %s was started %d times", c, n)
		}
	}
	for _, r := range []window.Rules{window.GenericRules(), window.AnthropicRules("m"), window.OpenAIChatRules("m"), window.OpenAIResponsesRules("m"), window.GoogleRules("m")} {
		v, err := window.Context(events, r)
		if err == nil {
			err = r.Check(v.Messages)
		}
		if err != nil {
			t.Errorf("the context for %s: %v\nof\n%s", r.Provider, err, logOf(t, events))
		}
	}
}

func TestAnOutcomeThatStaysUnknownIsSettledLater(t *testing.T) {
	whole := faultyRig(t, &faulty{})
	whole.say("go", "well")
	for n := 1; n <= whole.store.(*faulty).seen; n++ {
		for _, done := range []bool{false, true} {
			g := faultyRig(t, &faulty{n: n, times: 4, err: skein.ErrUnknown, done: done})
			if _, err := g.Turn(t.Context(), skein.UserSays("go")); !errors.Is(err, skein.ErrUnknown) {
				t.Fatalf("Turn with append %d unknown = %v, want %v", n, err, skein.ErrUnknown)
			}
			g.model.answers = nil
			g.say("on", "done")
			g.wantSound()
			said := 0
			for _, e := range g.events() {
				if e.Kind == skein.KindSaid && strings.Contains(string(e.Payload), `"go"`) {
					said++
				}
			}
			if said != 1 {
				t.Errorf("what was said when append %d was unknown stands %d times, want once", n, said)
			}
			if err := g.Close(t.Context(), "done"); err != nil {
				t.Error(err)
			}
		}
	}
}
