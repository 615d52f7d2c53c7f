package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/skein-dev/skein/door"
)

// An operation is one entry of the API's table.
type operation struct {
	ID      string // as in the OpenAPI document: list-sessions
	Method  string
	Path    string // below /v1, with {parameters}
	Summary string
	Doc     string
	Tag     string // sessions, events, …
	Scope   door.Scope
	Status  int // of success; 0: 200
	Body    int64
	Types   []string // media types of the body; nil: JSON
	Stream  bool
}

// table takes operations in and gives routes out. It is a huma.Adapter.
type table struct {
	api    huma.API
	routes []door.Route
	now    operation // that is being registered
}

// Handle implements [huma.Adapter].
func (t *table) Handle(op *huma.Operation, handler func(huma.Context)) {
	o := t.now
	t.routes = append(t.routes, door.Route{
		Pattern: op.Method + " " + op.Path, Scope: o.Scope, Body: o.Body, Types: o.Types, Stream: o.Stream,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			handler(&call{humaContext: humago.NewContext(op, r, w)})
		}),
	})
}

// ServeHTTP implements [huma.Adapter]; nothing comes this way.
func (t *table) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }

// call is a request. Of what huma finds wrong with it the status is 400: 422
// has one meaning only.
type call struct {
	humaContext
	malformed bool
}

type humaContext = huma.Context

// SetStatus implements [huma.Context].
func (c *call) SetStatus(status int) {
	if c.malformed && status == http.StatusUnprocessableEntity {
		status = http.StatusBadRequest
	}
	c.humaContext.SetStatus(status)
}

// refusal is a problem that huma writes.
type refusal struct{ door.Problem }

// Error implements error.
func (r *refusal) Error() string { return r.Detail }

// GetStatus implements [huma.StatusError].
func (r *refusal) GetStatus() int { return r.Status }

// ContentType implements [huma.ContentTypeFilter].
func (r *refusal) ContentType(string) string { return "application/problem+json" }

// problems makes what huma finds wrong with a request a problem of ours.
func problems(ctx huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	c, ok := ctx.(*call)
	if !ok {
		return v, fmt.Errorf("a context of type %T", ctx)
	}
	p := door.Problem{Status: m.Status, Title: http.StatusText(m.Status), Code: "invalid", Detail: m.Detail, ID: door.From(ctx.Context()).ID}
	if m.Status == http.StatusUnprocessableEntity {
		c.malformed = true
		p.Status, p.Title = http.StatusBadRequest, http.StatusText(http.StatusBadRequest)
	}
	var what []string
	for _, e := range m.Errors {
		what = append(what, e.Error())
	}
	if len(what) > 0 {
		p.Detail = strings.Join(what, "; ")
	}
	return &refusal{p}, nil
}

// register adds an operation. An error of f is answered as door.Fail would.
func register[I, O any](t *table, o operation, f func(context.Context, *I) (*O, error)) {
	t.now = o
	op := huma.Operation{
		OperationID: o.ID, Method: o.Method, Path: "/v1" + o.Path, Summary: o.Summary, Description: o.Doc, Tags: []string{o.Tag},
		DefaultStatus: o.Status, MaxBodyBytes: max(o.Body, 1), BodyReadTimeout: -1,
		Security: []map[string][]string{{"token": {o.Scope.String()}}},
	}
	huma.Register(t.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := f(ctx, in)
		if err != nil {
			p := door.ProblemOf(err)
			p.ID = door.From(ctx).ID
			return nil, &refusal{p}
		}
		return out, nil
	})
}
