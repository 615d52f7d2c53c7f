package whole

import (
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func newer() []harness.Check {
	return []harness.Check{
		{Name: "what a newer version wrote is refused, and is as it was", Newer: refusedNewer},
		{Name: "what a newer version takes over while it is open is not written to any more", Newer: takenOver},
	}
}

func refusedNewer(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("x"))
	t.NoErr("Close", t.Store.Close())
	t.Options.Newer(t.T, t.Address)
	unchanged := t.Options.Unchanged(t.T, t.Address)
	for range 2 {
		s, err := t.Options.Dial(t.Address)
		t.WantErr("opening what a newer version wrote", err, skein.ErrNewer)
		if err == nil {
			t.NoErr("Close", s.Close())
		}
	}
	t.NoErr("what the newer version wrote", unchanged())
}

func takenOver(t *harness.Test) {
	ctx := t.Context()
	t.Add("a", fixture.Created(), fixture.User("x"))
	t.Options.Newer(t.T, t.Address)
	_, acquire := skein.LeasesOf(t.Store).Acquire(ctx, "b", skein.LeaseRequest{TTL: time.Hour})
	_, scrub := skein.LifecycleOf(t.Store).Scrub(ctx, "a", []string{"secret"})
	_, destroy := skein.LifecycleOf(t.Store).Delete(ctx, "a", skein.Deletion{})
	for what, err := range map[string]error{
		"Append to a session": tryAdd(t, "a", fixture.User("y")),
		"Append of a session": tryAdd(t, "b", fixture.Created()),
		"Append of a fork":    tryAdd(t, "c", fixture.Fork("a", 2), fixture.User("z")),
		"Bin":                 skein.LifecycleOf(t.Store).Bin(ctx, "a"),
		"Acquire":             acquire,
		"Scrub":               scrub,
		"Delete":              destroy,
	} {
		t.WantErr(what+" where a newer version has taken over", err, skein.ErrNewer)
	}
}

// tryAdd appends events to session id.
func tryAdd(t *harness.Test, id skein.SessionID, evs ...skein.Event) error {
	_, err := t.Store.Append(t.Context(), skein.Batch{Session: id, Events: evs})
	return err
}
