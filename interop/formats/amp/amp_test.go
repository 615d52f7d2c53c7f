package amp

import (
	"testing"

	"github.com/skein-dev/skein/interop/interoptest"
)

func TestFormat(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: Format(), Dir: "testdata"})
}
