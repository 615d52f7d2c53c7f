package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/store/search"
)

// pruneQuery says which sessions to remove.
type pruneQuery struct {
	OlderThan  string `json:"older_than,omitempty" query:"older_than" doc:"not active for this age: 30d, 12w, or since a date"`
	LargerThan int64  `json:"larger_than,omitempty" query:"larger_than" minimum:"0" doc:"that take more bytes than this on disk"`
	KeepPinned bool   `json:"keep_pinned,omitempty" query:"keep_pinned" doc:"leave pinned ones alone"`
	Purge      bool   `json:"purge,omitempty" query:"purge" doc:"destroy them, those in the bin included; alone it empties the bin"`
}

// pruned is a session that a prune selected.
type pruned struct {
	ID      skein.SessionID `json:"id"`
	Name    string          `json:"name"`
	Updated skein.Time      `json:"updated_at,omitzero"`
	Bytes   int64           `json:"bytes"`
	Pinned  bool            `json:"pinned"`
	Binned  bool            `json:"binned" doc:"it was in the bin before"`
	Done    string          `json:"done,omitempty" enum:"binned,destroyed,locked" doc:"left out if it was only shown"`
}

// prunes registers prune: to preview it, and to do it.
func (a *service) prunes(t *openapi.Table) {
	type pruneList struct {
		Items []pruned `json:"items"`
		Bytes int64    `json:"bytes" doc:"what they take on disk, together"`
	}
	type out struct{ Body pruneList }
	done := func(found []pruned, err error) (*out, error) {
		o := &out{pruneList{Items: append([]pruned{}, found...)}}
		for _, p := range found {
			o.Body.Bytes += p.Bytes
		}
		return o, err
	}
	openapi.Register(t, openapi.Operation{ID: "preview-prune", Method: http.MethodGet, Path: "/prune", Tag: "sessions", Scope: door.Read, Summary: "Which sessions a prune would put in the bin, or destroy"},
		func(ctx context.Context, q *pruneQuery) (*out, error) { return done(a.prunable(ctx, q)) })
	type in struct{ Body pruneQuery }
	openapi.Register(t, openapi.Operation{
		ID: "prune", Method: http.MethodPost, Path: "/prune", Tag: "sessions", Scope: door.Write, Body: door.MaxBody, Summary: "Put old or large sessions in the bin, or empty it",
		Doc: "Look at the preview first. What is in use stays, with done locked. To destroy everybody's sessions needs the scope admin.",
	}, func(ctx context.Context, i *in) (*out, error) {
		if i.Body.Purge {
			if err := mayPurge(ctx); err != nil {
				return nil, err
			}
		}
		found, err := a.prunable(ctx, &i.Body)
		if err != nil {
			return nil, err
		}
		for n := range found {
			if err := a.prune(ctx, &found[n], &i.Body); err != nil {
				return nil, err
			}
		}
		return done(found, nil)
	})
}

// prunable returns the sessions that q selects.
func (a *service) prunable(ctx context.Context, q *pruneQuery) (found []pruned, err error) {
	f := skein.Filter{IncludeEmpty: true, LargerThan: q.LargerThan}
	if q.OlderThan != "" {
		if f.Until, err = search.ParseSince(q.OlderThan, a.Now()); err != nil {
			return nil, fmt.Errorf("older_than: %w", err)
		}
	}
	if conditions := q.OlderThan != "" || q.LargerThan != 0; conditions {
		if found, err = a.addPruned(ctx, found, f, q); err != nil {
			return nil, err
		}
	} else if !q.Purge {
		return nil, fmt.Errorf("%w: want older_than, larger_than, or purge alone to empty the bin", skein.ErrInvalid)
	}
	if q.Purge {
		f.Bin = true
		return a.addPruned(ctx, found, f, q)
	}
	return found, nil
}

func (a *service) addPruned(ctx context.Context, found []pruned, f skein.Filter, q *pruneQuery) ([]pruned, error) {
	store := door.From(ctx).Store
	for s, err := range store.Sessions(ctx, f) {
		if err != nil {
			return nil, err
		}
		if s.Pinned && q.KeepPinned {
			continue
		}
		shown := a.veiledSession(s)
		p := pruned{ID: s.ID, Name: shown.Name(), Updated: s.Updated, Pinned: s.Pinned, Binned: s.Binned != 0}
		if p.Bytes, err = skein.LifecycleOf(store).Size(ctx, s.ID); err != nil && !errors.Is(err, skein.ErrNotFound) {
			return nil, err
		}
		found = append(found, p)
	}
	return found, nil
}

// prune bins p, or purges it. A session that is in use, or that somebody else
// removed meanwhile, does not stop the others.
func (a *service) prune(ctx context.Context, p *pruned, q *pruneQuery) error {
	var err error
	p.Done = "binned"
	if q.Purge {
		p.Done = "destroyed"
		_, err = a.purge(ctx, p.ID, skein.KeepChildren)
	} else {
		err = skein.LifecycleOf(door.From(ctx).Store).Bin(ctx, p.ID)
	}
	switch {
	case errors.Is(err, skein.ErrLocked):
		p.Done = "locked"
		return nil
	case errors.Is(err, skein.ErrNotFound), errors.Is(err, skein.ErrDeleted):
		return nil
	}
	return err
}
