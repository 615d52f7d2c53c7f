package amplifier_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
)

func TestTranscriptAndLogAreMergedByTheirTimes(t *testing.T) {
	f, s := newFolder(t), memory.New()
	defer s.Close()
	at := func(event, stamp string) string {
		return fmt.Sprintf(`{"ts": %q, "event": %q, "session_id": %q}`, stamp, event, liveID)
	}
	f.logs(at("early", "2026-09-03T08:00:00.900+00:00"), at("same", "2026-09-03T08:00:01.000+00:00"), at("none", ""), at("between", "2026-09-03T08:00:01.500+00:00"), at("late", "2026-09-03T09:00:00Z"))
	f.save(user(1, "one"), `{"role": "user", "content": "without a time"}`, user(2, "two"))
	bring(t, s, f.path)
	var got []string
	for e, err := range s.Events(t.Context(), liveID, 1) {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case skein.KindSaid:
			m, err := skein.Decode[skein.Message](e)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, m.Words())
		case skein.KindNoted:
			n, err := skein.Decode[skein.Noted](e)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.TrimPrefix(n.Name, "amplifier:"))
		}
	}
	if got, want := strings.Join(got, ", "), "early, one, without a time, same, none, between, two, late, metadata"; got != want {
		t.Errorf("the session has %s, want %s", got, want)
	}
}
