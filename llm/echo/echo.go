package echo

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/window"
)

// Options are the dependencies of a Model. The zero value is the usual.
type Options struct {
	Wait func(ctx context.Context, d time.Duration) error // returns early, with ctx's error, when ctx ends; nil waits for d
	ID   func() string                                    // returns a new request ID; nil makes random ones
}

// A Model answers as the prompt directs. Make one with [New].
type Model struct {
	wait func(ctx context.Context, d time.Duration) error
	id   func() string

	mu    sync.Mutex
	tries map[string]int // how often each answer failed or broke off
}

// New returns a Model.
func New(o Options) *Model {
	m := &Model{wait: o.Wait, id: o.ID, tries: map[string]int{}}
	if m.wait == nil {
		m.wait = sleep.For
	}
	if m.id == nil {
		m.id = func() string { return "echo-" + string(skein.NewSessionID(time.Now())) }
	}
	return m
}

// About implements [llm.Provider].
func (m *Model) About() llm.About {
	r := window.GenericRules()
	r.Provider = "echo"
	return llm.About{Provider: "echo", Rules: r}
}

// Stream implements [llm.Provider].
func (m *Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		id := m.id()
		a, err := plan(&r)
		if err != nil {
			yield(llm.Delta{}, &llm.Error{Kind: llm.ErrRequest, Status: 400, Message: err.Error(), Request: id})
			return
		}
		if a.fail.due(m.tried(a.fail.times, "fail "+a.key)) {
			yield(llm.Delta{}, refusal(a.status, id))
			return
		}
		s := speaker{answer: a, id: id, input: words(r.System) + wordsOf(r.Messages), wait: m.wait}
		if a.cut.due(m.tried(a.cut.times, "break "+a.key)) {
			s.breaks = true
		}
		s.speak(ctx, yield)
	}
}

// tried counts an attempt at the answer key and returns the number of earlier
// ones; answers that never fail are not counted.
func (m *Model) tried(times int, key string) int {
	if times == 0 {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tries[key]++
	return m.tries[key] - 1
}

// refusal returns a provider's error with that HTTP status.
func refusal(status int, id string) error {
	kind := llm.ErrRequest
	switch {
	case status == 429, status == 408, status >= 500:
		kind = llm.ErrBusy
	case status == 413:
		kind = llm.ErrTooLong
	case status == 401, status == 403:
		kind = llm.ErrDenied
	case status == 404:
		kind = llm.ErrModel
	}
	return &llm.Error{Kind: kind, Status: status, Message: fmt.Sprintf("the prompt asked for HTTP %d", status), Request: id}
}

func words(s string) int64 { return int64(len(strings.Fields(s))) }

func wordsOf(all []skein.Message) (n int64) {
	for i := range all {
		for _, p := range all[i].Parts {
			n += words(string(p.Text))
			if p.Call != nil {
				n += words(string(p.Call.Input))
			}
			if p.Result != nil {
				n += words(string(p.Result.Text))
			}
		}
	}
	return n
}
