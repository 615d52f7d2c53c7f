package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/skein-dev/skein"
)

// longSession measures what must not depend on the length of a session.
func longSession(ctx context.Context, e *fixture) error {
	s, dir, err := e.open(ctx, "long")
	if err != nil {
		return err
	}
	defer s.Close()
	start := time.Now()
	if err := loadLong(ctx, s, e.size.long); err != nil {
		return err
	}
	e.say("  loaded %d messages in %s", e.size.long, time.Since(start).Round(time.Second))
	if err := e.newest(ctx, s); err != nil {
		return err
	}
	return e.fork(ctx, s, dir)
}

func (e *fixture) newest(ctx context.Context, s skein.Store) error {
	ask := func(id skein.SessionID) (series, error) {
		return repeat(500, func() error {
			got, err := s.Newest(ctx, id, 50, 0)
			if err == nil && len(got) != 50 {
				err = fmt.Errorf("newest 50 of %s: %d came", id, len(got))
			}
			return err
		})
	}
	brief, err := ask(briefID)
	if err != nil {
		return err
	}
	long, err := ask(longID)
	if err != nil {
		return err
	}
	l, b := long.median(), brief.median()
	e.add(row{
		fmt.Sprintf("newest 50 of %d messages", e.size.long), short(l), "of 1,000 messages " + short(b),
		ratio(l.Seconds(), b.Seconds()), "under 1 ms, 1.3", holds(l < time.Millisecond && l.Seconds() < 1.3*b.Seconds()),
	})
	return nil
}

// fork forks the long session repeatedly; the bytes are the growth of the
// store's file divided by the number of forks.
func (e *fixture) fork(ctx context.Context, s skein.Store, dir string) error {
	seq := skein.Seq(e.size.long / 2)
	n := 0
	one := func() error {
		n++
		_, err := skein.Add(ctx, s, skein.SessionID(fmt.Sprintf("fork-%d", n)), skein.NewEvent(skein.KindCreated, skein.At(time.Now()),
			skein.Created{Parent: &skein.Parent{Session: longID, Seq: seq, Why: skein.Fork}}))
		return err
	}
	const times = 400
	before, err := pages(dir)
	if err != nil {
		return err
	}
	d, err := repeat(times, one)
	if err != nil {
		return err
	}
	after, err := pages(dir)
	if err != nil {
		return err
	}
	each := (after - before) / (times + 1)
	e.add(row{
		fmt.Sprintf("fork of a session with %d events", e.size.long), fmt.Sprintf("%s, %d bytes", short(d.median()), each), "", "",
		"under 5 ms, 4 KB", holds(d.median() < 5*time.Millisecond && each < 4096),
	})
	return nil
}

// onDisk returns the bytes of all files below dir.
func onDisk(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
