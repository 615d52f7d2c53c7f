package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/transcript"
)

// forms are the forms of a session's page, which change the session.
type forms struct{ *site }

func (s forms) routes() []door.Route {
	return []door.Route{
		change("/sessions/{id}/rename", s.rename),
		change("/sessions/{id}/tags", s.retag),
		change("/sessions/{id}/pin", s.pin),
		change("/sessions/{id}/fork", s.fork),
		change("/sessions/{id}/bin", s.bin),
	}
}

// act answers a form of a session's page: f does the work and says what was
// done, and the next page is the session's, or the one that the form names.
func (s forms) act(w http.ResponseWriter, r *http.Request, f func(context.Context, skein.Store, skein.Session) (done string, err error)) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	done, err := f(r.Context(), door.From(r.Context()).Store, one)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	back(w, r, local(r.PostFormValue("back"), transcript.SessionPath(one.ID)), done)
}

func (s forms) add(ctx context.Context, store skein.Store, id skein.SessionID, kind skein.Kind, payload any) error {
	_, err := skein.Add(ctx, store, id, skein.NewEvent(kind, skein.At(s.Now()), payload))
	return err
}

func (s forms) rename(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, func(ctx context.Context, store skein.Store, one skein.Session) (string, error) {
		title := skein.ShortTitle(r.PostFormValue("title"))
		if title == "" {
			return "", fmt.Errorf("title: %w: empty", skein.ErrInvalid)
		}
		return "Renamed.", s.add(ctx, store, one.ID, skein.KindTitled, skein.Titled{Title: title, Description: one.Description, By: skein.ByPerson})
	})
}

func (s forms) pin(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, func(ctx context.Context, store skein.Store, one skein.Session) (string, error) {
		pinned, done := r.PostFormValue("pinned") != "", "Pinned."
		if !pinned {
			done = "No longer pinned."
		}
		return done, s.add(ctx, store, one.ID, skein.KindChanged, skein.Changed{Pinned: &pinned})
	})
}

func (s forms) bin(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	if err := skein.LifecycleOf(door.From(r.Context()).Store).Bin(r.Context(), one.ID); err != nil {
		s.fail(w, r, err)
		return
	}
	back(w, r, "/", "Moved to the bin. You can restore it there.")
}

// retag replaces the tags of a session with those of the form.
func (s forms) retag(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, func(ctx context.Context, store skein.Store, one skein.Session) (string, error) {
		tags, err := parseTags(r.PostFormValue("tags"))
		if err != nil {
			return "", err
		}
		return "Tags set.", s.add(ctx, store, one.ID, skein.KindChanged, skein.Changed{Tags: &tags})
	})
}

// maxTag is the longest tag, in bytes.
const maxTag = 64

// parseTags parses tags separated by spaces or commas.
func parseTags(text string) ([]string, error) {
	tags := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == ',' })
	for _, t := range tags {
		if len(t) > maxTag || strings.ContainsFunc(t, unicode.IsControl) || strings.ContainsAny(t[:1], "+-") {
			return nil, fmt.Errorf("tag %q: %w: want a word of at most %d bytes that does not begin with + or -", t, skein.ErrInvalid, maxTag)
		}
	}
	slices.Sort(tags)
	return slices.Compact(tags), nil
}

// addTags adds tags to those of a session. If another program changes the
// session meanwhile, it tries again.
func (s forms) addTags(ctx context.Context, store skein.Store, id skein.SessionID, add []string) error {
	for {
		one, err := store.Session(ctx, id)
		if err != nil {
			return err
		}
		tags := append(slices.Clone(one.Tags), add...)
		slices.Sort(tags)
		if tags = slices.Compact(tags); slices.Equal(tags, one.Tags) {
			return nil
		}
		e := skein.NewEvent(skein.KindChanged, skein.At(s.Now()), skein.Changed{Tags: &tags})
		if _, err = store.Append(ctx, skein.Batch{Session: id, After: one.Last, Events: []skein.Event{e}}); !errors.Is(err, skein.ErrConflict) {
			return err
		}
	}
}

// fork makes a fork of the session up to a seq.
func (s forms) fork(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	at, err := seqOf("at", r.PostFormValue("at"))
	if err == nil && (at < 1 || at > one.Last) {
		err = fmt.Errorf("at=%d: %w: the session has the events 1 to %d", at, skein.ErrInvalid, one.Last)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	id := skein.NewSessionID(s.Now())
	_, err = door.From(r.Context()).Store.Append(r.Context(), skein.Batch{Session: id, After: skein.Fresh, Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, skein.At(s.Now()), skein.Created{
			User: one.User, Surface: "web", Program: "skein", Version: s.Version,
			Profile: one.Profile, Provider: one.Provider, Project: one.Project, Cwd: one.Cwd,
			Parent: &skein.Parent{Session: one.ID, Seq: at, Why: skein.Fork},
		}),
	}})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	back(w, r, transcript.SessionPath(id)+"?before=0#end", "This is a fork: it shows the other session up to this point, and continues independently.")
}
