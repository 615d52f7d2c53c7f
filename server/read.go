package server

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/llm/window"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/api"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/server/sse"
)

// EventQuery says which events to read, and how.
type EventQuery struct {
	ID       skein.SessionID `path:"id"`
	View     string          `query:"view" enum:"events,messages,context" default:"events"`
	After    skein.Seq       `query:"after" minimum:"0" doc:"only events after this seq"`
	Before   skein.Seq       `query:"before" minimum:"0" doc:"the last events before this seq"`
	Cursor   string          `query:"cursor" doc:"next_cursor of the previous page; continues in the same direction"`
	Limit    int             `query:"limit" default:"500" minimum:"1" maximum:"5000"`
	Follow   string          `query:"follow" enum:"0,1,true,false" doc:"1: respond as text/event-stream with the stored events and then new ones; only for view=events"`
	Last     string          `header:"Last-Event-ID" doc:"follow: the last seq that was received; same as after"`
	Provider string          `query:"provider" doc:"context: provider whose rules it follows, such as anthropic, openai or google; generic for the rules that all share; by default, the session's own provider"`
	Model    string          `query:"model" doc:"context: model of the request; only with provider"`
	Raw      bool            `query:"raw" doc:"include secrets; needs the scope read:raw"`
	Newest   int             `query:"newest" minimum:"0" doc:"context: about this many of the newest messages; 0 for all"`
}

// shown is the context: what a model is shown on the next request.
type shown struct {
	Messages  []skein.Message `json:"messages"`
	Seqs      []skein.Seq     `json:"seqs" doc:"for each message, the seq of its first event; 0 if it has no event"`
	Opaque    map[string]any  `json:"opaque,omitempty" doc:"a provider's own item for compacted messages, which goes before the messages"`
	Compacted skein.Seq       `json:"compacted,omitempty" doc:"seq of the compacted event whose summary is used"`
	Repairs   []repair        `json:"repairs,omitempty" doc:"what was changed so that the provider accepts the context"`
}

type repair struct {
	Seq    skein.Seq         `json:"seq"`
	Kind   window.RepairKind `json:"kind"`
	Detail string            `json:"detail,omitempty"`
}

// rawAnswer is an answer written by hand.
type rawAnswer struct{ Body func(huma.Context) }

// events registers the routes that read a session.
func (a eventOps) events(t *openapi.Table) {
	type in struct {
		openapi.Request
		EventQuery
	}
	openapi.Register(t, openapi.Operation{
		ID: "read-events", Method: http.MethodGet, Path: "/sessions/{id}/events", Tag: "events", Scope: door.Read, Follow: true, Summary: "A session's events or messages, or the context for a model",
		Doc: "view=events: the events as they were written, in order; a fork's include its parent's. view=messages: the messages, each put together from its pieces. view=context: what a model is shown next.\n\n" +
			"With follow=1, each event is sent as SSE with its seq as id. After a disconnection, Last-Event-ID (or after) resumes without gaps or repeats. A comment is sent every 15 s. A client that reads too slowly is disconnected, and can resume.",
		Errors: []int{http.StatusNotFound},
		Gives:  []openapi.Media{openapi.BodyOf[eventPage](jsonType), openapi.BodyOf[api.Page[render.Entry]](jsonType), openapi.BodyOf[shown](jsonType), openapi.BodyOf[event](sse.MediaType)},
	}, func(ctx context.Context, i *in) (*rawAnswer, error) {
		q := &i.EventQuery
		if err := q.readCursor(); err != nil {
			return nil, err
		}
		if err := rawly(ctx, q.Raw); err != nil {
			return nil, err
		}
		store := legible(ctx)
		switch {
		case openapi.Truth(q.Follow):
			return a.follow(ctx, store, q)
		case q.View == "messages":
			page, err := a.messagePage(ctx, store, q)
			return page, err
		case q.View == "context":
			c, err := a.contextOf(ctx, store, q)
			return asBytes(c), err
		}
		return a.readEvents(ctx, store, q)
	})
}

// asPage answers with a page of items, each of which is made only as it is sent: one
// may be long. If that fails, the connection is closed early.
func asPage[T any](items []T, next string, line func(T) iter.Seq2[[]byte, error]) *rawAnswer {
	return &rawAnswer{func(c huma.Context) {
		c.SetHeader("Content-Type", jsonType)
		l := newLiner(c)
		defer l.end()
		l.write([]byte(`{"items":[`))
		for i, item := range items {
			if i > 0 {
				l.write([]byte(","))
			}
			if err := l.writeAll(line(item)); err != nil {
				panic(http.ErrAbortHandler)
			}
			var none T
			items[i] = none
		}
		l.write([]byte("]"))
		if next != "" {
			l.write(append([]byte(`,"next_cursor":`), skein.MustJSON(next)...))
		}
		l.write([]byte("}"))
	}}
}

