package server_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/skein-dev/skein/server/api"
)

// An older server refuses fields of a newer client that it does not know, with
// an error that helps nobody; when a server has another version, a client says
// so at once.
func TestWhatAStoreCanBeAskedForStaysInAVersionOfTheProtocol(t *testing.T) {
	s := newSite(t)
	var doc struct {
		Paths map[string]map[string]struct {
			RequestBody any `json:"requestBody"`
		} `json:"paths"`
		Components map[string]map[string]any `json:"components"`
	}
	if err := json.Unmarshal(s.raw(200, "GET /v1/openapi.json", ""), &doc); err != nil {
		t.Fatal(err)
	}
	asked := map[string]any{}
	for path, item := range doc.Paths {
		for method, op := range item {
			if strings.HasPrefix(path, "/v1/store") || path == "/v1/append" {
				asked[method+" "+path] = op.RequestBody
			}
		}
	}
	for more := true; more; { // the schemas that it refers to
		text, n := string(shape(t, asked)), len(asked)
		for name, schema := range doc.Components["schemas"] {
			if strings.Contains(text, `"#/components/schemas/`+name+`"`) {
				asked[name] = schema
			}
		}
		more = len(asked) > n
	}
	const version, want = 10, "c56244b0d880e6a793ff56475633794d1685642ec02e998b470ac7f4b3e38e94"
	if got := fmt.Sprintf("%x", sha256.Sum256(shape(t, asked))); got != want || api.Protocol != version {
		t.Errorf("version %d of the protocol has bodies with the sum %s, want version %d with %s; where they have changed, raise api.Protocol", api.Protocol, got, version, want)
	}
}

// shape returns v as JSON, without its descriptions.
func shape(t *testing.T, v any) []byte {
	t.Helper()
	var bare func(v any) any
	bare = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			out := maps.Clone(v)
			for k, x := range out {
				if _, words := x.(string); words && (k == "description" || k == "title") {
					delete(out, k)
				} else {
					out[k] = bare(x)
				}
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i, x := range v {
				out[i] = bare(x)
			}
			return out
		}
		return v
	}
	b, err := json.Marshal(bare(v))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
