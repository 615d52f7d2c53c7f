package server

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"slices"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/api"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
)

// newMessage is the body of POST /v1/sessions/{id}/messages.
type newMessage struct {
	Role     skein.Role     `json:"role" enum:"user,assistant,tool,system,steer"`
	Text     string         `json:"text"`
	ClientID skein.ClientID `json:"client_id,omitempty" maxLength:"128" doc:"idempotency key: a message with the same one is stored once"`
	Fence    skein.Fence    `json:"fence,omitempty" doc:"fencing number of the writer's lease"`
}

type placeOf struct {
	Seq skein.Seq `json:"seq"`
}

// messages registers what people use most: sending a message, and reading the
// newest ones.
func (a eventOps) messages(t *openapi.Table) {
	type in struct {
		Once
		ID   skein.SessionID `path:"id"`
		Body newMessage
	}
	type out struct{ Body placeOf }
	openapi.Register(t, openapi.Operation{
		ID: "say", Method: http.MethodPost, Path: "/sessions/{id}/messages", Tag: "messages", Scope: door.Write, Status: http.StatusCreated, Body: door.MaxBody, Summary: "Add one message",
		Doc: "A shortcut for one message of text; /events takes whole messages, in batches.", Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity},
	},
		func(ctx context.Context, i *in) (*out, error) {
			m := skein.Message{Role: i.Body.Role, Parts: []skein.Part{skein.TextPart(i.Body.Text)}}
			e := skein.Say(skein.At(a.Now()), m)
			e.ClientID = cmp.Or(i.Body.ClientID, i.clientID(ctx))
			r, err := door.From(ctx).Store.Append(ctx, skein.Batch{Session: i.ID, Fence: i.Body.Fence, Events: []skein.Event{e}})
			if err != nil {
				return nil, err
			}
			return &out{placeOf{r[0].Seqs[0]}}, nil
		})
	type page struct {
		ID      skein.SessionID `path:"id"`
		Limit   int             `query:"limit" default:"50" minimum:"1" maximum:"1000"`
		Cursor  string          `query:"cursor" doc:"next_cursor of the previous page; omit it for the newest messages"`
		Rewound bool            `query:"rewound" doc:"include messages that were taken back, marked"`
		Raw     bool            `query:"raw" doc:"include secrets; needs the scope read:raw"`
	}
	openapi.Register(t, openapi.Operation{ID: "list-messages", Method: http.MethodGet, Path: "/sessions/{id}/messages", Tag: "messages", Scope: door.Read, Summary: "The newest messages of a session, oldest first; the cursor leads further back", Doc: "Each message is put together from its pieces. A fork's messages include those of its parent.", Errors: []int{http.StatusNotFound}, Gives: []openapi.Media{openapi.BodyOf[api.Page[render.Entry]](jsonType)}},
		func(ctx context.Context, i *page) (*rawAnswer, error) {
			before, err := seqOf(i.Cursor)
			if err != nil {
				return nil, err
			}
			if err := rawly(ctx, i.Raw); err != nil {
				return nil, err
			}
			store := legible(ctx)
			list, more, err := newest(ctx, store, i.ID, i.Limit, before, i.Rewound)
			if err != nil {
				return nil, err
			}
			cursor := ""
			if more {
				cursor = strconv.FormatInt(int64(list[0].Seq), 10)
			}
			return a.asMessages(ctx, store, i.ID, list, cursor, i.Raw)
		})
}

// asMessages answers with consecutive messages as clients see them: with the state
// of their calls.
func (a eventOps) asMessages(ctx context.Context, store skein.Store, id skein.SessionID, found []skein.Entry, cursor string, raw bool) (*rawAnswer, error) {
	sess, err := store.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i] = a.veiledEntry(found[i], raw)
	}
	all, err := render.EntriesOf(&sess, found, func(after skein.Seq) iter.Seq2[skein.Event, error] {
		return store.Events(ctx, id, after)
	})
	return asPage(all, cursor, func(e render.Entry) iter.Seq2[[]byte, error] { return skein.JSONPieces(&e) }), err
}

// newest returns the newest n messages before a seq, and whether there may be
// more before them. It returns fewer if they are long, and those that were
// taken back only if rewound is set. The room that dropped messages took is given back.
func newest(ctx context.Context, store skein.Store, id skein.SessionID, n int, before skein.Seq, rewound bool) (list []skein.Entry, more bool, err error) {
	share := room.Of(ctx)
	for {
		was := share.Used()
		found, further, err := fitting(ctx, store, id, n, before)
		if err != nil {
			return nil, false, err
		}
		took, size := share.Used()-was, sizeOfAll(found)
		more = further
		long := more && len(found) < n // as much as a page may hold
		if more {
			before = found[0].Seq
		}
		if !rewound {
			found = slices.DeleteFunc(found, func(e skein.Entry) bool { return e.Rewound })
			share.Give(took * int64(size-sizeOfAll(found)) / int64(size))
		}
		list = append(found, list...)
		if over := len(list) - n; over > 0 {
			list, more = list[over:], true
		}
		if !more || len(list) == n || long && len(list) > 0 {
			return list, more, nil
		}
	}
}

// seqOf parses a cursor that is a seq; 0 if it is empty.
func seqOf(cursor string) (skein.Seq, error) {
	if cursor == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(cursor, 10, 64)
	if err != nil || n < 1 {
		return 0, &cursorError{cursor}
	}
	return skein.Seq(n), nil
}

// cursorError is the error for a cursor that is not one of ours.
type cursorError struct{ cursor string }

// Error implements error.
func (e *cursorError) Error() string {
	return "cursor " + strconv.Quote(e.cursor) + ": not a cursor of this server"
}

// Unwrap returns [skein.ErrInvalid].
func (e *cursorError) Unwrap() error { return skein.ErrInvalid }
