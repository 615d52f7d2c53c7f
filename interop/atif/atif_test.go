package atif

import (
	"testing"

	"github.com/skein-dev/skein/interoptest"
)

func TestFormat(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: Format(), Dir: "testdata"})
}
