package echo

import (
	"context"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// A speaker streams an answer.
type speaker struct {
	answer answer
	id     string // of the request
	input  int64  // tokens of it
	wait   func(ctx context.Context, d time.Duration) error
	breaks bool // the answer breaks off in the middle

	thought, said strings.Builder // so far
}

// A piece of an answer is sent at once.
type piece struct {
	text    string
	thought bool
}

func (s *speaker) speak(ctx context.Context, yield func(llm.Delta, error) bool) {
	pieces := s.pieces()
	if s.breaks {
		pieces = pieces[:len(pieces)/2]
	}
	pause := time.Duration(0)
	if len(pieces) > 0 {
		pause = s.answer.slow / time.Duration(len(pieces))
	}
	for _, p := range pieces {
		if err := s.pause(ctx, pause); err != nil {
			yield(s.rest(), err)
			return
		}
		d := llm.Delta{Text: p.text}
		if p.thought {
			d = llm.Delta{Reasoning: p.text}
		}
		s.thought.WriteString(d.Reasoning)
		s.said.WriteString(d.Text)
		if !yield(d, nil) {
			return
		}
	}
	switch {
	case s.breaks:
		yield(s.rest(), &llm.Error{Kind: llm.ErrCut, Message: "the prompt asked for it", Request: s.id})
		return
	case s.answer.hang:
		<-ctx.Done()
		yield(s.rest(), ctx.Err())
		return
	}
	for _, c := range s.answer.calls {
		if !yield(llm.Delta{Call: c.Name}, nil) {
			return
		}
	}
	yield(llm.Delta{Message: s.message(s.answer.calls)}, nil)
}

func (s *speaker) pause(ctx context.Context, d time.Duration) error {
	if d > 0 {
		return s.wait(ctx, d)
	}
	return ctx.Err()
}

// maxPieces is the maximum number of pieces of an answer.
const maxPieces = 1000

// pieces cuts the answer into words.
func (s *speaker) pieces() (all []piece) {
	for _, p := range []piece{{strings.Join(s.answer.thoughts, "\n"), true}, {strings.Join(s.answer.said, "\n"), false}} {
		words := strings.SplitAfter(p.text, " ")
		each := (len(words) + maxPieces - 1) / maxPieces
		for i := 0; i < len(words); i += each {
			if text := strings.Join(words[i:min(i+each, len(words))], ""); text != "" {
				all = append(all, piece{text, p.thought})
			}
		}
	}
	return all
}

// rest returns the last delta of an answer that broke off.
func (s *speaker) rest() llm.Delta {
	m := s.message(nil)
	if len(m.Parts) == 0 {
		return llm.Delta{}
	}
	m.Interrupted, m.Stop = true, ""
	return llm.Delta{Message: m}
}

// message returns what was said so far, with these calls.
func (s *speaker) message(calls []skein.Call) *skein.Message {
	m := &skein.Message{Role: skein.RoleAssistant, Provider: "echo", Model: "echo", Request: s.id, Stop: "end_turn"}
	thought, said := s.thought.String(), s.said.String()
	if thought != "" {
		m.Parts = append(m.Parts, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(thought)})
	}
	if said != "" {
		m.Parts = append(m.Parts, skein.TextPart(said))
	}
	u := skein.Usage{Input: s.input, Reasoning: words(thought), Output: words(thought) + words(said), Requests: 1}
	for i := range calls {
		m.Parts = append(m.Parts, skein.Part{Kind: skein.PartCall, Call: &calls[i]})
		u.Output += words(string(calls[i].Input))
		m.Stop = "tool_use"
	}
	m.Usage = &u
	return m
}
