package interop_test

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein/interop"
)

// A record that is only kept whole makes one event however often it is repeated,
// at whatever byte the file ended when it was last read.
func TestWhatIsNotedAgainAtOnceMakesNoEvent(t *testing.T) {
	text := line("a") + strings.Repeat(line("!j"), 4) + "\n\n" + line("!j") + line("b") + line("!j") + line("!k") + line("!j") + strings.TrimSpace(line("!j"))
	const want = "created a !j b !j !k !j"
	for cut := range len(text) {
		p := newPlace(t)
		if cut > 0 {
			p.raw("x.toy", text[:cut])
			p.bring(interop.Options{})
		}
		p.raw("x.toy", text)
		p.bring(interop.Options{})
		if got := p.tell("x"); got != want {
			t.Fatalf("a file that was cut at %d has the events %q, want %q", cut, got, want)
		}
	}
}
