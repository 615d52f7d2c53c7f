package pi_test

import (
	"testing"

	"github.com/skein-dev/skein/interop/formats/pi"
	"github.com/skein-dev/skein/interop/interoptest"
)

func TestAnyLineIsWrittenBack(t *testing.T) {
	interoptest.Back{Format: pi.Format(), Session: "s1", From: 17, Seeds: 8, Sums: true, Lay: func(t testing.TB) string {
		p := newPlace(t.(*testing.T))
		p.write("sessions/x/"+stamp+"s1.jsonl", head("s1", ""), says("user", "a", "", "one"), says("assistant", "b", "a", "yes"))
		return p.dir
	}}.Run(t)
}
