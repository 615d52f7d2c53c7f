package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skein-dev/skein/server/door"
)

type humaContext = huma.Context

// apiCall is a request. Errors that huma finds are 400: 422 has one meaning only.
type apiCall struct {
	humaContext
	response http.ResponseWriter
	body     *errBody
	status   int // instead of huma's; 0: as it says
}

// SetStatus implements [huma.Context].
func (c *apiCall) SetStatus(status int) {
	if c.status != 0 {
		status = c.status
	}
	if status == http.StatusServiceUnavailable {
		c.SetHeader("Retry-After", "1")
	}
	c.humaContext.SetStatus(status)
}

// BodyReader implements [huma.Context].
func (c *apiCall) BodyReader() io.Reader {
	if c.body == nil {
		c.body = &errBody{Reader: c.humaContext.BodyReader()}
	}
	return c.body
}

// errBody is a body that remembers the error of reading it.
type errBody struct {
	io.Reader
	err error
}

// Read implements [io.Reader].
func (n *errBody) Read(b []byte) (int, error) {
	k, err := n.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		n.err = err
	}
	return k, err
}

// A Request is for operations that read the body as a stream, or write the answer
// in several pieces: embed it in their input.
type Request struct{ call huma.Context }

// Call returns the call that the request belongs to.
func (r *Request) Call() huma.Context { return r.call }

// Resolve implements [huma.Resolver].
func (r *Request) Resolve(ctx huma.Context) []error {
	r.call = ctx
	return nil
}

// ResponseOf returns what answers a call, to write to it in several pieces; false if
// the call is not of a [Table].
func ResponseOf(c huma.Context) (http.ResponseWriter, bool) {
	k, ok := c.(*apiCall)
	if !ok {
		return nil, false
	}
	return k.response, true
}

// refusal is a problem for huma to write.
type refusal struct{ door.Problem }

// Refuse returns an error that is answered with a problem of its own code.
func Refuse(status int, code, format string, args ...any) error {
	return &refusal{door.Problem{Status: status, Title: http.StatusText(status), Code: code, Detail: door.Brief(fmt.Sprintf(format, args...))}}
}

// Error implements error.
func (r *refusal) Error() string { return r.Detail }

// GetStatus implements [huma.StatusError].
func (r *refusal) GetStatus() int { return r.Status }

// ContentType implements [huma.ContentTypeFilter].
func (r *refusal) ContentType(string) string { return "application/problem+json" }

// problems turns huma's error for a request into one of our problems.
func problems(ctx huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	c, ok := ctx.(*apiCall)
	if !ok {
		return v, fmt.Errorf("a context of type %T", ctx)
	}
	p := door.Problem{Status: http.StatusBadRequest, Code: "invalid", Detail: m.Detail}
	var what []string
	for _, e := range m.Errors {
		what = append(what, inWords(e))
	}
	if len(what) > 0 {
		p.Detail = strings.Join(what, "; ")
	}
	var long *http.MaxBytesError
	switch {
	case c.body != nil && errors.As(c.body.err, &long):
		p = door.ProblemOf(long)
	case c.body != nil && errors.Is(c.body.err, door.ErrBusy):
		p = door.ProblemOf(door.ErrBusy)
	case c.body != nil && c.body.err != nil:
		p.Detail = "the body broke off"
	}
	p.Detail = door.Brief(p.Detail)
	c.status, p.Title, p.ID = p.Status, http.StatusText(p.Status), door.From(ctx.Context()).ID
	return &refusal{p}, nil
}

// maxValue is how much of a wrong value a problem shows, in bytes.
const maxValue = 100

// inWords returns what is wrong with a value, and the value.
func inWords(e *huma.ErrorDetail) string {
	if e.Location == "" {
		return e.Message
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	text := fmt.Sprintf("%q", fmt.Sprint(e.Value)) // if it did not come from JSON
	if enc.Encode(e.Value) == nil {
		text = strings.TrimSuffix(b.String(), "\n")
	}
	if len(text) > maxValue {
		text = strings.ToValidUTF8(text[:maxValue], "") + "…"
	}
	return fmt.Sprintf("%s: %s (%s)", e.Location, e.Message, text)
}
