package claudecode_test

import (
	"testing"

	"github.com/skein-dev/skein/interop/claudecode"
	"github.com/skein-dev/skein/interoptest"
)

var suite = interoptest.Suite{Format: claudecode.Format(), Dir: "testdata", Count: count}

func TestFormat(t *testing.T) { interoptest.Run(t, suite) }

func FuzzFormat(f *testing.F) { interoptest.Fuzz(f, suite) }
