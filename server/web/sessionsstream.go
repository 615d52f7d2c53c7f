package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
)

const (
	beat  = 15 * time.Second       // interval of the heartbeats of a silent stream
	pause = 500 * time.Millisecond // events within it are reported together
)

// stream reports, as server-sent events, which sessions have changed, so that
// the list updates itself. It also tells a page that its login was ended.
func (s *site) stream(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	ctx, cancel := context.WithCancel(r.Context())
	news, done := make(chan skein.Fed), make(chan struct{})
	go func() {
		defer close(done)
		s.feed(ctx, news)
	}()
	defer func() {
		cancel()
		<-done
	}()
	write := func(text string) bool {
		_, err := w.Write([]byte(text))
		return err == nil && out.Flush() == nil
	}
	beats := time.NewTicker(beat)
	defer beats.Stop()
	select { // a client that sees the stream open misses nothing from then on
	case <-news:
	case <-done:
		return
	}
	var due <-chan time.Time // when to report; nil if there is nothing to report
	for ok := write("retry: 2000\n\n"); ok; {
		select {
		case <-done:
			if errors.Is(context.Cause(ctx), door.ErrRevoked) {
				write(loggedOut)
			}
			return
		case fed := <-news:
			if fed.Event.Kind != "" && due == nil {
				due = time.After(pause)
			}
		case <-due:
			due = nil
			ok = write("event: changed\ndata: {}\n\n")
		case <-beats.C:
			ok = write(": alive\n\n")
		}
	}
}

// feed passes on events from now on, until ctx ends.
func (s *site) feed(ctx context.Context, news chan<- skein.Fed) {
	for fed, err := range skein.FeedOf(door.From(ctx).Store).Feed(ctx, skein.FeedNow) {
		if err != nil {
			s.Log.Error("the stream of sessions ended", "err", err)
			return
		}
		select {
		case news <- fed:
		case <-ctx.Done():
			return
		}
	}
}
