package read

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skein-dev/skein"
)

func TestAPauseIsTheTimeBetweenMessagesWithinBounds(t *testing.T) {
	at := func(s int) skein.Time { return skein.Time(1_000_000 + 1000*s) }
	for _, c := range []struct {
		before, now skein.Time
		characters  int
		speed       float64
		want        time.Duration
	}{
		{at(0), at(6), 0, 2, 3 * time.Second},
		{at(0), at(6), 5000, 1, 6 * time.Second},
		{at(0), at(6), 0, 4, 1500 * time.Millisecond},
		{at(0), at(600), 0, 2, 10 * time.Second},
		{at(0), at(600), 0, 1000, 600 * time.Millisecond},
		{at(0), at(0), 900, 2, 500 * time.Millisecond},
		{at(5), at(0), 900, 2, 500 * time.Millisecond}, // a clock that was set back
		{0, at(6), 0, 1, 1500 * time.Millisecond},
		{at(6), 0, 300, 1, 3 * time.Second},
		{0, 0, 250, 2, 1375 * time.Millisecond},
		{0, 0, 0, 10, 500 * time.Millisecond},
		{0, 0, 100_000, 2, 10 * time.Second},
	} {
		if got := replayPause(c.before, c.now, c.characters, c.speed); got != c.want {
			t.Errorf("replayPause(%v, %v, %d, %v) = %v, want %v", c.before, c.now, c.characters, c.speed, got, c.want)
		}
	}
}

// said yields five messages, two seconds apart; the third is not visible.
func said() iter.Seq2[skein.Entry, error] {
	return func(yield func(skein.Entry, error) bool) {
		for i := range 5 {
			m := skein.UserSays(fmt.Sprint("m", i))
			if i == 2 {
				m.Role = skein.RoleTool
			}
			if !yield(skein.Entry{Time: skein.Time(1000 + 2000*i), Message: m}, nil) {
				return
			}
		}
	}
}

// played replays said while do acts on the replay, and returns when each message
// was shown.
func played(t *testing.T, r *Replaying, ctx context.Context, do func()) (shown []string) {
	t.Helper()
	began := time.Now()
	go do()
	err := r.play(ctx, said(), func(e *skein.Entry) bool { return e.Message.Role == skein.RoleUser }, func(e *skein.Entry) error {
		shown = append(shown, fmt.Sprintf("%s at %v", e.Message.Words(), time.Since(began)))
		return nil
	})
	if err != nil {
		t.Errorf("play = %v", err)
	}
	return shown
}

func TestReplayKeepsThePace(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(keys chan<- byte, stop func())
		want string
	}{
		"undisturbed":       {func(chan<- byte, func()) {}, "m0 at 0s, m1 at 1s, m2 at 1s, m3 at 3s, m4 at 4s"},
		"Ctrl-C":            {func(_ chan<- byte, stop func()) { <-time.After(1500 * time.Millisecond); stop() }, "m0 at 0s, m1 at 1s, m2 at 1s, m3 at 1.5s, m4 at 1.5s"},
		"the key of Ctrl-C": {func(k chan<- byte, _ func()) { <-time.After(500 * time.Millisecond); k <- 3 }, "m0 at 0s, m1 at 500ms, m2 at 500ms, m3 at 500ms, m4 at 500ms"},
		"space": {func(k chan<- byte, _ func()) {
			<-time.After(1500 * time.Millisecond)
			k <- 'x'
			k <- ' '
			<-time.After(time.Minute)
			k <- ' '
		}, "m0 at 0s, m1 at 1s, m2 at 1s, m3 at 1m3s, m4 at 1m4s"},
		"Ctrl-C while it stands still": {func(k chan<- byte, stop func()) {
			k <- ' '
			<-time.After(time.Hour)
			stop()
		}, "m0 at 0s, m1 at 1h0m0s, m2 at 1h0m0s, m3 at 1h0m0s, m4 at 1h0m0s"},
		"the end of stdin": {func(k chan<- byte, _ func()) { close(k) }, "m0 at 0s, m1 at 1s, m2 at 1s, m3 at 3s, m4 at 4s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				keys := make(chan byte)
				got := played(t, &Replaying{Speed: 2, Keys: keys}, ctx, func() { c.do(keys, stop) })
				if got := strings.Join(got, ", "); got != c.want {
					t.Errorf("play shows %s\nwant %s", got, c.want)
				}
			})
		})
	}
}
