package sessions

import (
	"slices"
	"testing"

	"github.com/skein-dev/skein"
)

func TestWhatIsCalledAlmostSo(t *testing.T) {
	ss := []skein.Session{{ID: "4f1d22a0", Title: "Fix the flaky test"}, {ID: "99999999", Title: "Dark mode"}}
	for name, want := range map[string][]skein.SessionID{"4f1d22b0": {"4f1d22a0"}, "flaky tests": {"4f1d22a0"}, "drak mode": {"99999999"}, "nowhere": nil} {
		var got []skein.SessionID
		for _, s := range nearest(name, ss) {
			got = append(got, s.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("nearest(%q) = %v, want %v", name, got, want)
		}
	}
}
