package server

import (
	"context"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/api"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
)

// store registers the methods of [skein.Store], one to one: package remote
// calls them. Requests have JSON bodies even where nothing is changed, because
// IDs may be any text. Lists are lines of JSON; if there is an error, the last
// line is a problem.
func (a *service) store(t *openapi.Table) {
	type in struct{}
	type out struct{ Body api.About }
	openapi.Register(t, openapi.Operation{ID: "store-about", Method: http.MethodGet, Path: "/store", Tag: "store", Scope: door.Read, Summary: "What this server is to a client that wants a store", Doc: storeDoc},
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

const storeDoc = "They give everything as it is, secrets too: those that read need the scope read:raw besides. The operations under /v1/store are the methods of the store that the library has, with exactly their meaning; " +
	"the Go package remote is a client of them. Programs that only keep conversations are better served by the others."

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
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}
}

// storeAppend registers the route that appends batches.
func (a *service) storeAppend(t *openapi.Table) {
	type in struct{ openapi.Request }
	type out struct{ Body api.Receipts }
	o := openapi.Operation{
		ID: "append", Method: http.MethodPost, Path: "/append", Tag: "store", Scope: door.Write, Body: door.MaxBatches, Summary: "Append batches to sessions, all or none",
		Doc:    "With everything a batch can have: events of several sessions, blobs, and the records of the files that events were imported from.",
		Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity}, Takes: []openapi.Media{openapi.BodyOf[appendedBatches]("application/json")},
	}
	openapi.Register(t, o, func(ctx context.Context, i *in) (*out, error) {
		batches, err := readBatches(i.Call().BodyReader())
		if err != nil {
			return nil, refused(ctx, i.Call().BodyReader(), err)
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
	Again  bool        `json:"again,omitempty" doc:"it may bring a deleted session back"`
}
