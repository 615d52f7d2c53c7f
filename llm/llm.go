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
	// About says what it reaches. It does no work.
	About() About

	// Stream sends r and yields the answer as it comes. The last Delta, and
	// no other, has the Message. It yields at most one error, last; the Delta
	// beside it has in its Message what there was of the answer, marked as
	// interrupted, or none if nothing came; without parts, if only what it
	// cost did. It does not try again by itself.
	//
	// The error wraps one of this package's where that is known, mostly as an
	// *[Error], or is that of ctx.
	Stream(ctx context.Context, r Request) iter.Seq2[Delta, error]
}

// About says what a Provider reaches.
type About struct {
	Provider string       // as sessions and price tables name it: anthropic, openai, google, ollama, echo
	Model    string       // as its vendor names it; "" if it has one only
	Rules    window.Rules // what messages it takes
}

// String returns how a person names it: anthropic:claude-sonnet-4-5.
func (a About) String() string {
	if a.Model == "" {
		return a.Provider
	}
	return a.Provider + ":" + a.Model
}

// A Request is what a model is to read.
type Request struct {
	System    string          // instructions that stand before all messages; "" for none
	Messages  []skein.Message // that keep the provider's rules
	Opaque    json.RawMessage // the provider's own item that goes before the messages; nil for none
	Tools     []ToolSpec
	MaxTokens int // of the answer; 0 for as many as usual

	// Blob returns the bytes of a file in Messages. It may be nil if no
	// message has any.
	Blob func(ctx context.Context, h skein.Hash) ([]byte, error)
}

// A ToolSpec tells a model of a tool.
type ToolSpec struct {
	Name   string          // letters, digits, _ and -; at most 64 bytes
	Doc    string          // for the model: what it does, when to use it
	Schema json.RawMessage // JSON Schema of its input, which is an object
}

// A Delta is a piece of an answer, to be shown after what came before.
//
// The Message of the last one has role assistant; as its parts text, reasoning
// (with Raw as the provider wants it back) and calls, in the order they came;
// and Provider, Model (as the vendor says), Request, Usage and Stop where
// known. Usage.Requests is 1. Calls that had not come to their end are left
// out.
type Delta struct {
	Text      string         // that people read
	Reasoning string         // that the provider lets people read
	Call      string         // name of a tool whose call begins to come; its input is in Message
	Message   *skein.Message // on the last only: the whole answer
}
