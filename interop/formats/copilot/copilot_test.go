package copilot

import (
	"testing"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/interoptest"
)

// lines is the format without its documents: files that are read as they grow.
func lines() interop.Format {
	f := Format()
	f.Unit, f.Look, f.Put = nil, nil, nil
	return f
}

func TestLines(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: lines(), Dir: "testdata/lines"})
}

func TestDocuments(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: Format(), Dir: "testdata/documents"})
}

func FuzzLines(f *testing.F) {
	interoptest.Fuzz(f, interoptest.Suite{Format: lines(), Dir: "testdata/lines"})
}
