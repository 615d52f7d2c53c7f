package web

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/transcript"
)

// A wanted is a kind of message to jump to.
type wanted string

const (
	wantUser  wanted = "user"
	wantTool  wanted = "tool"
	wantError wanted = "error"
)

// next redirects to the next message of a kind, or to the previous one.
func (s *site) next(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	q := r.URL.Query()
	what := wanted(q.Get("what"))
	from, err := seqOf("from", cmp.Or(q.Get("from"), "0"))
	if err == nil && what != wantUser && what != wantTool && what != wantError {
		err = fmt.Errorf("what=%q: %w: one can jump to user, tool or error", what, skein.ErrInvalid)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	store := transcript.Legible(door.From(r.Context()).Store)
	messages := following(r.Context(), store, one.ID, from)
	if q.Has("back") {
		messages = preceding(r.Context(), store, one.ID, from)
	}
	t := transcript.View{Session: one, Raw: q.Has("raw"), Rewound: q.Has("rewound")}
	for m, err := range saidBy(r)(messages) {
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if what.is(&m.Message) {
			http.Redirect(w, r, t.Link("at", m.Seq)+fmt.Sprint("#m", m.Seq), http.StatusSeeOther)
			return
		}
	}
	back(w, r, t.Link("at", max(from, 1))+fmt.Sprint("#m", from), map[wanted]string{
		wantUser: "There is no other message of the user's.", wantTool: "There is no other tool call.", wantError: "There is no other error.",
	}[what])
}

// is reports whether m is of kind k.
func (k wanted) is(m *skein.Message) bool {
	if k == wantUser {
		return m.Typed()
	}
	if k == wantError && m.Error != nil {
		return true
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if k == wantTool && p.Call != nil || k == wantError && p.Result != nil && p.Result.Failed {
			return true
		}
	}
	return false
}

// following yields the messages after a seq.
func following(ctx context.Context, store skein.Store, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Entry, error] {
	return func(yield func(skein.Entry, error) bool) {
		read := transcript.Windows{Store: store, Session: id, Size: transcript.MaxWindow, Rewound: true}
		share := room.Of(ctx)
		for was := share.Used(); ; share.Give(share.Used() - was) {
			found, err := read.MessagesFrom(ctx, after)
			if err != nil {
				yield(skein.Entry{}, err)
				return
			}
			for _, e := range found.Entries {
				if !yield(e, nil) {
					return
				}
			}
			if after = found.After; after == 0 {
				return
			}
		}
	}
}

// preceding yields the messages before a seq, the nearest first.
func preceding(ctx context.Context, store skein.Store, id skein.SessionID, before skein.Seq) iter.Seq2[skein.Entry, error] {
	return func(yield func(skein.Entry, error) bool) {
		share := room.Of(ctx)
		for was := share.Used(); before > 1; share.Give(share.Used() - was) {
			found, err := store.Newest(ctx, id, transcript.MaxWindow, before)
			if err != nil {
				yield(skein.Entry{}, err)
				return
			}
			for i := len(found) - 1; i >= 0; i-- {
				if !yield(found[i], nil) {
					return
				}
			}
			if len(found) == 0 {
				return
			}
			before = found[0].Seq
		}
	}
}
