package remote

import (
	"context"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/api"
)

// sessionQuery is a query about one session.
type sessionQuery struct {
	Session skein.SessionID `json:"session"`
	After   skein.Seq       `json:"after,omitempty"`
}

// Session implements [skein.Store].
func (s reads) Session(ctx context.Context, id skein.SessionID) (_ skein.Session, err error) {
	defer skein.Wrapf(&err, "remote: session %s", id)
	return ask[skein.Session](ctx, s.view, "session", sessionQuery{Session: id})
}

// Sessions implements [skein.Store].
func (s reads) Sessions(ctx context.Context, f skein.Filter) iter.Seq2[skein.Session, error] {
	if !utf8.ValidString(f.IDPrefix) || !utf8.ValidString(f.IDSuffix) {
		return s.cutInLetters(ctx, f)
	}
	return list(ctx, s.view, "sessions", api.Filter(f), readJSON[skein.Session])
}

// cutInLetters is Sessions for a filter whose part of an ID ends in the middle
// of a character, which JSON cannot express.
func (s reads) cutInLetters(ctx context.Context, f skein.Filter) iter.Seq2[skein.Session, error] {
	return func(yield func(skein.Session, error) bool) {
		all := f
		all.IDPrefix, all.IDSuffix, all.Limit = "", "", 0
		n := 0
		for x, err := range s.Sessions(ctx, all) {
			fits := strings.HasPrefix(string(x.ID), f.IDPrefix) && strings.HasSuffix(string(x.ID), f.IDSuffix)
			if err == nil && !fits {
				continue
			}
			if n++; !yield(x, err) || n == f.Limit {
				return
			}
		}
	}
}

// Size implements [skein.Lifecycle].
func (s reads) Size(ctx context.Context, id skein.SessionID) (_ int64, err error) {
	defer skein.Wrapf(&err, "remote: size of %s", id)
	got, err := ask[struct {
		Bytes int64 `json:"bytes"`
	}](ctx, s.view, "size", sessionQuery{Session: id})
	return got.Bytes, err
}

// Events implements [skein.Store].
func (s reads) Events(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return list(ctx, s.view, "events", sessionQuery{id, after}, readEvent)
}

func readEvent(line []byte) (skein.Event, error) {
	e, err := readJSON[api.Event](line)
	return e.Event, err
}

// newestQuery asks for part of a session.
type newestQuery struct {
	Session skein.SessionID `json:"session"`
	N       int             `json:"n"`
	Before  skein.Seq       `json:"before,omitempty"`
}

// Newest implements [skein.Store].
func (s reads) Newest(ctx context.Context, id skein.SessionID, n int, before skein.Seq) ([]skein.Entry, error) {
	return collect(list(ctx, s.view, "newest", newestQuery{id, n, before}, func(line []byte) (skein.Entry, error) {
		e, err := readJSON[api.Entry](line)
		return e.Exact(), err
	}))
}

// Window implements [skein.Store].
func (s reads) Window(ctx context.Context, id skein.SessionID, n int) ([]skein.Event, error) {
	return collect(list(ctx, s.view, "window", newestQuery{Session: id, N: n}, readEvent))
}

func collect[T any](all iter.Seq2[T, error]) (out []T, err error) {
	for v, err := range all {
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// Blob implements [skein.Store]. The bytes are verified here, too.
func (s reads) Blob(ctx context.Context, id skein.SessionID, h skein.Hash) (_ []byte, err error) {
	defer skein.Wrapf(&err, "remote: blob %s of %s", h, id)
	got, err := ask[struct {
		Data []byte `json:"data"`
	}](ctx, s.view, "blob", struct {
		Session skein.SessionID `json:"session"`
		Hash    skein.Hash      `json:"hash"`
	}{id, h})
	return got.Data, err
}

// Search implements [skein.Store].
func (s reads) Search(ctx context.Context, q skein.Query) (_ skein.Results, err error) {
	defer skein.Wrapf(&err, "remote: search")
	got, err := ask[api.Results](ctx, s.view, "search", api.QueryOf(q))
	return got.Results(), err
}

// Usage implements [skein.Store].
func (s reads) Usage(ctx context.Context, q skein.UsageQuery) (_ []skein.UsageRow, err error) {
	defer skein.Wrapf(&err, "remote: usage")
	got, err := ask[struct {
		Rows []api.UsageRow `json:"rows"`
	}](ctx, s.view, "usage", api.UsageQuery{
		By: q.By, Then: q.Then, User: q.User, Sessions: q.Sessions, Project: q.Project, Repository: q.Repository, Agent: q.Agent, Since: q.Since, Until: q.Until, Zone: api.ZoneOf(q.Zone),
	})
	if err != nil {
		return nil, err
	}
	out := make([]skein.UsageRow, len(got.Rows))
	for i, r := range got.Rows {
		out[i] = skein.UsageRow(r)
	}
	return out, nil
}
