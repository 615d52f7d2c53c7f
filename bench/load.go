package main

import (
	"context"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/bench/gen"
)

// longID and briefID are the sessions of the long store.
const (
	longID  skein.SessionID = "long"
	briefID skein.SessionID = "brief"
)

// loadLong fills one session with n messages and another with 1,000.
func loadLong(ctx context.Context, s skein.Store, n int) error {
	w := gen.NewWords(4)
	if _, err := skein.Add(ctx, s, briefID, append([]skein.Event{beginning("/home/ada/brief", newYear)}, said(w, 1000, 300, newYear)...)...); err != nil {
		return err
	}
	if _, err := skein.Add(ctx, s, longID, beginning("/home/ada/long", newYear)); err != nil {
		return err
	}
	for done := 0; done < n; done += 500 {
		if _, err := skein.Add(ctx, s, longID, said(w, min(500, n-done), 300, newYear+skein.Time(done)*20_000)...); err != nil {
			return err
		}
	}
	return nil
}

// loadWide fills n sessions of 20 projects, begun five minutes apart, with per
// messages each.
func loadWide(ctx context.Context, s skein.Store, n, per int) error {
	w := gen.NewWords(5)
	const at = 50 // sessions in one append
	for i := 0; i < n; i += at {
		var batches []skein.Batch
		for j := i; j < min(i+at, n); j++ {
			project, at := fmt.Sprintf("/home/ada/project-%d", j%20), newYear+skein.Time(j)*300_000
			batches = append(batches, skein.Batch{
				Session: skein.SessionID(fmt.Sprintf("wide-%06d", j)),
				Events:  append([]skein.Event{beginning(project, at)}, said(w, per, 400, at)...),
			})
		}
		if _, err := s.Append(ctx, batches...); err != nil {
			return err
		}
	}
	return nil
}
