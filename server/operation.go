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
	Doc     string // a longer description, in sentences
	Tag     string // sessions, events, …
	Scope   door.Scope
	Raw     bool // needs door.ReadRaw too
	Status  int  // of success; 0: 200
	Body    int64
	Types   []string // media types of the body; nil: JSON
	Stream  bool     // the response stays open
	Follow  bool     // the response stays open if follow=1 is set
	Errors  []int    // statuses, besides those of every operation
	Takes   []media  // the body, if it is read as a stream
	Gives   []media  // the answer, if it is written by hand
}

// media is a media type of a body, for the document.
type media struct {
	Type string
	Of   reflect.Type // nil: bytes
}

// bodyOf returns a body of the shape T: JSON, or JSON lines.
func bodyOf[T any](mediaType string) media { return media{mediaType, reflect.TypeFor[T]()} }

// table collects operations and turns them into routes. It is a huma.Adapter.
type table struct {
	api    huma.API
	routes []door.Route
	now    operation                         // the one being registered
	veiled func(skein.Session) skein.Session // masks the secrets in a session
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

// truth parses a boolean parameter.
func truth(s string) bool { return s == "1" || s == "true" }

// ServeHTTP implements [huma.Adapter]; it is not used.
func (t *table) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }

// register adds an operation. An error of f is answered as door.Fail would
// answer it.
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

// veil masks the secrets in the candidates of an ambiguous name.
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

// refusalOf returns the answer for err. What clients must not see goes to the
// log.
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