func asBytes(b []byte) *rawAnswer {
	return &rawAnswer{func(c huma.Context) {
		c.SetHeader("Content-Type", jsonType)
		c.SetHeader("Content-Length", strconv.Itoa(len(b)))
		c.SetStatus(http.StatusOK)
		c.BodyWriter().Write(b) //nolint:errcheck // the client has gone
	}}
}

// readCursor sets After or Before from the cursor.
func (q *EventQuery) readCursor() error {
	if q.After > 0 && q.Before > 0 {
		return fmt.Errorf("%w: after and before: want one of them", skein.ErrInvalid)
	}
	if q.Cursor == "" {
		return nil
	}
	way, at, _ := strings.Cut(q.Cursor, ":")
	n, err := strconv.ParseInt(at, 10, 64)
	switch {
	case err != nil || n < 0 || way != "after" && way != "before":
		return &cursorError{q.Cursor}
	case way == "after":
		q.After, q.Before = skein.Seq(n), 0
	default:
		q.After, q.Before = 0, skein.Seq(n)
	}
	return nil
}

// maxPage is about how many bytes of payloads a page has at most; a single
// event may be longer.
const maxPage = 8 << 20

// sizeOf returns how many bytes an event's payload has.
func sizeOf(e skein.Event) int { return len(e.Payload) }

// readEvents answers with a page of events.
func (a eventOps) readEvents(ctx context.Context, store skein.Store, q *EventQuery) (*rawAnswer, error) {
	after := q.After
	if q.Before > 0 {
		after = max(0, q.Before-1-skein.Seq(q.Limit))
	}
	var page []skein.Event
	size, more := 0, q.Before > 0 && after > 0
	for e, err := range room.Kept(ctx, store.Events(ctx, q.ID, after), sizeOf) {
		if err != nil {
			return nil, err
		}
		if q.Before > 0 && e.Seq >= q.Before {
			break
		}
		if q.Before == 0 && (len(page) == q.Limit || size > maxPage) {
			more = true
			break
		}
		page, size = append(page, a.veiled(e, q.Raw)), size+len(e.Payload)
		for size > maxPage && len(page) > 1 && q.Before > 0 {
			room.Of(ctx).Give(int64(len(page[0].Payload)))
			page, size, more = page[1:], size-len(page[0].Payload), true
		}
	}
	next := ""
	switch {
	case !more || len(page) == 0:
	case q.Before > 0:
		next = fmt.Sprintf("before:%d", page[0].Seq)
	default:
		next = fmt.Sprintf("after:%d", page[len(page)-1].Seq)
	}
	return asPage(page, next, eventPieces), nil
}

// messagePage answers with a page of messages: the first ones or, with before, the
// newest ones before it.
func (a eventOps) messagePage(ctx context.Context, store skein.Store, q *EventQuery) (*rawAnswer, error) {
	if q.Before > 0 {
		found, more, err := fitting(ctx, store, q.ID, q.Limit, q.Before)
		if err != nil {
			return nil, err
		}
		cursor := ""
		if more {
			cursor = fmt.Sprintf("before:%d", found[0].Seq)
		}
		return a.asMessages(ctx, store, q.ID, found, cursor, q.Raw)
	}
	s, err := store.Session(ctx, q.ID)
	if err != nil {
		return nil, err
	}
	var found []skein.Entry
	size, cursor := 0, ""
	for e, err := range entries(ctx, store, &s, q.After) {
		if err != nil {
			return nil, err
		}
		if len(found) == q.Limit || size > maxPage {
			cursor = fmt.Sprintf("after:%d", found[len(found)-1].Seq)
			break
		}
		n := lengthOf(e)
		if err := room.Of(ctx).Take(ctx, int64(n)); err != nil {
			return nil, err
		}
		size += n
		found = append(found, e)
	}
	return a.asMessages(ctx, store, q.ID, found, cursor, q.Raw)
}

// Messages that are read at once: enough for about readBytes; fewer the first
// time, when their length is not known yet.
const (
	readFirst = 4
	readMost  = 500
	readBytes = 1 << 20
)

// next returns how many messages to read at once, after n that gave found.
func next(found []skein.Entry, n int) int {
	return max(1, min(readMost, 8*n, readBytes*n/sizeOfAll(found)))
}

// sizeOfAll returns about how many bytes entries have, at least 1.
func sizeOfAll(all []skein.Entry) int {
	size := 1
	for _, e := range all {
		size += lengthOf(e)
	}
	return size
}

// lengthOf returns about how many bytes an entry has.
func lengthOf(e skein.Entry) int {
	n := 0
	for i := range e.Message.Parts {
		p := &e.Message.Parts[i]
		n += len(p.Text) + len(p.Raw) + len(p.Meta)
		if p.Call != nil {
			n += len(p.Call.Input)
		}
		if p.Result != nil {
			n += len(p.Result.Text) + len(p.Result.Raw)
		}
	}
	return n
}

