package server

import (
	"context"
	"fmt"
	"iter"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/api"
	"github.com/skein-dev/skein/door"
)

// follow answers with the events of a session, and with those that come.
func (a *service) follow(ctx context.Context, store skein.Store, q *EventQuery) (*written, error) {
	if q.View != "events" || q.Before > 0 {
		return nil, fmt.Errorf("%w: follow: it goes on with view=events only, and forward", skein.ErrInvalid)
	}
	after := q.After
	if q.Last != "" {
		var err error
		if after, err = seqOf(q.Last); err != nil {
			return nil, err
		}
	}
	if _, err := store.Session(ctx, q.ID); err != nil { // while a status can still say so
		return nil, err
	}
	return a.stream(func(ctx context.Context) frames {
		return func(yield func([]byte, error) bool) {
			for e, err := range store.Watch(ctx, q.ID, after) {
				if err != nil {
					yield(nil, err)
					return
				}
				if !yield(api.AppendEvent(fmt.Appendf(nil, "id: %d\ndata: ", e.Seq), e), nil) {
					return
				}
			}
		}
	}), nil
}

// streams registers what happens in all sessions.
func (a *service) streams(t *table) {
	type in struct {
		request
		From string `query:"from" doc:"a cursor: what came after it; now: only what comes; left out: everything there is"`
		Last string `header:"Last-Event-ID" doc:"the last cursor that was received, instead of from"`
	}
	register(t, operation{
		ID: "stream", Method: http.MethodGet, Path: "/stream", Tag: "events", Scope: door.Read, Stream: true, Summary: "What happens in all sessions, as it happens",
		Doc: "Each event that is stored, once, in the order in which they were stored, as SSE; its id is a cursor. After a break, Last-Event-ID (or from) takes up again without a gap or a repeat. " +
			"From now, the first thing that comes is an event of type ready, with the cursor of that moment. A comment comes every 15 s. Who reads too slowly is dropped, and may come back.",
		Gives: []media{bodyOf[fed](sseType)},
	}, func(ctx context.Context, i *in) (*written, error) {
		from := skein.Cursor(i.From)
		if i.Last != "" {
			from = skein.Cursor(i.Last)
		}
		store := door.From(ctx).Store
		if err := goodCursor(ctx, store, from); err != nil {
			return nil, err
		}
		return a.stream(func(ctx context.Context) frames { return feedFrames(store.Feed(ctx, from)) }), nil
	})
}

// goodCursor returns what the store says of a cursor, while a status can still
// say so.
func goodCursor(ctx context.Context, store skein.Store, c skein.Cursor) error {
	if c == "" || c == skein.FeedNow {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel() // it need not find anything
	for _, err := range store.Feed(ctx, c) {
		return err
	}
	return nil
}

func feedFrames(feed iter.Seq2[skein.Fed, error]) frames {
	return func(yield func([]byte, error) bool) {
		for f, err := range feed {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(fedFrame(f), nil) {
				return
			}
		}
	}
}

// fedFrame is an event among those of all sessions; one without an event is a
// place only.
func fedFrame(f skein.Fed) []byte {
	if f.Event.Kind == "" {
		return fmt.Appendf(nil, "id: %s\nevent: ready\ndata: {}", f.Cursor)
	}
	b := fmt.Appendf(nil, "id: %s\ndata: {\"session\":", f.Cursor)
	b = skein.AppendQuoted(b, string(f.Session))
	b = skein.AppendQuoted(append(b, `,"user":`...), string(f.User))
	return append(api.AppendEvent(append(b, `,"event":`...), f.Event), '}')
}
