package postgres

import (
	"testing"

	"github.com/skein-dev/skein"
)

// Events from before there were checksums get theirs, but those that do not have the
// content any more that their client ID was given for; and that is looked for once.
func TestOlderEventsGetChecksumsOnce(t *testing.T) {
	s := opened(t)
	for _, user := range []skein.User{"ann", "bob"} {
		evs := []skein.Event{skein.NewEvent(skein.KindCreated, noon, skein.Created{})}
		for range stepRows {
			evs = append(evs, skein.Say(noon, skein.UserSays("one")))
		}
		evs[1].ClientID = skein.ClientID(user)
		if _, err := skein.Add(t.Context(), s.As(user), skein.SessionID(user), evs...); err != nil {
			t.Fatal(err)
		}
	}
	s.sql(t, `UPDATE events SET sum = NULL WHERE seq <> 3`)
	s.sql(t, `UPDATE events SET payload = '{}' WHERE client = 'ann'`)
	s.sql(t, `INSERT INTO unsummed (one, who, n, seq) VALUES (1, '', 0, 0) ON CONFLICT (one) DO UPDATE SET who = excluded.who, n = excluded.n, seq = excluded.seq`)
	until(t, "all were looked at", func() bool {
		if _, err := s.sumSome(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s.number(t, `SELECT count(*) FROM unsummed`) == 0
	})
	if n := s.number(t, `SELECT count(*) FROM events WHERE sum IS NULL`); n != 1 {
		t.Errorf("%d events have no checksum, want the damaged one", n)
	}
	if more, err := s.sumSome(t.Context()); more || err != nil {
		t.Errorf("sumSome = %v, %v when all were looked at", more, err)
	}
}
