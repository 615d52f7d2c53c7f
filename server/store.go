package server

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/api"
	"github.com/skein-dev/skein/server/batch"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/store/inspect"
)

// store registers the methods of [skein.Store], one to one: package remote
// calls them. Requests have JSON bodies even where nothing is changed, because
// IDs may be any text. Lists are lines of JSON; if there is an error, the last
// line is a problem.
func (a storeOps) store(t *openapi.Table) {
	type in struct{}
	type out struct{ Body api.About }
	openapi.Register(t, openapi.Operation{ID: "store-about", Method: http.MethodGet, Path: "/store", Tag: "store", Scope: door.Read, Summary: "Describe this server to a client of the store protocol", Doc: storeDoc},
		func(ctx context.Context, _ *in) (*out, error) {
			v := door.From(ctx)
			return &out{api.About{Protocol: api.Protocol, Version: a.Version, Scope: v.Scope.String(), User: v.User}}, nil
		})
	a.storeAppend(t)
	a.storeSessions(t)
	a.storeEvents(t)
	a.storeFind(t)
	a.storeLeases(t)
	a.storeSources(t)
	a.storeEnds(t)
}

const storeDoc = "The operations under /v1/store are the methods of the Go library's store, with exactly their meaning; the Go package remote is a client of them. " +
	"They do not hide secrets, so reading needs the scope read:raw, too. Most programs should use the other operations."

// ofSession is the body of a request about one session.
type ofSession struct {
	Session skein.SessionID `json:"session"`
}

// nothing is an answer without content.
type nothing struct{}

// ask registers a method that returns one value.
func ask[In, Out any](t *openapi.Table, o openapi.Operation, f func(context.Context, skein.Store, In) (Out, error)) {
	type in struct{ Body In }
	type out struct{ Body Out }
	openapi.Register(t, o, func(ctx context.Context, i *in) (*out, error) {
		got, err := f(ctx, door.From(ctx).Store, i.Body)
		if err != nil {
			return nil, err
		}
		return &out{got}, nil
	})
}

func storeOperation(name, summary string, scope door.Scope) openapi.Operation {
	return openapi.Operation{
		ID: "store-" + name, Method: http.MethodPost, Path: "/store/" + name, Tag: "store", Scope: scope, Raw: scope == door.Read, Body: door.MaxBody, Summary: summary,
		Doc:    "For skein on another machine, which uses this store through its server. Other programs have the operations with the other tags, which change less often.",
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}
}

// storeAppend registers the route that appends batches.
func (a storeOps) storeAppend(t *openapi.Table) {
	type in struct{ openapi.Request }
	type out struct{ Body api.Receipts }
	o := openapi.Operation{
		ID: "append", Method: http.MethodPost, Path: "/append", Tag: "store", Scope: door.Write, Body: door.MaxBatches, Summary: "Append batches to sessions, all or none",
		Doc:    "With everything a batch can have: events of several sessions, blobs, and the records of the files that events were imported from.",
		Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity}, Takes: []openapi.Media{openapi.BodyOf[appendedBatches]("application/json")},
	}
	openapi.Register(t, o, func(ctx context.Context, i *in) (*out, error) {
		batches, err := batch.ReadAll(i.Call().BodyReader())
		if err != nil {
			return nil, batch.Refused(ctx, i.Call().BodyReader(), err)
		}
		receipts, err := door.From(ctx).Store.Append(ctx, batches...)
		if err != nil {
			return nil, err
		}
		answer := api.Receipts{Receipts: make([]api.Receipt, len(receipts))}
		for i, r := range receipts {
			answer.Receipts[i] = api.Receipt(r)
		}
		return &out{answer}, nil
	})
}

// appendedBatches is the shape of an [api.Appended], for the document.
type appendedBatches struct {
	Batches []sessionBatch `json:"batches"`
}

type sessionBatch struct {
	Session string `json:"session,omitempty"`
	newBatch
	Import *api.Import `json:"import,omitempty"`
	Again  bool        `json:"again,omitempty" doc:"true if it may import deleted sessions again"`
}

const (
	longest  = time.Hour      // that a search may be asked to take; it ends with its request
	maxLease = 24 * time.Hour // that a lease may last without being renewed
)

