package skillet

import (
	"testing"

	"github.com/skein-dev/skein"
)

func TestSessionsGetTheNamesThatSkilletWouldGiveThem(t *testing.T) {
	for _, c := range []struct {
		s          skein.Session
		user, name string
	}{
		{skein.Session{ID: "01990000-0000-7000-8000-0000000000ab", User: skein.Local, Created: 1790000000123}, "john@example.com", "session_2026-09-21T14:13:20.123Z_d15d8613"},
		{skein.Session{ID: "a", User: "ann", Created: 1790000000123}, "ann", "session_2026-09-21T14:13:20.123Z_ca978112"},
		{skein.Session{ID: "a", User: "ann", Key: "cli:api"}, "ann", "cli:api"},
	} {
		if user, name := userOf(c.s), nameOf(c.s); user != c.user || name != c.name {
			t.Errorf("%+v is written as %s, %s; want %s, %s", c.s, user, name, c.user, c.name)
		}
	}
}

func TestSessionsOfOneMomentGetNamesOfTheirOwn(t *testing.T) {
	a, b := skein.Session{ID: "1-000000000000", Created: 1}, skein.Session{ID: "2-000000000000", Created: 1}
	if nameOf(a) == nameOf(b) {
		t.Errorf("two sessions are both called %s: one log could not hold them", nameOf(a))
	}
}
