package server

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/api"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/server/sse"
	"github.com/skein-dev/skein/store/lenient"
)

// follow answers with the events of a session, and with new ones as they come.
func (a eventOps) follow(ctx context.Context, store skein.Store, q *EventQuery) (*rawAnswer, error) {
	if q.View != "events" || q.Before > 0 {
		return nil, fmt.Errorf("%w: follow: works only with view=events, and forward", skein.ErrInvalid)
	}
	after := q.After
	if q.Last != "" {
		var err error
		if after, err = seqOf(q.Last); err != nil {
			return nil, err
		}
	}
	s, err := store.Session(ctx, q.ID) // while a status can still say that it does not exist
	if err != nil {
		return nil, err
	}
	return stream(func(ctx context.Context) sse.Frames {
		own := a.watched(store.Watch(ctx, q.ID, after), after, q.Raw)
		if a.Store == nil {
			return sse.Alone(own)
		}
		return func(yield func([]byte, error) bool) {
			h, leave := a.hubs.Enter(hubName("session "+string(q.ID), q.Raw), sse.KeepOfSession, func(ctx context.Context) sse.Places {
				return a.watched(lenient.Store(a.Store, nil).Watch(ctx, q.ID, s.Last), s.Last, q.Raw)
			})
			defer leave()
			h.Now(ctx) // waits until the hub's first position is known
			h.Join(ctx, strconv.FormatInt(int64(after), 10), "", own)(yield)
		}
	}), nil
}

// stream answers with frames as they come.
func stream(all func(context.Context) sse.Frames) *rawAnswer {
	return &rawAnswer{func(c huma.Context) {
		if w, ok := openapi.ResponseOf(c); ok {
			sse.Serve(c.Context(), w, all)
		}
	}}
}

// hubName returns the name of the hub for readers with secrets, or without.
func hubName(of string, raw bool) string {
	if raw {
		return "raw " + of
	}
	return of
}

// watched yields the events of a session after a position, and that position
// first.
func (a eventOps) watched(evs iter.Seq2[skein.Event, error], after skein.Seq, raw bool) sse.Places {
	return func(yield func(sse.Place, error) bool) {
		if !yield(sse.Place{ID: strconv.FormatInt(int64(after), 10)}, nil) {
			return
		}
		for e, err := range evs {
			id := strconv.FormatInt(int64(e.Seq), 10)
			if !yield(sse.Place{ID: id, Frame: api.AppendEvent([]byte("id: "+id+"\ndata: "), a.veiled(e, raw))}, err) {
				return
			}
		}
	}
}

// streams registers the stream of the events of all sessions.
func (a eventOps) streams(t *openapi.Table) {
	type in struct {
		openapi.Request
		Raw  bool   `query:"raw" doc:"include secrets; needs the scope read:raw"`
		From string `query:"from" doc:"a cursor: events after it; now: only new events; by default: all events"`
		Last string `header:"Last-Event-ID" doc:"the last cursor that was received; used instead of from"`
	}
	openapi.Register(t, openapi.Operation{
		ID: "stream", Method: http.MethodGet, Path: "/stream", Tag: "events", Scope: door.Read, Stream: true, Summary: "Stream the events of all sessions",
		Doc: "Sends each event once, as SSE, in the order in which the events were stored; its id is a cursor. After a disconnection, Last-Event-ID (or from) resumes without gaps or repeats. " +
			"With from=now, the first message is an event of type ready with the current cursor. A comment is sent every 15 s. A client that reads too slowly is disconnected, and can resume.",
		Gives: []openapi.Media{openapi.BodyOf[fed](sse.MediaType)},
	}, func(ctx context.Context, i *in) (*rawAnswer, error) {
		from := skein.Cursor(i.From)
		if i.Last != "" {
			from = skein.Cursor(i.Last)
		}
		v := door.From(ctx)
		if err := rawly(ctx, i.Raw); err != nil {
			return nil, err
		}
		if err := goodCursor(ctx, v.Store, from); err != nil {
			return nil, err
		}
		return stream(func(ctx context.Context) sse.Frames {
			own := a.fedPlaces(skein.FeedOf(v.Store).Feed(ctx, from), i.Raw)
			if a.Store == nil {
				return sse.Alone(own)
			}
			return a.feed(ctx, from, v.User, own, i.Raw)
		}), nil
	})
}

// feed reads the events of all sessions, sharing a hub with its other readers.
func (a eventOps) feed(ctx context.Context, from skein.Cursor, user skein.User, own sse.Places, raw bool) sse.Frames {
	return func(yield func([]byte, error) bool) {
		h, leave := a.hubs.Enter(hubName("", raw), sse.KeepOfAll, func(ctx context.Context) sse.Places {
			return a.fedPlaces(skein.FeedOf(a.Store).Feed(ctx, skein.FeedNow), raw)
		})
		defer leave()
		id, n := h.Now(ctx)
		if from == skein.FeedNow {
			if yield(readyFrame(id), nil) {
				h.Read(ctx, n, user, yield)
			}
			return
		}
		h.Join(ctx, string(from), user, own)(yield)
	}
}

// goodCursor returns the store's error for a cursor, while a status can still
// be set.
func goodCursor(ctx context.Context, store skein.Store, c skein.Cursor) error {
	if c == "" || c == skein.FeedNow {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel() // only the cursor is checked: no event needs to be found
	for _, err := range skein.FeedOf(store).Feed(ctx, c) {
		if errors.Is(err, skein.ErrInvalid) {
			return err
		}
		break
	}
	return nil
}

// fedPlaces yields the events of a feed. A feed from now begins with its
// position, which nobody reads from a hub: readers begin after it.
func (a eventOps) fedPlaces(feed iter.Seq2[skein.Fed, error], raw bool) sse.Places {
	return func(yield func(sse.Place, error) bool) {
		for f, err := range feed {
			f.Event = a.veiled(f.Event, raw)
			if !yield(sse.Place{ID: string(f.Cursor), User: f.User, Frame: fedFrame(f)}, err) {
				return
			}
		}
	}
}

func readyFrame(cursor string) []byte {
	return fmt.Appendf(nil, "id: %s\nevent: ready\ndata: {}", cursor)
}

// fedFrame returns the SSE frame of an event of the feed; without an event, it
// carries only a position.
func fedFrame(f skein.Fed) []byte {
	if f.Event.Kind == "" {
		return readyFrame(string(f.Cursor))
	}
	b := fmt.Appendf(nil, "id: %s\ndata: {\"session\":", f.Cursor)
	b = skein.AppendQuoted(b, string(f.Session))
	b = skein.AppendQuoted(append(b, `,"user":`...), string(f.User))
	b = api.AppendEvent(append(b, `,"event":`...), f.Event)
	if f.Damaged {
		b = append(b, `,"damaged":true`...)
	}
	return append(b, '}')
}
