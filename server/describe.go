package server

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
		http.StatusBadRequest:            "The request is wrong: trying again is no use.",
		http.StatusUnauthorized:          "No token, or a wrong or expired one.",
		http.StatusForbidden:             "The token may not do this, or the request comes from a foreign page or names a foreign host.",
		http.StatusNotFound:              "It is not there, or not for this token's user, or was deleted.",
		http.StatusConflict:              "It has moved on, is locked or taken, or a rule that the caller chose forbids it; code says which.",
		http.StatusPreconditionFailed:    "If-Match names another version than there is now.",
		http.StatusNotModified:           "It is still what If-None-Match names.",
		http.StatusRequestEntityTooLarge: "The body is too long, or there is one where none is taken.",
		http.StatusUnsupportedMediaType:  "The body is of another type.",
		http.StatusUnprocessableEntity:   "The client ID or Idempotency-Key was used for other content.",
		http.StatusTooManyRequests:       "Too many wrong tokens, or too many open streams.",
		http.StatusInternalServerError:   "The server failed; its log says how.",
		http.StatusServiceUnavailable:    "Not now; the outcome of a write may be unknown: the same client IDs settle it.",
		http.StatusInsufficientStorage:   "There is no room, on the disk or in the user's quota: nothing was stored.",
	}[status]
}

// describe documents what huma cannot know about an operation.
func (t *table) describe(o operation) {
	t.fill(operationAt(t.api.OpenAPI().Paths["/v1"+o.Path], o.Method), o)
}

// fill adds statuses, and bodies that are read or written by hand, to op.
func (t *table) fill(op *huma.Operation, o operation) {
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
		op.RequestBody = &huma.RequestBody{Required: true, Content: t.content(o.Takes)}
	}
	if o.Gives != nil {
		status := strconv.Itoa(cmp.Or(o.Status, http.StatusOK))
		if op.Responses[status] == nil {
			op.Responses[status] = &huma.Response{}
		}
		r := op.Responses[status]
		r.Description, r.Content = cmp.Or(r.Description, http.StatusText(cmp.Or(o.Status, http.StatusOK))), t.content(o.Gives)
	}
}

// problem adds the response of a status to the document's components.
func (t *table) problem(status int) {
	c := t.api.OpenAPI().Components
	if c.Responses == nil {
		c.Responses = map[string]*huma.Response{}
	}
	name := strconv.Itoa(status)
	if c.Responses[name] == nil {
		c.Responses[name] = &huma.Response{Description: meaning(status)}
		if status >= http.StatusBadRequest {
			c.Responses[name].Content = t.content([]media{bodyOf[door.Problem]("application/problem+json")})
		}
	}
}

func (t *table) content(all []media) map[string]*huma.MediaType {
	out := map[string]*huma.MediaType{}
	for _, m := range all {
		s := &huma.Schema{Type: huma.TypeString}
		if m.Of != nil {
			s = t.api.OpenAPI().Components.Schemas.Schema(m.Of, true, m.Of.Name())
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

// Shapes of bodies that are written by hand, for the document.
type (
	event struct {
		Seq       int64          `json:"seq" doc:"its place in the session: 1, 2, 3, no gaps"`
		Time      string         `json:"time" doc:"by the writer's clock, 2026-11-21T04:36:00.123Z; empty if it is not known"`
		Kind      string         `json:"kind" doc:"created, said, tool, step, titled, changed, compacted, rewound, resumed, ended, amended, noted; others may come"`
		ClientID  string         `json:"client_id,omitempty" maxLength:"128" doc:"the writer's name for it: sent twice it is stored once"`
		Payload   map[string]any `json:"payload,omitempty" doc:"by kind; its bytes are kept as they are"`
		Payload64 []byte         `json:"payload64,omitempty" doc:"instead of payload, where its bytes cannot stand in JSON on one line"`
	}
	newEvent struct {
		Kind      string         `json:"kind"`
		Time      string         `json:"time,omitempty" doc:"now if it is left out"`
		ClientID  string         `json:"client_id,omitempty" maxLength:"128"`
		Payload   map[string]any `json:"payload,omitempty"`
		Payload64 []byte         `json:"payload64,omitempty"`
	}
	newBlob struct {
		Hash string `json:"hash" doc:"SHA-256 of the data, in hexadecimal"`
		Data []byte `json:"data"`
	}
	newBatch struct {
		After  int64      `json:"after,omitempty" doc:"the last seq that the writer saw; 0 for wherever the session ends, -1 if it must not have begun"`
		Fence  int64      `json:"fence,omitempty" doc:"of the writer's lease"`
		Events []newEvent `json:"events"`
		Blobs  []newBlob  `json:"blobs,omitempty" doc:"that the events refer to"`
	}
	eventPage struct {
		Items []event `json:"items"`
		Next  string  `json:"next_cursor,omitempty"`
	}
	fed struct {
		Session string `json:"session"`
		User    string `json:"user"`
		Event   event  `json:"event"`
	}
)
