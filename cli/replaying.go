package cli

import (
	"context"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// replaying shows messages at the pace at which they were said.
type replaying struct {
	speed float64     // speed factor
	keys  <-chan byte // keys pressed: space pauses and resumes, Ctrl-C shows the rest at once; nil if none are read

	rest   bool // no more pauses
	before skein.Time
	begun  bool
}

// Keys with a meaning while a session is replayed.
const (
	keySpace = ' '
	keyCtrlC = 0x03
)

// Bounds of a pause between two messages.
const (
	minPause = 500 * time.Millisecond
	maxPause = 10 * time.Second
)

// play calls show for each of entries, after a pause before each that visible
// accepts, except the first. When ctx ends, or on Ctrl-C, it shows the rest at
// once, so that nothing is lost; entries should therefore not end with ctx.
//
// Errors are those of entries and show.
func (r *replaying) play(ctx context.Context, entries iter.Seq2[skein.Entry, error], visible func(*skein.Entry) bool, show func(*skein.Entry) error) error {
	for e, err := range entries {
		if err != nil {
			return err
		}
		if visible(&e) {
			if r.begun {
				r.pause(ctx, replayPause(r.before, e.Time, utf8.RuneCountInString(e.Message.Words()), r.speed))
			}
			r.before, r.begun = e.Time, true
		}
		if err := show(&e); err != nil {
			return err
		}
	}
	return nil
}

// replayPause returns how long to wait between a message said at before and one of
// so many characters said at now: the time between them, or if that is not known,
// 1.5 s plus half a second for every hundred characters; divided by speed; at least
// 0.5 s and at most 10 s.
func replayPause(before, now skein.Time, characters int, speed float64) time.Duration {
	seconds := float64(now-before) / 1000
	if before == 0 || now == 0 {
		seconds = 1.5 + 0.5*float64(characters)/100
	}
	seconds = min(max(seconds/speed, minPause.Seconds()), maxPause.Seconds())
	return time.Duration(seconds * float64(time.Second))
}

// pause waits, unless the rest is to be shown at once.
func (r *replaying) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	over, left := timer.C, d
	for began := time.Now(); !r.rest; {
		select {
		case <-ctx.Done():
			r.rest = true
		case <-over:
			return
		case k, ok := <-r.keys:
			switch {
			case !ok:
				r.keys = nil
			case k == keyCtrlC:
				r.rest = true
			case k == keySpace && over != nil: // the replay is paused
				timer.Stop()
				left -= time.Since(began)
				over = nil
			case k == keySpace:
				timer.Reset(max(left, 0))
				began, over = time.Now(), timer.C
			}
		}
	}
}
