package tool

import (
	"context"
	"encoding/json"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// A Tool is an operation that a model may call.
type Tool struct {
	Spec llm.ToolSpec

	// Safe says that repeating a call does no harm, because the tool only
	// reads.
	Safe bool

	// Title returns one line for people that describes a call with input, such
	// as "go test ./..."; nil, or "" from it, means the tool's name is enough.
	Title func(input json.RawMessage) string

	// Ask returns the question that a person must answer with yes before the
	// call runs, or "" if no approval is needed. Nil means never. It has no
	// side effects.
	Ask func(c Call) string

	// Each says that an approval holds for one call only, because the call also
	// affects other projects.
	Each bool

	// Run runs the call. An error means that the tool failed; the model reads
	// it, like Output.Text. When ctx ends, Run stops and returns what it has.
	Run func(ctx context.Context, c Call) (Output, error)
}

// A Call is one call of a tool.
type Call struct {
	ID      string          // of the Call part
	Input   json.RawMessage // a JSON object
	Session skein.SessionID // session of the call
	Cwd     string          // absolute path of the working directory

	// Started stores that the call started the child session. Its errors are
	// those of [skein.Store].Append. It may be nil.
	Started func(child skein.SessionID) error

	// Progress shows people a piece of output before the end. It may be nil.
	Progress func(text string)
}

// An Output is the result of a call.
type Output struct {
	Text   string       // for the model
	Files  []skein.File // that accompany Text
	Blobs  []skein.Blob // to which Files or Text refer
	Failed bool         // the tool ran but its work failed: a command with exit status 1
	Meta   json.RawMessage
}