// storeLeases registers the methods of leases. Each lease has an end: the
// server cannot see when a process on another machine dies.
func (a storeOps) storeLeases(t *openapi.Table) {
	ask(t, storeOperation("acquire", "Take the lease of a session, until a time that can be extended", door.Write), func(ctx context.Context, s skein.Store, in api.Acquire) (api.Lease, error) {
		if in.TTL <= 0 || in.TTL > maxLease {
			return api.Lease{}, fmt.Errorf("lease: ttl_ns %d: %w: a lease over HTTP lasts up to %v and is renewed", in.TTL, skein.ErrInvalid, maxLease)
		}
		l, err := skein.LeasesOf(s).Acquire(ctx, in.Session, skein.LeaseRequest{
			Program: in.Program, TakeOver: in.TakeOver, TTL: in.TTL, Elsewhere: skein.Holder{PID: in.PID, Host: in.Host},
		})
		return api.Lease(l), err
	})
	ask(t, storeOperation("renew", "Extend a lease", door.Write), func(ctx context.Context, s skein.Store, in api.Renew) (api.Lease, error) {
		if in.TTL > maxLease {
			return api.Lease{}, fmt.Errorf("lease: ttl_ns %d: %w: at most %v", in.TTL, skein.ErrInvalid, maxLease)
		}
		l, err := skein.LeasesOf(s).Renew(ctx, skein.Lease{Session: in.Session, Fence: in.Fence}, in.TTL)
		return api.Lease(l), err
	})
	type leaseNumber struct {
		Session skein.SessionID `json:"session"`
		Fence   skein.Fence     `json:"fence"`
	}
	ask(t, storeOperation("release", "Release a lease", door.Write), func(ctx context.Context, s skein.Store, in leaseNumber) (nothing, error) {
		return nothing{}, skein.LeasesOf(s).Release(ctx, skein.Lease{Session: in.Session, Fence: in.Fence})
	})
}

// storeEnds registers the bin, purge and scrub.
func (a storeOps) storeEnds(t *openapi.Table) {
	ask(t, storeOperation("bin", "Put a session in the bin", door.Write), func(ctx context.Context, s skein.Store, in ofSession) (nothing, error) {
		return nothing{}, skein.LifecycleOf(s).Bin(ctx, in.Session)
	})
	ask(t, storeOperation("restore", "Take a session out of the bin", door.Write), func(ctx context.Context, s skein.Store, in ofSession) (nothing, error) {
		return nothing{}, skein.LifecycleOf(s).Restore(ctx, in.Session)
	})
	ask(t, storeOperation("delete", "Destroy a session", door.Write), func(ctx context.Context, s skein.Store, in api.Deletion) (api.Deleted, error) {
		return a.destroy(ctx, s, in)
	})
	ask(t, storeOperation("scrub", "Remove secrets from a session", door.Write), func(ctx context.Context, s skein.Store, in api.Scrub) (api.Scrubbed, error) {
		if err := mayPurge(ctx); err != nil {
			return api.Scrubbed{}, err
		}
		secrets := make([]string, len(in.Secrets))
		for i, b := range in.Secrets {
			secrets[i] = string(b)
		}
		d, err := skein.LifecycleOf(s).Scrub(ctx, in.Session, secrets)
		return api.Scrubbed(d), err
	})
	type examination struct {
		Repair bool `json:"repair,omitempty"`
		Quick  bool `json:"quick,omitempty"` // only what takes little time; not with repair
	}
	list(t, storeOperation("examine", "Check the store for damage", door.Admin), inspect.Finding{}, pieces[inspect.Finding],
		func(ctx context.Context, s skein.Store, in examination) iter.Seq2[inspect.Finding, error] {
			x, ok := skein.PartOf[inspect.Examiner](s)
			if !ok {
				return each[inspect.Finding](nil, fmt.Errorf("%w: the server's store cannot be checked for damage", skein.ErrRefused))
			}
			return x.Examine(ctx, inspect.Examination{Repair: in.Repair, Quick: in.Quick})
		})
	ask(t, storeOperation("lag", "How far the search index is behind the newest event", door.Admin), func(ctx context.Context, s skein.Store, _ nothing) (api.Lag, error) {
		g, ok := skein.PartOf[inspect.IndexLag](s)
		if !ok {
			return api.Lag{}, nil // no index to wait for, or one that is always current
		}
		l, err := g.Lag(ctx)
		return api.Lag(l), err
	})
}

// destroy purges a session, and what is kept of it outside the store.
func (a storeOps) destroy(ctx context.Context, s skein.Store, in api.Deletion) (api.Deleted, error) {
	if err := mayPurge(ctx); err != nil {
		return api.Deleted{}, err
	}
	was, err := s.Session(ctx, in.Session)
	if err != nil {
		return api.Deleted{}, err
	}
	d, err := skein.LifecycleOf(s).Delete(ctx, in.Session, skein.Deletion{Children: in.Children, After: in.After})
	if err == nil && a.Purged != nil {
		err = a.Purged(was.User, in.Session)
	}
	return api.Deleted(d), err
}
