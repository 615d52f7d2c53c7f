package watch

import (
	"testing"
	"time"

	"github.com/skein-dev/skein/interop/discover"
)

// Where the system reports changes, polls cost at most a thousandth of a core, however
// many files there are; where it does not, they are all that finds changes.
func TestPollsCostLittleAtRest(t *testing.T) {
	for _, c := range []struct {
		blind      bool
		took, want time.Duration
	}{
		{false, time.Millisecond, discover.PollEvery},
		{false, 250 * time.Millisecond, 250 * time.Second},
		{true, 250 * time.Millisecond, discover.PollEvery},
	} {
		if got := (&watch{blind: c.blind}).pollAfter(c.took); got != c.want {
			t.Errorf("pollAfter(%s), blind %t = %s, want %s", c.took, c.blind, got, c.want)
		}
	}
}
