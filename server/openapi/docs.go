package openapi

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skein-dev/skein/server/door"
)

//go:embed docs/page.html
var docsPage string

//go:embed docs/style.css
var docsStyle []byte

// documents returns the routes of the OpenAPI document, and of its page for
// people.
func (t *Table) documents() []door.Route {
	page := sync.OnceValues(t.page) // by the first request, all operations are registered
	return []door.Route{
		{Pattern: "GET /v1/openapi.json", Scope: door.Read, Handler: t.document()},
		{Pattern: "GET /v1/docs", Scope: door.Read, Page: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, err := page()
			if err != nil {
				door.Fail(w, r, err)
				return
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Write(b) //nolint:errcheck // the client has gone
		})},
		{Pattern: "GET /v1/docs/style.css", Scope: door.Read, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/css; charset=utf-8")
			w.Write(docsStyle) //nolint:errcheck // the client has gone
		})},
	}
}

// document answers with the OpenAPI document.
func (t *Table) document() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := t.Document().MarshalJSON()
		if err != nil {
			door.Fail(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.oai.openapi+json;version=3.1")
		w.Write(b) //nolint:errcheck // the client has gone
	})
}

// The data of the page.
type (
	pageData struct {
		Version  string
		About    []string
		Groups   []pageGroup
		Statuses []pageStatus
		Shapes   []pageShape
	}
	pageGroup struct {
		Name       string
		Operations []pageOperation
	}
	pageOperation struct {
		ID, Method, Path, Summary, Scope string
		Doc                              []string
		Params                           []pageField
		Takes, Gives                     []pageMedia
		Success                          string
		Errors                           []string
	}
	pageMedia struct {
		Type  string
		Shape pageType
	}
	pageField struct {
		Name, In, Doc, Bounds string
		Needed                bool
		Type                  pageType
	}
	pageType   struct{ Words, Ref string } // Ref is the name of the shape that it is, or is a list of
	pageStatus struct{ Status, Meaning string }
	pageShape  struct {
		Name   string
		Fields []pageField
	}
)

// page renders the page of the document.
func (t *Table) page() ([]byte, error) {
	tmpl, err := template.New("docs").Parse(docsPage)
	if err != nil {
		return nil, err
	}
	doc := t.Document()
	data := pageData{Version: doc.Info.Version, About: strings.Split(doc.Info.Description, "\n\n"), Groups: groupsOf(doc)}
	for _, s := range slices.Sorted(maps.Keys(doc.Components.Responses)) {
		data.Statuses = append(data.Statuses, pageStatus{s, doc.Components.Responses[s].Description})
	}
	shapes := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		data.Shapes = append(data.Shapes, pageShape{name, fieldsOf(shapes[name])})
	}
	var b bytes.Buffer
	err = tmpl.Execute(&b, data)
	return b.Bytes(), err
}

func groupsOf(doc *huma.OpenAPI) (groups []pageGroup) {
	var order []string
	for _, tag := range doc.Tags {
		order = append(order, tag.Name)
	}
	byTag := map[string][]pageOperation{}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			if op := operationAt(doc.Paths[path], method); op != nil {
				byTag[op.Tags[0]] = append(byTag[op.Tags[0]], shownOperation(op))
			}
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(byTag)) {
		if !slices.Contains(order, tag) {
			order = append(order, tag)
		}
	}
	for _, tag := range order {
		groups = append(groups, pageGroup{tag, byTag[tag]})
	}
	return groups
}

func shownOperation(op *huma.Operation) pageOperation {
	out := pageOperation{ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, Scope: "no token"}
	if scope, ok := op.Extensions[scopeKey].(string); ok {
		out.Scope = scope
	}
	if op.Description != "" {
		out.Doc = strings.Split(op.Description, "\n\n")
	}
	for _, p := range op.Parameters {
		out.Params = append(out.Params, pageField{p.Name, p.In, p.Description, boundsOf(p.Schema), p.Required, typeOf(p.Schema)})
	}
	if op.RequestBody != nil {
		out.Takes = mediaOf(op.RequestBody.Content)
	}
	for _, s := range slices.Sorted(maps.Keys(op.Responses)) {
		if r := op.Responses[s]; s < "300" {
			out.Success, out.Gives = s, mediaOf(r.Content)
		} else {
			out.Errors = append(out.Errors, s)
		}
	}
	return out
}

func mediaOf(content map[string]*huma.MediaType) (all []pageMedia) {
	for _, name := range slices.Sorted(maps.Keys(content)) {
		schemas := []*huma.Schema{content[name].Schema}
		if of := schemas[0].AnyOf; of != nil {
			schemas = of
		}
		for _, s := range schemas {
			all = append(all, pageMedia{name, typeOf(s)})
		}
	}
	return all
}

func fieldsOf(s *huma.Schema) (all []pageField) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		all = append(all, pageField{Name: name, Doc: p.Description, Bounds: boundsOf(p), Needed: slices.Contains(s.Required, name), Type: typeOf(p)})
	}
	return all
}

// typeOf returns the type of a schema in words: string, list of Event.
func typeOf(s *huma.Schema) pageType {
	switch {
	case s == nil:
		return pageType{Words: "anything"}
	case s.Ref != "":
		return pageType{Ref: s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]}
	case s.Type == huma.TypeArray:
		of := typeOf(s.Items)
		return pageType{strings.TrimSpace("list of " + of.Words), of.Ref}
	}
	return pageType{Words: cmp.Or(s.Type, "anything")}
}

// boundsOf returns in words which values a schema allows.
func boundsOf(s *huma.Schema) string {
	if s == nil {
		return ""
	}
	var all []string
	if len(s.Enum) > 0 {
		var words []string
		for _, e := range s.Enum {
			words = append(words, fmt.Sprint(e))
		}
		all = append(all, "one of "+strings.Join(words, ", "))
	}
	if s.Minimum != nil {
		all = append(all, fmt.Sprintf("at least %v", *s.Minimum))
	}
	if s.Maximum != nil {
		all = append(all, fmt.Sprintf("at most %v", *s.Maximum))
	}
	if s.MaxLength != nil {
		all = append(all, fmt.Sprintf("at most %d characters", *s.MaxLength))
	}
	if s.Default != nil {
		all = append(all, fmt.Sprintf("default: %v", s.Default))
	}
	return strings.Join(all, "; ")
}
