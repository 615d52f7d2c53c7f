package cline

import (
	"slices"
	"testing"

	"github.com/skein-dev/skein/interop/interoptest"
)

func TestFormat(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: Format(), Dir: "testdata", Head: func(unit, name string) bool {
		return slices.Contains(heads(unit), name)
	}})
}
