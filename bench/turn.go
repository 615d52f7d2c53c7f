package main

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/bench/gen"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/window"
)

// instant is a model that answers at once, so that the time of a turn is what
// skein adds to a model's own time.
type instant struct{}

func (instant) About() llm.About {
	return llm.About{Provider: "bench", Model: "instant", Rules: window.AnthropicRules("instant")}
}

func (instant) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		yield(llm.Delta{Text: "done", Message: &skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("done")}}}, nil)
	}
}

// turns measures a turn in a short and in a long session: as a process of its
// own runs it, from taking the lease to releasing it, and in a chat that
// continues.
func turns(ctx context.Context, e *fixture) error {
	s, _, err := e.open(ctx, "turn")
	if err != nil {
		return err
	}
	defer s.Close()
	many := min(2*e.size.long, 100_000)
	if err := loadLong(ctx, s, many); err != nil {
		return err
	}
	const few = 10
	if _, err := skein.Add(ctx, s, "few", append([]skein.Event{beginning("/home/ada/few", newYear)}, said(gen.NewWords(6), few, 300, newYear)...)...); err != nil {
		return err
	}
	if err := e.turn(ctx, s, "few", few); err != nil {
		return err
	}
	return e.turn(ctx, s, longID, many)
}

func (e *fixture) turn(ctx context.Context, s skein.Store, id skein.SessionID, n int) error {
	const times = 200
	o := agent.Options{Store: s, Session: id, Program: "bench", Agent: agent.Agent{Model: instant{}}}
	whole, err := repeat(times, func() error {
		t, err := agent.Open(ctx, o)
		if err != nil {
			return err
		}
		if _, err := t.Turn(ctx, skein.UserSays("and then?")); err != nil {
			return err
		}
		return t.Close(ctx, "done")
	})
	if err != nil {
		return err
	}
	t, err := agent.Open(ctx, o)
	if err != nil {
		return err
	}
	alone, err := repeat(times, func() error {
		_, err := t.Turn(ctx, skein.UserSays("and then?"))
		return err
	})
	if err != nil {
		return err
	}
	e.add(row{
		fmt.Sprintf("turn beside the model's time, %d messages: open, turn, close", n), short(whole.median()),
		"the turn alone " + short(alone.median()), "", "under 10 ms", holds(whole.median() < 10*time.Millisecond),
	})
	return t.Close(ctx, "done")
}
