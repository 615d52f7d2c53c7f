package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// A contract is what the API's document says about every answer. It is safe for
// concurrent use.
type contract struct {
	Paths      map[string]map[string]contractOp
	Components struct {
		Schemas   map[string]*jsonschema.Schema
		Responses map[string]contractAnswer
	}

	mu    sync.Mutex
	known map[*jsonschema.Schema]*jsonschema.Resolved
}

type contractOp struct {
	ID        string `json:"operationId"`
	Responses map[string]contractAnswer
}

type contractAnswer struct {
	Ref     string `json:"$ref"`
	Content map[string]struct{ Schema *jsonschema.Schema }
}

// readContract parses the document of a server.
func readContract(b []byte) (*contract, error) {
	c := &contract{known: map[*jsonschema.Schema]*jsonschema.Resolved{}}
	// A schema by itself has the schemas that it refers to among its own
	// definitions.
	b = bytes.ReplaceAll(b, []byte(`"#/components/schemas/`), []byte(`"#/$defs/`))
	return c, json.Unmarshal(b, c)
}

// find returns the operation for a request, false if the document has none: of
// several, the one with the fewest parameters.
func (c *contract) find(method, path string) (op contractOp, ok bool) {
	fewest := len(path)
	for pattern, ops := range c.Paths {
		want, is := strings.Split(pattern, "/"), strings.Split(path, "/")
		found, has := ops[strings.ToLower(method)]
		if !has || len(want) != len(is) {
			continue
		}
		n, same := 0, true
		for i := range want {
			switch {
			case strings.HasPrefix(want[i], "{"):
				n++
			case want[i] != is[i]:
				same = false
			}
		}
		if same && n < fewest {
			op, ok, fewest = found, true, n
		}
	}
	return op, ok
}

// check returns what is wrong with an answer: its status, type and body must be
// among those of the document. The body of a stream may be incomplete.
func (c *contract) check(r *http.Response, body []byte) error {
	op, ok := c.find(r.Request.Method, r.Request.URL.EscapedPath())
	if !ok {
		return nil
	}
	answer, ok := op.Responses[fmt.Sprint(r.StatusCode)]
	if !ok {
		return fmt.Errorf("%s: it has no status %d", op.ID, r.StatusCode)
	}
	if at := strings.LastIndex(answer.Ref, "/"); at >= 0 {
		answer = c.Components.Responses[answer.Ref[at+1:]]
	}
	if len(answer.Content) == 0 || r.Request.Method == http.MethodHead {
		if len(body) > 0 {
			return fmt.Errorf("%s: status %d has no body, but it has %.100q", op.ID, r.StatusCode, body)
		}
		return nil
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("%s: content type %q: %w", op.ID, r.Header.Get("Content-Type"), err)
	}
	part, ok := answer.Content[kind]
	if !ok && strings.HasPrefix(kind, "image/") {
		part, ok = answer.Content["image/*"]
	}
	if !ok {
		return fmt.Errorf("%s: status %d is not of the type %s", op.ID, r.StatusCode, kind)
	}
	for _, value := range values(kind, body) {
		if err := c.fits(part.Schema, value); err != nil {
			return fmt.Errorf("%s: status %d: %w in %.500s", op.ID, r.StatusCode, err, value)
		}
	}
	return nil
}

// values returns the JSON in a body: all of it, its lines, or the data of its
// events. A problem that ends a stream is left out.
func values(kind string, body []byte) (all [][]byte) {
	switch {
	case kind == "text/event-stream":
		for frame := range strings.SplitSeq(string(body), "\n\n") {
			if _, data, ok := strings.Cut("\n"+frame, "\ndata: "); ok && !strings.Contains(frame, "event: problem") {
				all = append(all, []byte(data))
			}
		}
	case kind == "application/x-ndjson":
		for line := range bytes.Lines(body) {
			if !bytes.HasPrefix(line, []byte(`{"problem":`)) {
				all = append(all, line)
			}
		}
	case strings.HasSuffix(kind, "json"):
		all = append(all, body)
	}
	return all
}

// fits validates a value against a schema.
func (c *contract) fits(s *jsonschema.Schema, value []byte) error {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return err
	}
	if s == nil || s.Type == "string" && s.Ref == "" { // bytes
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.known[s]
	if !ok {
		defs := map[string]*jsonschema.Schema{}
		for name, d := range c.Components.Schemas {
			defs[name] = d.CloneSchemas()
		}
		var err error
		if known, err = (&jsonschema.Schema{Defs: defs, AllOf: []*jsonschema.Schema{s.CloneSchemas()}}).Resolve(nil); err != nil {
			return err
		}
		c.known[s] = known
	}
	return known.Validate(v)
}
