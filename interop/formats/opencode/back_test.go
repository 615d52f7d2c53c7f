package opencode

import (
	"testing"

	"github.com/skein-dev/skein/interop/interoptest"
)

func TestAnyLineIsWrittenBack(t *testing.T) {
	interoptest.Back{Format: Format(), Session: ses, From: 17, Seeds: 8, Lay: func(t testing.TB) string {
		p := newPlace(t.(*testing.T))
		p.user(2000, text("one"))
		return p.dir
	}}.Run(t)
}
