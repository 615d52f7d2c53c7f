package otelgenai

import (
	"testing"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/interoptest"
)

func TestDocuments(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: Format(), Dir: "testdata/documents", Lacks: []string{"a system prompt", "a fork's parent", "a child's parent", "a change of branch", "what a cache keeps for an hour", "a service tier", "a description", "a profile", "an agent's settings", "a key", "a pin", "tags", "a status", "a request that failed", "when a tool ran", "that it was resumed", "that it ended", "a note"}, Recorded: true, OneWay: []string{"messages.json"}})
}

// byLine is the format without its documents: files that are read as they grow.
func byLine() interop.Format {
	f := Format()
	f.Look, f.Put, f.Write = nil, nil, nil
	return f
}

func TestLines(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: byLine(), Dir: "testdata/lines"})
}

func FuzzLines(f *testing.F) {
	interoptest.Fuzz(f, interoptest.Suite{Format: byLine(), Dir: "testdata/lines"})
}
