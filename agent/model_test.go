package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/window"
)

// A model gives its answers one after the other, and records the requests. When
// the answers are used up, it says "done".
type model struct {
	about llm.About

	mu       sync.Mutex
	answers  []answer
	summary  string // answer to requests for a summary; "" for its next answer
	counts   bool   // its usage depends on what it was shown
	reads    int    // maximum bytes of messages that it accepts; 0 for any number
	requests []llm.Request
	broken   []error // rules that requests broke
}

// An answer is how a model answers one request.
type answer struct {
	message *skein.Message
	text    string // said before err, word by word
	err     error
	hang    bool // say text, then wait for the end of ctx
	before  func()
}

func newModel(answers ...answer) *model {
	return &model{about: llm.About{Provider: "anthropic", Model: "m", Rules: window.AnthropicRules("m")}, answers: answers}
}

func (m *model) About() llm.About { return m.about }

func (m *model) next(r llm.Request) answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, r)
	rules := m.about.Rules
	if err := rules.Check(r.Messages); err != nil {
		m.broken = append(m.broken, err)
	}
	if n := len(r.Messages); n == 0 || r.Messages[n-1].Role == skein.RoleAssistant {
		m.broken = append(m.broken, fmt.Errorf("of %d messages the last is no question", n))
	}
	if m.reads > 0 && sizeOf(r) > m.reads {
		return fails(&llm.Error{Kind: llm.ErrTooLong, Status: 400, Message: fmt.Sprintf("%d bytes, at most %d", sizeOf(r), m.reads)})
	}
	if m.summary != "" && strings.HasPrefix(r.System, "You summarize") {
		return says(m.summary)
	}
	a := says("done")
	if len(m.answers) > 0 {
		a, m.answers = m.answers[0], m.answers[1:]
	}
	if m.counts {
		a.message.Usage = &skein.Usage{Input: int64(sizeOf(r) / 4)}
	}
	return a
}

// sizeOf returns how many bytes of text r has.
func sizeOf(r llm.Request) (n int) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			n += len(p.Text)
			if p.Call != nil {
				n += len(p.Call.Input)
			}
			if p.Result != nil {
				n += len(p.Result.Text)
			}
		}
	}
	return n
}

func (m *model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		a := m.next(r)
		if a.before != nil {
			a.before()
		}
		for _, w := range strings.SplitAfter(a.text, " ") {
			if w != "" && !yield(llm.Delta{Text: w}, nil) {
				return
			}
		}
		if a.hang {
			<-ctx.Done()
			a.err = ctx.Err()
		}
		if a.err != nil {
			yield(llm.Delta{}, a.err)
			return
		}
		yield(llm.Delta{Message: a.message}, nil)
	}
}

// says returns an answer with a text.
func says(text string) answer { return answer{text: text, message: message(skein.TextPart(text))} }

func message(parts ...skein.Part) *skein.Message {
	return &skein.Message{Role: skein.RoleAssistant, Parts: parts, Usage: &skein.Usage{Input: 10, Output: 5}}
}

// calls returns an answer that calls tools: "name input" each.
func calls(each ...string) answer {
	var parts []skein.Part
	for i, c := range each {
		name, input, _ := strings.Cut(c, " ")
		parts = append(parts, skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: fmt.Sprint("c", i), Name: name, Input: json.RawMessage(input)}})
	}
	return answer{message: message(parts...)}
}

func fails(err error) answer { return answer{err: err} }

func cut(text string) answer { return answer{text: text, err: &llm.Error{Kind: llm.ErrCut}} }

var errBusy = &llm.Error{Kind: llm.ErrBusy, Status: 529, Message: "overloaded"}

var errGone = errors.New("gone")
