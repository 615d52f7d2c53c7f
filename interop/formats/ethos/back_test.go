package ethos

import (
	"testing"

	"github.com/skein-dev/skein/interop/interoptest"
)

func TestAnyLineIsWrittenBack(t *testing.T) {
	interoptest.Back{Format: Format(), Session: "s", From: 17, Seeds: 8, Lay: func(t testing.TB) string {
		path, _ := fig(t)
		return path
	}}.Run(t)
}
