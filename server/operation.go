package server

import (
	"context"
	"errors"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
)

// An operation is one entry of the API's table.
type operation struct {
	ID      string // as in the OpenAPI document: list-sessions
	Method  string
	Path    string // below /v1, with {parameters}
	Summary string
	Doc     string // more about it, in sentences
	Tag     string // sessions, events, …
	Scope   door.Scope
	Raw     bool // needs door.ReadRaw besides
	Status  int  // of success; 0: 200
	Body    int64
	Types   []string // media types of the body; nil: JSON
	Stream  bool     // stays open
	Follow  bool     // stays open if it is asked with follow=1
	Errors  []int    // statuses, besides those that every operation has
	Takes   []media  // the body, where it is read as it comes
	Gives   []media  // the answer, where it is written by hand
}

// media is a kind of body, for the document.
type media struct {
	Type string
	Of   reflect.Type // nil: bytes
}

// bodyOf is a body of JSON, or of lines of it, of the shape T.
func bodyOf[T any](mediaType string) media { return media{mediaType, reflect.TypeFor[T]()} }

// table takes operations in and gives routes out. It is a huma.Adapter.
type table struct {
	api    huma.API
	routes []door.Route
	now    operation                         // that is being registered
	veiled func(skein.Session) skein.Session // a session as it is told
}

// Handle implements [huma.Adapter].
func (t *table) Handle(op *huma.Operation, handler func(huma.Context)) {
	o := t.now
	route := door.Route{
		Pattern: op.Method + " " + op.Path, Scope: o.Scope, Raw: o.Raw, Body: o.Body, Types: o.Types, Stream: o.Stream || o.Follow,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := asked(op, r.URL.RawQuery); err != nil {
				door.Fail(w, r, err)
				return
			}
			handler(&call{humaContext: humago.NewContext(op, r, w), response: w})
		}),
	}
	if o.Follow {
		route.Streams = func(r *http.Request) bool { return truth(r.FormValue("follow")) }
	}
	t.routes = append(t.routes, route)
}

// truth reads a word that stands for yes.
func truth(s string) bool { return s == "1" || s == "true" }

// ServeHTTP implements [huma.Adapter]; nothing comes this way.
func (t *table) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }

// register adds an operation. An error of f is answered as door.Fail would.
func register[I, O any](t *table, o operation, f func(context.Context, *I) (*O, error)) {
	t.now = o
	op := huma.Operation{
		OperationID: o.ID, Method: o.Method, Path: "/v1" + o.Path, Summary: o.Summary, Description: o.Doc, Tags: []string{o.Tag},
		DefaultStatus: o.Status, MaxBodyBytes: o.Body + 1, BodyReadTimeout: -1, // the door counts; at its limit huma would refuse
		Security: []map[string][]string{{"token": {o.Scope.String()}}},
	}
	huma.Register(t.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := f(ctx, in)
		if err != nil {
			return nil, refusalOf(ctx, t.veil(err))
		}
		return out, nil
	})
	t.describe(o)
}

// veil takes secrets out of the sessions that a name could mean.
func (t *table) veil(err error) error {
	var ambiguous *skein.AmbiguousError
	if !errors.As(err, &ambiguous) {
		return err
	}
	out := *ambiguous
	out.Candidates = nil
	for _, s := range ambiguous.Candidates {
		out.Candidates = append(out.Candidates, t.veiled(s))
	}
	return &out
}

// refusalOf returns what huma is to answer for err. The log is told what it
// must not tell the client.
func refusalOf(ctx context.Context, err error) *refusal {
	var r *refusal
	if !errors.As(err, &r) {
		r = &refusal{Problem: door.ProblemOf(err)}
		if r.Code == "internal" {
			door.Note(ctx, err)
		}
	}
	r.ID = door.From(ctx).ID
	return r
}
