package web

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/transcript"
	"github.com/skein-dev/skein/store/lookup"
)

// comparePages show two sessions side by side.
type comparePages struct{ *site }

// routes are the routes of comparing.
func (s comparePages) routes() []door.Route {
	return []door.Route{read("/sessions/{id}/compare", s.compare)}
}

// comparePage is the data of the page.
type comparePage struct {
	Left, Right *transcript.Side
	Common      skein.Seq // that both show everything up to; 0: they have nothing in common
	Shared      int       // turns up to there
	Files       []transcript.ComparedFile
	Swapped     string // path of the page with the sides exchanged
}

// A turnPair is the same turn of both sessions, counted from where they part; a side that
// has fewer turns has none.
type turnPair struct {
	N           int
	Left, Right *transcript.Transcript
}

// Pairs returns the turns of both.
func (p *comparePage) Pairs() (all []turnPair) {
	for i := range max(len(p.Left.Turns), len(p.Right.Turns)) {
		pair := turnPair{N: i + 1}
		if i < len(p.Left.Turns) {
			pair.Left = p.Left.Turns[i]
		}
		if i < len(p.Right.Turns) {
			pair.Right = p.Right.Turns[i]
		}
		all = append(all, pair)
	}
	return all
}

// Sides returns both.
func (p *comparePage) Sides() []*transcript.Side { return []*transcript.Side{p.Left, p.Right} }

// comparePath returns the path of the page on which two sessions are compared.
func comparePath(a, b skein.SessionID) string {
	return transcript.SessionPath(a) + "/compare?" + url.Values{"with": {string(b)}}.Encode()
}

// compare shows what two sessions have after what they have in common.
func (s comparePages) compare(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	p, err := s.pageOf(r, one)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, "compare", layoutData{Title: "Compare " + p.Left.Session.Name(), At: "sessions", Class: "session comparing", Data: p})
}

func (s comparePages) pageOf(r *http.Request, one skein.Session) (*comparePage, error) {
	ctx, store := r.Context(), door.From(r.Context()).Store
	with := r.URL.Query().Get("with")
	if with == "" || with == string(one.ID) {
		return nil, fmt.Errorf("with=%q: %w: want the ID of another session", with, skein.ErrInvalid)
	}
	other, err := store.Session(ctx, skein.SessionID(with))
	if err != nil {
		return nil, err
	}
	p := &comparePage{Swapped: comparePath(other.ID, one.ID)}
	if p.Common, err = lookup.Common(ctx, store, one, other); err != nil {
		return nil, err
	}
	// A fork that nobody has written to ends where it begins.
	p.Common = min(p.Common, one.Last, other.Last)
	for _, side := range []struct {
		of skein.Session
		to **transcript.Side
	}{{one, &p.Left}, {other, &p.Right}} {
		v := s.viewOf(r, side.of)
		v.Raw, v.Write = false, false
		if *side.to, err = s.transcripts.Side(ctx, store, v, p.Common); err != nil {
			return nil, err
		}
	}
	if p.Common > 0 {
		before, err := store.Newest(ctx, one.ID, 1, p.Common+1)
		if err != nil {
			return nil, err
		}
		for i := range before {
			p.Shared = before[i].Turn
		}
	}
	p.Files = transcript.ComparedFiles(p.Left, p.Right)
	return p, nil
}
