package openapi

import (
	"context"
	"errors"
	"net/http"
	"path"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
)

// An Operation is one entry of the API's table.
type Operation struct {
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
	Takes   []Media  // the body, if it is read as a stream
	Gives   []Media  // the answer, if it is written by hand
}

// Media is a media type of a body, for the document.
type Media struct {
	Type string
	Of   reflect.Type // nil: bytes
}

// BodyOf returns a body of the shape T: JSON, or JSON lines.
func BodyOf[T any](mediaType string) Media { return Media{mediaType, reflect.TypeFor[T]()} }

// A Table collects operations and turns them into routes. It is a huma.Adapter.
type Table struct {
	api    huma.API
	routes []door.Route
	now    Operation                         // the one being registered
	masked func(skein.Session) skein.Session // masks the secrets in a session
}

// Handle implements [huma.Adapter].
func (t *Table) Handle(op *huma.Operation, handler func(huma.Context)) {
	o := t.now
	route := door.Route{
		Pattern: op.Method + " " + op.Path, Scope: o.Scope, Raw: o.Raw, Body: o.Body, Types: o.Types, Stream: o.Stream || o.Follow,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := asked(op, r.URL.RawQuery); err != nil {
				door.Fail(w, r, err)
				return
			}
			handler(&apiCall{humaContext: humago.NewContext(op, r, w), response: w})
		}),
	}
	if o.Follow {
		route.Streams = func(r *http.Request) bool { return Truth(r.FormValue("follow")) }
	}
	t.routes = append(t.routes, route)
}

// Truth parses a boolean parameter.
func Truth(s string) bool { return s == "1" || s == "true" }

// ServeHTTP implements [huma.Adapter]; it is not used.
func (t *Table) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }

// New returns an empty table of an API of that version; about describes the API,
// and masked masks the secrets in a session that an error names.
func New(version, about string, masked func(skein.Session) skein.Session) *Table {
	config := huma.DefaultConfig("skein", version)
	config.Info.Description = about
	config.Info.License = &huma.License{Name: "Apache License 2.0", Identifier: "Apache-2.0"}
	config.Info.Contact = &huma.Contact{Name: "skein", URL: "https://github.com/skein-dev/skein"}
	config.Servers = []*huma.Server{{URL: "/", Description: "The server that this document is from"}}
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	config.CreateHooks = nil // no $schema in answers
	config.Formats = map[string]huma.Format{"application/json": strictly(), "json": strictly()}
	config.Transformers = []huma.Transformer{problems}
	config.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaNames())
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
	t := &Table{masked: masked}
	t.api = huma.NewAPI(config, t)
	return t
}

// schemaNames returns a function that names types in the document. If two
// packages have a type of the same name, the later one is prefixed with its
// package.
func schemaNames() func(reflect.Type, string) string {
	named := map[string]reflect.Type{}
	return func(t reflect.Type, hint string) string {
		name := huma.DefaultSchemaNamer(t, hint)
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if was, ok := named[name]; ok && was != t {
			name = huma.DefaultSchemaNamer(t, "") + "-" + path.Base(t.PkgPath())
		}
		named[name] = t
		return name
	}
}

// Routes returns the routes of the operations, of the OpenAPI document and of its
// page for people.
func (t *Table) Routes() []door.Route {
	shapes := t.Document().Components.Schemas.Map()
	delete(shapes, "ErrorModel") // huma's own: our errors are problems
	delete(shapes, "ErrorDetail")
	return append(t.routes, t.documents()...)
}

// Document returns the OpenAPI document, to be added to.
func (t *Table) Document() *huma.OpenAPI { return t.api.OpenAPI() }

// Register adds an operation. An error of f is answered as door.Fail would
// answer it.
func Register[I, O any](t *Table, o Operation, f func(context.Context, *I) (*O, error)) {
	t.now = o
	op := huma.Operation{
		OperationID: o.ID, Method: o.Method, Path: "/v1" + o.Path, Summary: o.Summary, Description: o.Doc, Tags: []string{o.Tag},
		DefaultStatus: o.Status, MaxBodyBytes: o.Body + 1, BodyReadTimeout: -1, // the door counts; at its limit huma would refuse
		Security: security(o.Scope), Extensions: scopeNote(o.Scope),
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

// scopeKey is the member of an operation that says which scope a token needs. The
// specification knows scopes of OAuth only.
const scopeKey = "x-scope"

// security returns what an operation says of the token that it needs.
func security(s door.Scope) []map[string][]string {
	if s == door.Open {
		return []map[string][]string{}
	}
	return []map[string][]string{{"token": {}}}
}

// scopeNote returns the scope that an operation needs, for the document.
func scopeNote(s door.Scope) map[string]any {
	if s == door.Open {
		return nil
	}
	return map[string]any{scopeKey: s.String()}
}

// Tag adds what the operations with a tag are about to the document, which has the
// tags in the order in which they are added.
func (t *Table) Tag(name, about string) {
	doc := t.Document()
	doc.Tags = append(doc.Tags, &huma.Tag{Name: name, Description: about})
}

// veil masks the secrets in the candidates of an ambiguous name.
func (t *Table) veil(err error) error {
	var ambiguous *skein.AmbiguousError
	if !errors.As(err, &ambiguous) {
		return err
	}
	out := *ambiguous
	out.Candidates = nil
	for _, s := range ambiguous.Candidates {
		out.Candidates = append(out.Candidates, t.masked(s))
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

// ProblemOf returns the problem that answers err. What clients must not see goes to
// the log.
func ProblemOf(ctx context.Context, err error) door.Problem { return refusalOf(ctx, err).Problem }
