package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/transcript"
)

// contextUse is how much of a model's context the last request took.
type contextUse struct {
	Tokens int64 // 0 if it is not known
	Window int64 // that the model can read; 0 if it is not known
}

// Percent returns how much of the context is used, from 0 to 100; 0 if that is not known.
func (u contextUse) Percent() int64 {
	if u.Window == 0 {
		return 0
	}
	return min(100*u.Tokens/u.Window, 100)
}

// String returns that for people.
func (u contextUse) String() string {
	if u.Window == 0 {
		return render.Short(u.Tokens) + " tokens of context"
	}
	return strconv.FormatInt(u.Percent(), 10) + "% of the context"
}

// Whole says how many tokens that is.
func (u contextUse) Whole() string {
	return render.Short(u.Tokens) + " of " + render.Short(u.Window) + " tokens"
}

// contextOf returns how much of the context the last of entries took.
func (s chatPages) contextOf(entries []skein.Entry) (u contextUse, err error) {
	for i := len(entries) - 1; i >= 0; i-- {
		m := &entries[i].Message
		if m.Usage == nil || m.Usage.Prompt() == 0 {
			continue
		}
		u.Tokens = m.Usage.Prompt() + m.Usage.Output
		if s.Prices == nil {
			return u, nil
		}
		list, err := s.Prices()
		if err != nil {
			return u, err
		}
		u.Window = list.Window(m.Provider, m.Model)
		return u, nil
	}
	return u, nil
}

// typedAt returns the message that a person typed at a seq.
//
// The error is the store's, or wraps [skein.ErrNotFound] if nobody typed one there.
func typedAt(ctx context.Context, store skein.Store, id skein.SessionID, at skein.Seq) (*skein.Message, error) {
	found, err := store.Newest(ctx, id, 1, at+1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 || found[0].Seq != at || !found[0].Message.Typed() {
		return nil, skein.ErrNotFound
	}
	return &found[0].Message, nil
}

// unanswered reports whether the last prompt of a session has no complete answer.
func unanswered(ctx context.Context, store skein.Store, id skein.SessionID) (bool, error) {
	found, err := store.Newest(ctx, id, 1, 0)
	if err != nil || len(found) == 0 {
		return false, err
	}
	switch m := &found[0].Message; m.Role {
	case skein.RoleSystem:
		return false, nil
	case skein.RoleAssistant:
		return m.Interrupted || m.Error != nil || slices.ContainsFunc(m.Parts, func(p skein.Part) bool { return p.Kind == skein.PartCall }), nil
	}
	return true, nil
}

// again lets the last prompt be answered. If it was, a fork gets the other answer.
func (s chatPages) again(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	chosen := chosenIn(r)
	t := &RunningTurn{User: door.From(r.Context()).User, Session: one.ID, Model: chosen.Model, Effort: chosen.Effort, Again: true}
	if r.PostFormValue("at") != "" {
		at, err := seqOf("at", r.PostFormValue("at"))
		if err == nil {
			_, err = typedAt(r.Context(), transcript.Legible(door.From(r.Context()).Store), one.ID, at)
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		t.From, t.At, t.Session = one.ID, at, ""
	}
	id, err := s.Chat.say(r.Context(), t)
	if err != nil {
		s.chatWith(w, r, "", err)
		return
	}
	back(w, r, chatPath(id), "")
}

// queue removes a waiting message, or begins the first one.
func (s chatPages) queue(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	place, err := strconv.Atoi(r.PostFormValue("place"))
	switch do := r.PostFormValue("do"); {
	case do == "send":
		s.Chat.next(one.ID)
	case do == "remove" && err == nil:
		s.Chat.drop(one.ID, place)
	default:
		door.Refuse(w, r, http.StatusBadRequest, "invalid", "do %q: want send, or remove and a place", do)
		return
	}
	back(w, r, chatPath(one.ID), "")
}

// askedQuestion is a question, and the call that it is about.
type askedQuestion struct {
	Question
	Drawn *transcript.AskedCall // nil if it is about no call
}

// asked draws a question of session id.
func (s chatPages) asked(one skein.Session, q Question) askedQuestion {
	out := askedQuestion{Question: q}
	if q.Call != nil {
		drawn := s.transcripts.Asked(one, q.Call)
		out.Drawn = &drawn
	}
	return out
}

// Short returns the question without the text of the call, if that is drawn.
func (q askedQuestion) Short() string {
	if q.Drawn == nil {
		return q.Text
	}
	short, _, _ := strings.Cut(q.Text, "\n\n")
	return short
}

// chatPath returns the path of a conversation's last messages.
func chatPath(id skein.SessionID) string { return transcript.SessionPath(id) + "/chat#say" }
