package openapi

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skein-dev/skein/server/door"
)

// always returns the statuses that every operation may answer with.
func always() []int {
	return []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusServiceUnavailable,
	}
}

// meaning returns what a status means, for every operation.
func meaning(status int) string {
	return map[int]string{
		http.StatusBadRequest:            "The request is invalid; sending it again does not help.",
		http.StatusUnauthorized:          "The token is missing, wrong or expired.",
		http.StatusForbidden:             "The token does not permit this, or the request comes from another site's page or names another host.",
		http.StatusNotFound:              "It does not exist, belongs to another user, or was deleted.",
		http.StatusConflict:              "The session has newer events, is locked or taken, or a rule that the caller chose forbids the request; code says which.",
		http.StatusPreconditionFailed:    "If-Match names a version that is not the current one.",
		http.StatusNotModified:           "Not changed: the current version is the one that If-None-Match names.",
		http.StatusRequestEntityTooLarge: "The body is too long, or the operation takes no body.",
		http.StatusUnsupportedMediaType:  "The body has the wrong type.",
		http.StatusUnprocessableEntity:   "The client ID or Idempotency-Key was used for other content.",
		http.StatusTooManyRequests:       "Too many wrong tokens, or too many open streams.",
		http.StatusInternalServerError:   "The server failed; its log has the error.",
		http.StatusServiceUnavailable:    "Temporarily unavailable. The outcome of a write may be unknown: send it again with the same client IDs.",
		http.StatusInsufficientStorage:   "No space left on the disk or in the user's quota; nothing was stored.",
	}[status]
}

// describe documents what huma cannot know about an operation.
func (t *Table) describe(o Operation) {
	t.fill(operationAt(t.Document().Paths["/v1"+o.Path], o.Method), o)
}

// fill adds statuses, and bodies that are read or written by hand, to op.
func (t *Table) fill(op *huma.Operation, o Operation) {
	statuses := append(always(), o.Errors...)
	if o.Body > 0 {
		statuses = append(statuses, http.StatusUnsupportedMediaType)
	}
	if o.Scope >= door.Write {
		statuses = append(statuses, http.StatusInsufficientStorage)
	}
	delete(op.Responses, "default")
	delete(op.Responses, "422")
	delete(op.Responses, "500")
	for _, s := range statuses {
		op.Responses[strconv.Itoa(s)] = &huma.Response{Ref: "#/components/responses/" + strconv.Itoa(s)}
		t.problem(s)
	}
	if o.Takes != nil {
		op.RequestBody = &huma.RequestBody{Required: true, Content: t.Content(o.Takes)}
	}
	if o.Gives != nil {
		status := strconv.Itoa(cmp.Or(o.Status, http.StatusOK))
		if op.Responses[status] == nil {
			op.Responses[status] = &huma.Response{}
		}
		r := op.Responses[status]
		r.Description, r.Content = cmp.Or(r.Description, http.StatusText(cmp.Or(o.Status, http.StatusOK))), t.Content(o.Gives)
	}
}

// problem adds the response of a status to the document's components.
func (t *Table) problem(status int) {
	c := t.Document().Components
	if c.Responses == nil {
		c.Responses = map[string]*huma.Response{}
	}
	name := strconv.Itoa(status)
	if c.Responses[name] == nil {
		c.Responses[name] = &huma.Response{Description: meaning(status)}
		if status >= http.StatusBadRequest {
			c.Responses[name].Content = t.Content([]Media{BodyOf[door.Problem]("application/problem+json")})
		}
	}
}

// Content returns the content of a body that is one of these, for the document.
func (t *Table) Content(all []Media) map[string]*huma.MediaType {
	out := map[string]*huma.MediaType{}
	for _, m := range all {
		s := &huma.Schema{Type: huma.TypeString}
		if m.Of != nil {
			s = t.Document().Components.Schemas.Schema(m.Of, true, m.Of.Name())
		}
		if old := out[m.Type]; old != nil { // either one of them; an empty page may be both
			if old.Schema.AnyOf == nil {
				old.Schema = &huma.Schema{AnyOf: []*huma.Schema{old.Schema}}
			}
			old.Schema.AnyOf = append(old.Schema.AnyOf, s)
			continue
		}
		out[m.Type] = &huma.MediaType{Schema: s}
	}
	return out
}

func operationAt(p *huma.PathItem, method string) *huma.Operation {
	all := []*huma.Operation{p.Get, p.Post, p.Put, p.Patch, p.Delete}
	return all[slices.Index([]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, method)]
}

// Beside adds an operation that another package answers to the document.
func (t *Table) Beside(o Operation) {
	op := &huma.Operation{
		OperationID: o.ID, Method: o.Method, Path: o.Path, Summary: o.Summary, Description: o.Doc, Tags: []string{o.Tag},
		Responses: map[string]*huma.Response{}, Security: security(o.Scope), Extensions: scopeNote(o.Scope),
	}
	t.Document().AddOperation(op)
	t.fill(op, o)
}