// entries yields the messages of s that begin after a seq, in order, reading a
// few at a time.
func entries(ctx context.Context, store skein.Store, s *skein.Session, after skein.Seq) iter.Seq2[skein.Entry, error] {
	return func(yield func(skein.Entry, error) bool) {
		share := room.Of(ctx)
		for n := readFirst; after < s.Last; {
			was := share.Used()
			found, err := store.Newest(ctx, s.ID, n, after+skein.Seq(n)+1)
			if err != nil {
				yield(skein.Entry{}, err)
				return
			}
			took := share.Used() - was
			for _, e := range found {
				if e.Seq > after && !yield(e, nil) {
					return
				}
			}
			share.Give(took)
			after += skein.Seq(n)
			n = next(found, n)
		}
	}
}

// fitting returns the newest n messages before a seq, in order, and whether
// there may be more before them. It returns fewer if they are long: about
// maxPage bytes, but at least one message.
func fitting(ctx context.Context, store skein.Store, id skein.SessionID, n int, before skein.Seq) (all []skein.Entry, more bool, err error) {
	size := 0
	for some := readFirst; len(all) < n && size < maxPage; {
		some = min(some, n-len(all))
		found, err := store.Newest(ctx, id, some, before)
		if err != nil {
			return nil, false, err
		}
		for _, e := range found {
			size += lengthOf(e)
		}
		all = append(found, all...)
		if len(found) < some {
			return all, false, nil
		}
		before, some = found[0].Seq, next(found, some)
	}
	return all, len(all) > 0 && all[0].Seq > 1, nil
}

// contextOf returns the context of a session, as JSON.
func (a eventOps) contextOf(ctx context.Context, store skein.Store, q *EventQuery) ([]byte, error) {
	provider, model := q.Provider, q.Model
	switch provider {
	case "":
		s, err := store.Session(ctx, q.ID)
		if err != nil {
			return nil, err
		}
		if provider = s.Provider; model == "" {
			model = s.Model
		}
	case "generic":
		provider = ""
	}
	rules := window.RulesFor(provider, model)
	rules.Newest = q.Newest
	evs, err := store.Window(ctx, q.ID, q.Newest)
	if err != nil {
		return nil, err
	}
	v, err := window.Context(evs, rules)
	if err != nil {
		return nil, err
	}
	out := shown{Messages: a.veiledMessages(v.Messages, q.Raw), Seqs: v.Seqs, Compacted: v.Compacted}
	for _, r := range v.Repairs {
		out.Repairs = append(out.Repairs, repair(r))
	}
	if out.Messages == nil {
		out.Messages, out.Seqs = []skein.Message{}, []skein.Seq{}
	}
	b := skein.MustJSON(out)
	if v.Opaque != nil {
		b = append(append(append(b[:len(b)-1], `,"opaque":`...), a.veiledJSON(v.Opaque, q.Raw)...), '}')
	}
	return b, nil
}

// pictures are the types that a browser may show as an image. Everything else,
// SVG included, is served as bytes.
func pictures() []string { return []string{"image/png", "image/jpeg", "image/gif", "image/webp"} }

// blobs registers the routes of blobs.
func (a eventOps) blobs(t *openapi.Table) {
	type in struct {
		ID   skein.SessionID `path:"id"`
		Hash skein.Hash      `path:"hash"`
		Have string          `header:"If-None-Match"`
	}
	openapi.Register(t, openapi.Operation{
		ID: "get-blob", Method: http.MethodGet, Path: "/sessions/{id}/blobs/{hash}", Tag: "events", Scope: door.Read, Summary: "The bytes of a blob that the session refers to",
		Doc: "Sent as an attachment. PNG, JPEG, GIF and WebP images, recognized by their bytes, have their own type; everything else is application/octet-stream, may contain secrets, and needs the scope read:raw.", Errors: []int{http.StatusNotModified, http.StatusNotFound},
		Gives: []openapi.Media{{Type: "application/octet-stream"}, {Type: "image/*"}},
	}, func(ctx context.Context, i *in) (*rawAnswer, error) {
		b, err := door.From(ctx).Store.Blob(ctx, i.ID, i.Hash)
		if err != nil {
			return nil, err
		}
		if err := rawly(ctx, pictureType(b) == bytesType); err != nil {
			return nil, err
		}
		tag := `"` + string(i.Hash) + `"`
		return &rawAnswer{func(c huma.Context) {
			c.SetHeader("ETag", tag)
			c.SetHeader("Cache-Control", "private, no-cache") // revalidated each time: the session may be gone
			if i.Have != "" && matches(i.Have, tag, wholly) {
				c.SetStatus(http.StatusNotModified)
				return
			}
			c.SetHeader("Content-Type", pictureType(b))
			c.SetHeader("Content-Length", strconv.Itoa(len(b)))
			c.SetHeader("Content-Disposition", "attachment")
			c.SetStatus(http.StatusOK)
			c.BodyWriter().Write(b) //nolint:errcheck // the client has gone
		}}, nil
	})
}

const bytesType = "application/octet-stream"

func pictureType(b []byte) string {
	if got := http.DetectContentType(b); slices.Contains(pictures(), got) {
		return got
	}
	return bytesType
}
