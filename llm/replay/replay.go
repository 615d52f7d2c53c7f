package replay

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/window"
)

// Options are the dependencies of a Model. The zero value is the usual.
type Options struct {
	// Differ is called, before the answer is given, if a request differs from
	// the one for which the answer was recorded; its error fails the request.
	// Nil ignores differences. See [Strict].
	Differ func(d *DifferenceError) error

	ID func() string // returns a new request ID; nil makes random ones
}

// Strict is an [Options].Differ that rejects every difference. The error is d.
func Strict(d *DifferenceError) error { return d }

// A Model answers with what was recorded. Make one with [New].
type Model struct {
	session skein.SessionID
	answers []answer
	options Options

	mu   sync.Mutex
	next int // -1 before the first request
}

// New returns a Model that answers like entries, which are those of session id
// in order.
func New(id skein.SessionID, entries []skein.Entry, o Options) *Model {
	if o.ID == nil {
		o.ID = func() string { return "replay-" + string(skein.NewSessionID(time.Now())) }
	}
	return &Model{session: id, answers: record(entries), options: o, next: -1}
}

// About implements [llm.Provider].
func (m *Model) About() llm.About {
	r := window.GenericRules()
	r.Provider = "replay"
	return llm.About{Provider: "replay", Model: string(m.session), Rules: r}
}

// Left returns how many answers have not been given yet.
func (m *Model) Left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(0, len(m.answers)-max(0, m.next))
}

// Stream implements [llm.Provider].
func (m *Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		n, due, err := m.due(&r)
		if err != nil {
			yield(llm.Delta{}, &llm.Error{Kind: llm.ErrRequest, Message: err.Error(), Err: err})
			return
		}
		last := m.message(due)
		if whole := say(ctx, last, yield); !whole {
			return
		}
		m.mu.Lock()
		m.next = n + 1
		m.mu.Unlock()
		yield(llm.Delta{Message: last}, nil)
	}
}

// due returns the answer to r and its index.
func (m *Model) due(r *llm.Request) (n int, due *answer, err error) {
	asked := newest(r.Messages)
	m.mu.Lock()
	if m.next < 0 {
		m.next = given(r.Messages)
	}
	n = m.next
	m.mu.Unlock()
	if byProgram(asked) && (n >= len(m.answers) || !m.answers[n].program) {
		return 0, nil, fmt.Errorf("session %s: nothing was recorded for what a program asks", m.session)
	}
	if n >= len(m.answers) {
		return 0, nil, fmt.Errorf("session %s has no more answers (it has %d)", m.session, len(m.answers))
	}
	due = &m.answers[n]
	if d := differ(n, due, said(asked)); d != nil && m.options.Differ != nil {
		if err := m.options.Differ(d); err != nil {
			return 0, nil, err
		}
	}
	return n, due, nil
}

// given returns how many of the messages are answers of a Model.
func given(all []skein.Message) (n int) {
	for i := range all {
		if all[i].Role == skein.RoleAssistant && all[i].Provider == "replay" && !marked(&all[i]) {
			n++
		}
	}
	return n
}

// marked reports whether m is marked as interrupted.
func marked(m *skein.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p skein.Part) bool { return p.Kind == skein.PartText && p.Synthetic })
}

// message returns the answer as this model's, so that a thread knows which
// session it continues to replay, and without its usage, which was counted when
// the request was recorded.
func (m *Model) message(a *answer) *skein.Message {
	was := &a.message
	to := &skein.Message{Role: skein.RoleAssistant, Provider: "replay", Model: string(m.session), Request: m.options.ID(), Stop: was.Stop}
	to.Parts = slices.Clone(was.Parts)
	for i := range to.Parts {
		if to.Parts[i].Kind == skein.PartReasoning {
			to.Parts[i].Raw = nil
		}
	}
	return to
}
