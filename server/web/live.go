package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/transcript"
)

// liveStreams tell pages of what happens.
type liveStreams struct{ *site }

// routes are the streams: of one session, and of the list of all.
func (s liveStreams) routes() []door.Route {
	stream := func(path string, h http.HandlerFunc) door.Route {
		return door.Route{Pattern: "GET " + path, Scope: door.Read, Stream: true, Handler: h}
	}
	return []door.Route{stream("/sessions/{id}/live", s.live), stream("/sessions/stream", s.stream)}
}

// soon is how long changes are collected before a page hears of them.
const soon = 150 * time.Millisecond

// live reports, as server-sent events, that a session has grown. The page then
// requests the new messages as it requests all others. The events are
//
//	changed   it has grown; data and ID are its last seq
//	rewound   earlier messages were taken back, or are live again; changed follows
//	piece     a piece of the answer being written, as JSON
//	state     the running turn has another state
//	gone      the session was deleted
//	out       the login was ended: the page must be reloaded
func (s liveStreams) live(w http.ResponseWriter, r *http.Request) {
	store, id := door.From(r.Context()).Store, skein.SessionID(r.PathValue("id"))
	one, err := store.Session(r.Context(), id)
	if err != nil {
		door.Fail(w, r, err)
		return
	}
	after, err := strconv.ParseInt(cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")), 10, 64)
	if err != nil || after < 0 {
		after = int64(one.Last)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	l := &living{w: w, out: http.NewResponseController(w)}
	var talk <-chan turnNews
	if s.Chat != nil && door.From(r.Context()).Scope >= door.Admin {
		ear, done := s.Chat.listen(id)
		defer done()
		talk = ear
	}
	ctx, cancel := context.WithCancel(r.Context())
	grown, gone := make(chan skein.Event), make(chan struct{})
	go func() {
		defer close(gone)
		s.watch(ctx, store, id, skein.Seq(after), grown)
	}()
	defer func() {
		cancel()
		<-gone
	}()
	l.follow(ctx, grown, gone, talk, s.Redact)
	if errors.Is(context.Cause(ctx), door.ErrRevoked) {
		l.write(loggedOut)
	}
}

// loggedOut reports to a page that its login was ended.
const loggedOut = "event: out\ndata: {}\n\n"

// watch passes on new events, until ctx ends or the session is gone.
func (s liveStreams) watch(ctx context.Context, store skein.Store, id skein.SessionID, after skein.Seq, grown chan<- skein.Event) {
	for e, err := range transcript.Legible(store).Watch(ctx, id, after) {
		if err != nil {
			return
		}
		select {
		case grown <- e:
		case <-ctx.Done():
			return
		}
	}
}

// living is a running stream of events.
type living struct {
	w   http.ResponseWriter
	out *http.ResponseController
}

func (l *living) write(text string) bool {
	_, err := l.w.Write([]byte(text))
	return err == nil && l.out.Flush() == nil
}

// stateChanged reports that the state of the running turn changed.
const stateChanged = "event: state\ndata: {}\n\n"

// rewound reports a rewind.
const rewound = "event: rewound\ndata: {}\n\n"

// follow writes events, until ctx ends, the session is gone, or the client
// hangs up.
func (l *living) follow(ctx context.Context, grown <-chan skein.Event, gone <-chan struct{}, talk <-chan turnNews, redact func(string) string) {
	beats := time.NewTicker(beat)
	defer beats.Stop()
	var due <-chan time.Time // when to report growth; nil if there was none
	last, told := skein.Seq(0), ""
	hello := "retry: 2000\n\n"
	if talk != nil {
		hello += stateChanged // a question may have been asked between the page and its stream
	}
	for ok := l.write(hello); ok; {
		select {
		case <-ctx.Done():
			return
		case <-gone:
			if ctx.Err() == nil {
				l.write("event: gone\ndata: {}\n\n")
			}
			return
		case e := <-grown:
			if last = e.Seq; e.Kind == skein.KindRewound {
				told = rewound
			}
			if due == nil {
				due = time.After(soon)
			}
		case <-due:
			ok = l.write(fmt.Sprintf("%sevent: changed\nid: %d\ndata: %d\n\n", told, last, last))
			due, told = nil, ""
		case n := <-talk:
			if n.Kind == "piece" {
				ok = l.write("event: piece\ndata: " + string(skein.MustJSON(redact(n.Text))) + "\n\n")
			} else {
				ok = l.write(stateChanged)
			}
		case <-beats.C:
			ok = l.write(": alive\n\n")
		}
	}
}

const (
	beat  = 15 * time.Second       // interval of the heartbeats of a silent stream
	pause = 500 * time.Millisecond // events within it are reported together
)

// stream reports, as server-sent events, which sessions have changed, so that
// the list updates itself. It also tells a page that its login was ended.
func (s liveStreams) stream(w http.ResponseWriter, r *http.Request) {
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
func (s liveStreams) feed(ctx context.Context, news chan<- skein.Fed) {
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
