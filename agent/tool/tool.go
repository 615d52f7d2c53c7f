package tool

import (
	"context"
	"encoding/json"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// A Tool is something that a model may ask to have done.
type Tool struct {
	Spec llm.ToolSpec

	// Safe says that running it again does no harm: it only reads.
	Safe bool

	// Title returns one line for people on what input asks for, such as
	// "go test ./..."; nil, or "" from it, means the tool's name says all.
	Title func(input json.RawMessage) string

	// Ask returns the question that a person has to say yes to before it runs,
	// "" if none has. Nil asks nothing. It does no harm, whatever the input.
	Ask func(c Call) string

	// Each says that a yes holds for one call only, for what it does is felt in
	// other projects too.
	Each bool

	// Run does it. The error means that the tool said no; the model reads it,
	// as it reads Output.Text. When ctx ends, it stops and returns what it has.
	Run func(ctx context.Context, c Call) (Output, error)
}

// A Call is one request to run a tool.
type Call struct {
	ID      string          // of the Call part
	Input   json.RawMessage // a JSON object
	Session skein.SessionID // that it is made in
	Cwd     string          // absolute path that paths are relative to

	// Started says that the call started the child session. Its errors are
	// those of [skein.Store].Append. Nil where nobody wants to know.
	Started func(child skein.SessionID) error

	// Progress shows people a piece of output before the end. Nil where
	// nobody looks.
	Progress func(text string)
}

// An Output is what a tool answers.
type Output struct {
	Text   string       // for the model
	Files  []skein.File // that go with it
	Blobs  []skein.Blob // that Files name, or that Text refers to
	Failed bool         // it ran, and what it did went wrong: a command with exit status 1
	Meta   json.RawMessage
}
