package main

import (
	"context"
	"fmt"
	"time"

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

// loadWide fills n sessions with per messages each, like a year of work: they
// begin one after the other in eight hours of each day, fifty in a row for one
// of 20 projects.
func loadWide(ctx context.Context, s skein.Store, n, per int) error {
	w := gen.NewWords(5)
	const at = 50 // sessions in one append
	for i := 0; i < n; i += at {
		var batches []skein.Batch
		for j := i; j < min(i+at, n); j++ {
			project, begin := fmt.Sprintf("/home/ada/project-%d", j/50%20), beginOf(j, n)
			batches = append(batches, skein.Batch{
				Session: skein.SessionID(fmt.Sprintf("wide-%06d", j)),
				Events:  append([]skein.Event{beginning(project, begin)}, said(w, per, 400, begin)...),
			})
		}
		if _, err := s.Append(ctx, batches...); err != nil {
			return err
		}
	}
	return nil
}

// beginOf returns the time at which session j of n begins.
func beginOf(j, n int) skein.Time {
	const day, hour = 24 * 3_600_000, 3_600_000
	perDay := (n + 364) / 365
	return newYear + skein.Time(j/perDay*day+9*hour+j%perDay*8*hour/perDay)
}

// indexed waits until the index of the store in dir has all messages and
// returns how long that took.
func indexed(ctx context.Context, dir string) (time.Duration, error) {
	db, err := bare(dir)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	for start := time.Now(); ; {
		var behind int
		if err := db.QueryRowContext(ctx, `SELECT (SELECT max(id) FROM events) - upto FROM indexed`).Scan(&behind); err != nil || behind <= 0 {
			return time.Since(start), err
		}
		if err := wait(ctx, 20*time.Millisecond); err != nil {
			return 0, err
		}
	}
}
