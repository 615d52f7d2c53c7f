package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/bench/gen"
	"github.com/skein-dev/skein/store/sqlite"
)

// open opens a new store in a folder of its own.
func (e *fixture) open(ctx context.Context, name string) (*sqlite.Store, string, error) {
	dir, err := e.folder(name)
	if err != nil {
		return nil, "", err
	}
	s, err := sqlite.Open(ctx, filepath.Join(dir, "skein.db"), sqlite.Options{})
	return s, dir, err
}

// rounds is how often the two sides of a comparison alternate, so that a
// machine that slows down slows both.
const rounds = 3

// appendOne measures one writer that appends messages of 1 KB, each durable
// before the next, to a new store. The plain file is measured before that
// begins and after the store is closed, so that the store's background work
// does not slow it.
func appendOne(ctx context.Context, e *fixture) error {
	evs := said(gen.NewWords(1), e.size.appends, 1000, newYear)
	var ours, theirs time.Duration
	var calls series
	for range rounds {
		s, dir, err := e.open(ctx, "append-one")
		if err != nil {
			return err
		}
		before, err := plainFile(dir, evs[:len(evs)/2])
		if err != nil {
			return errors.Join(err, s.Close())
		}
		d, err := burst(ctx, s, evs, &calls)
		if err != nil {
			return err
		}
		after, err := plainFile(dir, evs[len(evs)/2:])
		if err != nil {
			return err
		}
		ours, theirs = ours+d, theirs+before+after
	}
	o, t := rate(rounds*len(evs), ours), rate(rounds*len(evs), theirs)
	e.add(row{
		fmt.Sprintf("durable append of 1 KB, one writer, %d messages", len(evs)),
		fmt.Sprintf("%s, p99 %s", perSecond(o), short(calls.at(0.99))),
		"JSONL+fsync " + perSecond(t), ratio(o, t), "0.7", holds(o >= 0.7*t),
	})
	return nil
}

// burst appends evs to a new session of s and closes s; only the appends are
// timed.
func burst(ctx context.Context, s *sqlite.Store, evs []skein.Event, calls *series) (d time.Duration, err error) {
	if _, err = skein.Add(ctx, s, "one", beginning("/home/ada/one", newYear)); err == nil {
		d, err = appendEach(ctx, s, "one", evs, calls)
	}
	return d, errors.Join(err, s.Close())
}

// appendEach appends evs one by one and adds the time of each append to calls.
func appendEach(ctx context.Context, s skein.Store, id skein.SessionID, evs []skein.Event, calls *series) (time.Duration, error) {
	start := time.Now()
	for _, ev := range evs {
		begin := time.Now()
		if _, err := skein.Add(ctx, s, id, ev); err != nil {
			return 0, err
		}
		*calls = append(*calls, time.Since(begin))
	}
	return time.Since(start), nil
}

// appendSustained is appendOne for minutes, including the time until the index
// has the last message.
func appendSustained(ctx context.Context, e *fixture) error {
	s, dir, err := e.open(ctx, "append-sustained")
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := skein.Add(ctx, s, "one", beginning("/home/ada/one", newYear)); err != nil {
		return err
	}
	w := gen.NewWords(2)
	const beside = 10_000 // messages of the plain file, before and after
	theirs, err := plainFile(dir, said(w, beside, 1000, newYear))
	if err != nil {
		return err
	}
	// The text is made in advance: otherwise the index could catch up
	// meanwhile, in time that is not measured.
	text := strings.ToValidUTF8(w.Prose(8<<20), "")
	var calls series
	n, start := 0, time.Now()
	for ; time.Since(start) < e.size.sustained; n++ {
		if _, err := appendEach(ctx, s, "one", []skein.Event{piece(text, n)}, &calls); err != nil {
			return err
		}
	}
	last := time.Now()
	if err := s.Close(); err != nil { // Close brings the index up to date
		return err
	}
	rest, ours := time.Since(last), time.Since(start)
	after, err := plainFile(dir, said(w, beside, 1000, newYear))
	if err != nil {
		return err
	}
	o, t := rate(n, ours), rate(2*beside, theirs+after)
	e.add(row{
		fmt.Sprintf("the same for %s, %d messages, until the index has them", e.size.sustained, n),
		fmt.Sprintf("%s, p99 %s, index behind by %s at the end", perSecond(o), short(calls.at(0.99)), short(rest)),
		"JSONL+fsync " + perSecond(t), ratio(o, t), "0.55", holds(o >= 0.55*t),
	})
	return nil
}

// appendMany measures a burst of appends to many sessions at once.
func appendMany(ctx context.Context, e *fixture) error {
	return e.many(ctx, "append-many", e.size.each, func(r *row, o, t float64, calls series) {
		r.what, r.goal = fmt.Sprintf("the same, %d sessions at once, %d messages", e.size.producers, e.size.producers*e.size.each), "2 in a burst, p99 under 60 ms"
		r.holds = holds(o >= 2*t && calls.at(0.99) < 60*time.Millisecond)
	})
}

// appendManySustained measures appends to many sessions at once, for long
// enough that the index matters.
func appendManySustained(ctx context.Context, e *fixture) error {
	return e.many(ctx, "append-many-sustained", e.size.steady, func(r *row, o, t float64, calls series) {
		r.what, r.goal = fmt.Sprintf("the same, %d messages, until the index has them", e.size.producers*e.size.steady), "1.2, p99 under 60 ms"
		r.holds = holds(o >= 1.2*t && calls.at(0.99) < 60*time.Millisecond)
	})
}

func (e *fixture) many(ctx context.Context, name string, each int, say func(r *row, o, t float64, calls series)) error {
	s, dir, err := e.open(ctx, name)
	if err != nil {
		return err
	}
	defer s.Close()
	w := gen.NewWords(3)
	theirs, err := plainFile(dir, said(w, 5_000, 1000, newYear))
	if err != nil {
		return err
	}
	load := make([][]skein.Event, e.size.producers)
	for i := range load {
		load[i] = append([]skein.Event{beginning("/home/ada/many", newYear)}, said(w, each, 1000, newYear)...)
	}
	start := time.Now()
	calls, err := race(ctx, s, load)
	if err != nil {
		return err
	}
	burst := time.Since(start)
	if name != "append-many" {
		if err := s.Close(); err != nil {
			return err
		}
		burst = time.Since(start)
	}
	after, err := plainFile(dir, said(w, 5_000, 1000, newYear))
	if err != nil {
		return err
	}
	o, t := rate(len(load)*each, burst), rate(10_000, theirs+after)
	r := row{got: fmt.Sprintf("%s, p99 %s", perSecond(o), short(calls.at(0.99))), beside: "JSONL+fsync, one writer " + perSecond(t), ratio: ratio(o, t)}
	say(&r, o, t, calls)
	e.add(r)
	return nil
}

// race appends each list of events to a session of its own, concurrently.
func race(ctx context.Context, s skein.Store, load [][]skein.Event) (all series, err error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i, evs := range load {
		wg.Go(func() {
			var calls series
			_, e := appendEach(ctx, s, skein.SessionID(fmt.Sprintf("many-%d", i)), evs, &calls)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, calls...)
			if e != nil {
				err = e
			}
		})
	}
	wg.Wait()
	return all, err
}
