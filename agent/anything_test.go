package agent_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/window"
	"github.com/skein-dev/skein/store/memory"
)

// TestWhateverHappensTheContextIsSound lets models and tools do anything,
// interrupts at any point, undoes, clears, retries and compacts in any order,
// and checks that every prefix of the session has a context that every provider
// accepts.
func TestWhateverHappensTheContextIsSound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := newAnything(rt)
		for range rapid.IntRange(1, 12).Draw(rt, "acts") {
			a.act(rt)
		}
		a.check(t, rt)
	})
}

// An anything is a thread on which random operations are performed.
type anything struct {
	th    *agent.Thread
	o     agent.Options
	store skein.Store
	model *model
	calls int // number of calls so far
	left  int // updates until it is interrupted; negative for never
}

func newAnything(rt *rapid.T) *anything {
	a := &anything{store: memory.New(), model: newModel(), left: -1}
	a.o = agent.Options{
		Store: a.store, Program: "test",
		Agent: agent.Agent{Model: a.model, Tools: wildTools(rt), CompactAfter: rapid.IntRange(-1, 14).Draw(rt, "compact after"), MaxSteps: 6, Newest: rapid.IntRange(0, 30).Draw(rt, "newest")},
		Wait:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Observe: func(agent.Update) {
			if a.left--; a.left == 0 {
				a.th.Interrupt()
			}
		},
	}
	a.open(rt)
	return a
}

func (a *anything) open(rt *rapid.T) {
	th, err := agent.Open(context.Background(), a.o)
	if err != nil {
		rt.Fatalf("Open = %v", err)
	}
	a.th = th
}

// wildTools returns tools with random results.
func wildTools(rt *rapid.T) []tool.Tool {
	end := rapid.SampledFrom([]error{nil, errGone}).Draw(rt, "tools end with")
	run := func(ctx context.Context, c tool.Call) (tool.Output, error) {
		c.Progress("…")
		if ctx.Err() != nil {
			return tool.Output{Text: "half"}, ctx.Err()
		}
		return tool.Output{Text: "ran"}, end
	}
	return []tool.Tool{{Spec: spec("look"), Safe: true, Run: run}, {Spec: spec("note"), Run: run}, {Spec: spec("ask"), Run: run, Ask: func(tool.Call) string { return "?" }}}
}

// act performs a random operation, as a person would.
func (a *anything) act(rt *rapid.T) {
	ctx := context.Background()
	a.model.answers = rapid.SliceOfN(rapid.Custom(wildAnswer), 0, 8).Draw(rt, "answers")
	a.name()
	a.left = rapid.IntRange(-10, 30).Draw(rt, "interrupt after")
	var err error
	switch rapid.SampledFrom([]string{"turn", "turn", "turn", "turn", "retry", "compact", "undo", "redo", "clear", "close", "die"}).Draw(rt, "act") {
	case "turn":
		_, err = a.th.Turn(ctx, skein.UserSays("go"))
	case "retry":
		_, err = a.th.Retry(ctx)
	case "compact":
		err = a.th.Compact(ctx)
	case "undo":
		_, err = a.th.Undo(ctx, rapid.IntRange(1, 3).Draw(rt, "n"))
	case "redo":
		err = a.th.Redo(ctx)
	case "clear":
		err = a.th.Clear(ctx)
	case "close":
		err = a.th.Close(ctx, "done")
		a.again(rt)
	case "die": // nothing more is said
		a.o.TakeOver = true
		a.again(rt)
	}
	for _, fine := range []error{nil, skein.ErrInvalid, errGone, llm.ErrBusy, llm.ErrCut, llm.ErrTooLong, context.Canceled} {
		if errors.Is(err, fine) {
			return
		}
	}
	rt.Fatalf("it fails with %v", err)
}

// name gives the calls of the coming answers unique IDs, as providers do.
func (a *anything) name() {
	for _, x := range a.model.answers {
		if x.message == nil {
			continue
		}
		for _, p := range x.message.Parts {
			if p.Call != nil {
				a.calls++
				p.Call.ID = fmt.Sprint("call ", a.calls)
			}
		}
	}
}

func (a *anything) again(rt *rapid.T) {
	if a.th.Begun() {
		a.o.Session = a.th.ID()
	}
	a.open(rt)
}

func wildAnswer(rt *rapid.T) answer {
	switch rapid.SampledFrom([]string{"say", "call", "call", "call", "nothing", "cut", "busy", "gone", "long", "broken"}).Draw(rt, "answer") {
	case "call":
		return calls(rapid.SliceOfN(rapid.SampledFrom([]string{"look {}", "note {}", "ask {}", "fly {}", "note [1]", "look"}), 1, 5).Draw(rt, "calls")...)
	case "nothing":
		return answer{message: message()}
	case "cut":
		return cut("I sta ")
	case "busy":
		return fails(errBusy)
	case "gone":
		return answer{text: "half ", err: errGone}
	case "long":
		return fails(&llm.Error{Kind: llm.ErrTooLong})
	case "broken":
		a := calls("note {}")
		a.message.Interrupted = true
		return a
	}
	return says("well ")
}

// check checks everything that can be read.
func (a *anything) check(t *testing.T, rt *rapid.T) {
	for _, err := range a.model.broken {
		rt.Errorf("a request breaks the provider's rules: %v", err)
	}
	if !a.th.Begun() {
		return
	}
	events := eventsOf(t, a.store, a.th.ID())
	for n := range events {
		for _, r := range []window.Rules{window.GenericRules(), window.AnthropicRules("m"), window.OpenAIChatRules("m"), window.GoogleRules("m")} {
			v, err := window.Context(events[:n+1], r)
			if err == nil {
				err = r.Check(v.Messages)
			}
			if err != nil {
				rt.Fatalf("the context of the first %d events for %s: %v\nof\n%s", n+1, r.Provider, err, logOf(t, events))
			}
			for _, r := range v.Repairs {
				if r.Kind == window.RepairOrphan || r.Kind == window.RepairDuplicate {
					rt.Fatalf("the context of the first %d events needs the repair %+v\nof\n%s", n+1, r, logOf(t, events))
				}
			}
		}
	}
	wantSound(t, events)
}
