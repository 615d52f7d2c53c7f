package llm

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm/window"
)

// A Provider reaches one model of one provider. It is safe for use by many
// goroutines.
type Provider interface {
	// About describes the model. It does no I/O.
	About() About

	// Stream sends r and yields the answer as it comes. Only the last Delta has
	// the Message. It yields at most one error, last; the Message of that Delta
	// is what had come of the answer, marked as interrupted: nil if nothing had
	// come, without parts if only its cost had. It does not retry by itself.
	//
	// The error wraps one of this package's where that is known, mostly as an
	// *[Error], or is that of ctx.
	Stream(ctx context.Context, r Request) iter.Seq2[Delta, error]
}

// About describes what a Provider reaches.
type About struct {
	Provider string       // name in sessions and price tables: anthropic, openai, google, ollama, echo
	Model    string       // the vendor's name for it; "" if the provider has only one model
	Rules    window.Rules // rules for its messages
}

// String returns the name that people use: anthropic:claude-sonnet-4-5.
func (a About) String() string {
	if a.Model == "" {
		return a.Provider
	}
	return a.Provider + ":" + a.Model
}

// A Request is the input of a model.
type Request struct {
	System    string          // instructions that precede all messages; "" for none
	Messages  []skein.Message // must keep the provider's rules
	Opaque    json.RawMessage // the provider's own item before the messages; nil for none
	Tools     []ToolSpec
	MaxTokens int // of the answer; 0 for the default

	// Blob returns the bytes of a file in Messages. It may be nil if no message
	// has files.
	Blob func(ctx context.Context, h skein.Hash) ([]byte, error)
}

// A ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name   string          // letters, digits, _ and -; at most 64 bytes
	Doc    string          // for the model: what it does, when to use it
	Schema json.RawMessage // JSON Schema of its input, which must be an object
}

// A Delta is a piece of an answer, to be shown after the earlier pieces.
//
// The Message of the last one has the role assistant; its parts are text,
// reasoning (with Raw as the provider wants it back) and calls, in the order
// they came; Provider, Model (the vendor's name), Request, Usage and Stop are
// set where known. Usage.Requests is 1. Incomplete calls are left out.
type Delta struct {
	Text      string         // for people to read
	Reasoning string         // that the provider allows people to read
	Call      string         // name of a tool; a call of it begins, whose input is in Message
	Message   *skein.Message // only on the last Delta: the whole answer
}
