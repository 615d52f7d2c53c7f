package storetest

import (
	"time"

	"github.com/skein-dev/skein"
)

func newer() []check {
	return []check{
		{name: "what a newer version wrote is refused, and is as it was", newer: refusedNewer},
		{name: "what a newer version takes over while it is open is not written to any more", newer: takenOver},
	}
}

func refusedNewer(t *test) {
	t.add("a", created(), user("x"))
	t.noErr("Close", t.s.Close())
	t.options.Newer(t.T, t.address)
	unchanged := t.options.Unchanged(t.T, t.address)
	for range 2 {
		s, err := t.options.Dial(t.address)
		t.wantErr("opening what a newer version wrote", err, skein.ErrNewer)
		if err == nil {
			t.noErr("Close", s.Close())
		}
	}
	t.noErr("what the newer version wrote", unchanged())
}

func takenOver(t *test) {
	ctx := t.Context()
	t.add("a", created(), user("x"))
	t.options.Newer(t.T, t.address)
	_, acquire := skein.LeasesOf(t.s).Acquire(ctx, "b", skein.LeaseRequest{TTL: time.Hour})
	_, scrub := skein.LifecycleOf(t.s).Scrub(ctx, "a", []string{"secret"})
	_, destroy := skein.LifecycleOf(t.s).Delete(ctx, "a", skein.Deletion{})
	for what, err := range map[string]error{
		"Append to a session": t.tryAdd("a", user("y")),
		"Append of a session": t.tryAdd("b", created()),
		"Append of a fork":    t.tryAdd("c", fork("a", 2), user("z")),
		"Bin":                 skein.LifecycleOf(t.s).Bin(ctx, "a"),
		"Acquire":             acquire,
		"Scrub":               scrub,
		"Delete":              destroy,
	} {
		t.wantErr(what+" where a newer version has taken over", err, skein.ErrNewer)
	}
}

// tryAdd appends events to session id.
func (t *test) tryAdd(id skein.SessionID, evs ...skein.Event) error {
	_, err := t.s.Append(t.Context(), skein.Batch{Session: id, Events: evs})
	return err
}
