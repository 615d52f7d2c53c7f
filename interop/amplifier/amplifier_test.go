package amplifier_test

import (
	"testing"

	"github.com/skein-dev/skein/interop/amplifier"
	"github.com/skein-dev/skein/interoptest"
)

func TestFormat(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: amplifier.Format(), Dir: "testdata", Head: func(_, name string) bool {
		return name == "metadata.json"
	}})
}
