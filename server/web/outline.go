package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/transcript"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/provenance"
)

// outlines are the pages that say what happened in a session as a whole.
type outlines struct{ *site }

// routes are the routes of a session's outline and of its changes.
func (s outlines) routes() []door.Route {
	return []door.Route{
		read("/sessions/{id}/outline", s.outline),
		read("/sessions/{id}/changes", s.changes),
		read("/sessions/{id}/file", s.file),
		{
			Pattern: "POST /reading", Scope: door.Read, Page: true, Body: maxForm,
			Types: []string{"application/x-www-form-urlencoded"}, Handler: http.HandlerFunc(s.reading),
		},
	}
}

const (
	foldCookie = "skein_open" // says which kinds of blocks the reader wants expanded
	foldFor    = 365 * 24 * time.Hour
)

// reading remembers which kinds of blocks the reader wants expanded.
func (s outlines) reading(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, fmt.Errorf("%w: %w", err, skein.ErrInvalid))
		return
	}
	open := slices.DeleteFunc(transcript.FoldKinds(), func(name string) bool { return !slices.Contains(r.PostForm["open"], name) })
	http.SetCookie(w, door.From(r.Context()).Cookie(foldCookie, cmp.Or(strings.Join(open, "."), "none"), foldFor))
	http.Redirect(w, r, local(r.PostFormValue("back"), "/"), http.StatusSeeOther)
}

// outlinePage is the data of the outline's page.
type outlinePage struct {
	*transcript.SessionOutline
	Title string
}

// outline shows the outline of a session. With piece=1 it sends only the outline, for the
// script that puts it beside the transcript.
func (s outlines) outline(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	store, v := door.From(r.Context()).Store, s.viewOf(r, one)
	v.Raw = r.URL.Query().Has("raw") // one has checked that the visitor may
	forks, err := s.related(r.Context(), store, one.ID)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	o, err := s.transcripts.Outline(r.Context(), store, v, forks)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if r.URL.Query().Has("piece") {
		s.fragment(w, "outline", "outline", o)
		return
	}
	one = s.veiled(one)
	s.show(w, r, "outline", layoutData{Title: "Outline of " + one.Name(), At: "sessions", Class: "session", Data: &outlinePage{o, render.Line(one.Name())}})
}

// related returns the forks, sub-agents and continuations of a session, the oldest first.
func (s *site) related(ctx context.Context, store skein.Store, id skein.SessionID) (all []skein.Session, err error) {
	for c, err := range store.Sessions(ctx, skein.Filter{Parent: id, Limit: 50}) {
		if err != nil {
			return nil, err
		}
		all = append([]skein.Session{s.veiled(c)}, all...)
	}
	return all, nil
}

// changesPage is the data of the page of changes.
type changesPage struct {
	*transcript.Changes
	Title string
}

// changes shows what a session did to files.
func (s outlines) changes(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	v := s.viewOf(r, one)
	v.Raw = r.URL.Query().Has("raw") // as above
	c, err := s.transcripts.Changes(r.Context(), door.From(r.Context()).Store, v)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	one = s.veiled(one)
	s.show(w, r, "changes", layoutData{Title: "Changes of " + one.Name(), At: "sessions", Class: "session wide", Data: &changesPage{c, render.Line(one.Name())}})
}

// filePage is the data of the page of a file.
type filePage struct {
	*transcript.FileHistory
	Title string
}

// file shows what all sessions did to a file that a session names.
func (s outlines) file(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	ctx, store := r.Context(), transcript.Legible(door.From(r.Context()).Store)
	named := r.URL.Query().Get("path")
	if named == "" {
		s.fail(w, r, fmt.Errorf("path: %w: want the path of a file", skein.ErrInvalid))
		return
	}
	name, all, err := provenance.History(ctx, store, &one, named)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	var ids []skein.SessionID
	for i := range all {
		if id := all[i].Session; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	sessions, err := lookup.ByID(ctx, store, ids)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	v := s.viewOf(r, one)
	v.Raw = r.URL.Query().Has("raw") // as above
	h := s.transcripts.History(v, name, all, sessions)
	one = s.veiled(one)
	s.show(w, r, "file", layoutData{Title: "History of " + h.Named, At: "sessions", Class: "session wide", Data: &filePage{h, render.Line(one.Name())}})
}
