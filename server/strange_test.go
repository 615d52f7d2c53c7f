package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/door"
)

// strangeOp is an operation as the document tells of it.
type strangeOp struct {
	ID         string `json:"operationId"`
	Parameters []struct {
		Name, In string
		Required bool
		Schema   struct {
			Type any
			Enum []any
		}
	}
	RequestBody struct {
		Content map[string]struct {
			Schema strangeSchema
		}
	}
	Responses map[string]struct {
		Content map[string]json.RawMessage
	}
}

type strangeSchema struct {
	Ref        string `json:"$ref"`
	Properties map[string]json.RawMessage
}

// strangers asks for operations with values that nobody would.
type strangers struct {
	*rand.Rand
	schemas map[string]strangeSchema
	session skein.SessionID // that there is
}

// value is for a query, a header or a path.
func (x *strangers) value() string {
	all := []string{
		"", "a", "zzz", "0", "1", "-1", "9999999999999999999999", "1e309", "true", "null", "[]", "{}", "a/../b", "..", "%", "\x00", "\xff\xfe", "🧵", "2026-11-21T04:36:00.123Z", "30d",
		"session", "day", "regex", "(.*)*(.*)*x{1000}", "(", "child", "md", "source", strings.Repeat("x", 3000), strings.Repeat("9", 300), "Europe/Berlin", "*", `"`, "'; DROP TABLE events; --",
	}
	return all[x.IntN(len(all))]
}

// json is a value of a body, with members that the schema has and others.
func (x *strangers) json(s strangeSchema, depth int) any {
	if s.Ref != "" {
		s = x.schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
	}
	names := slices.Sorted(maps.Keys(s.Properties))
	switch n := x.IntN(10); {
	case n < 7 && len(names) > 0 && depth < 5:
		all := map[string]any{}
		for _, name := range names {
			if x.IntN(3) > 0 {
				var member strangeSchema
				_ = json.Unmarshal(s.Properties[name], &member)
				all[name] = x.json(member, depth+1)
			}
		}
		if x.IntN(8) == 0 {
			all["no such member"] = x.value()
		}
		return all
	case n == 7:
		return []any{x.value(), nil, 1.5, map[string]any{"a": x.value()}}
	case n == 8:
		return []any{nil, true, -1, 1e300, 0, 1 << 60}[x.IntN(6)]
	}
	return strings.ToValidUTF8(x.value(), "?")
}

// request returns one for an operation: its path and a body.
func (x *strangers) request(path string, op *strangeOp) (target, body string) {
	query := url.Values{}
	for _, p := range op.Parameters {
		v := x.value()
		if len(p.Schema.Enum) > 0 && x.IntN(2) == 0 {
			v = fmt.Sprint(p.Schema.Enum[x.IntN(len(p.Schema.Enum))])
		}
		switch {
		case p.In == "path":
			if v == "" || v == ".." || x.IntN(2) == 0 {
				v = string(x.session)
			}
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(v))
		case p.In == "query" && p.Name != "follow" && (p.Required || x.IntN(3) == 0):
			query.Set(p.Name, v)
		}
	}
	if x.IntN(10) == 0 {
		query.Set("no-such-parameter", x.value())
	}
	for _, c := range op.RequestBody.Content {
		switch x.IntN(8) {
		case 0:
			body = x.value()
		case 1:
			body = strings.Repeat(`{"a":[`, 2000)
		default:
			body = string(skein.MustJSON(x.json(c.Schema, 0)))
		}
	}
	return path + "?" + query.Encode(), body
}

// Whatever is asked, the server answers with a status that the document has for
// the operation, JSON where it says so, and never fails itself.
func TestNoRequestMakesTheServerFail(t *testing.T) {
	const seed, rounds = 12, 12
	s := newSite(t)
	var doc struct {
		Paths      map[string]map[string]strangeOp
		Components struct{ Schemas map[string]strangeSchema }
	}
	s.wants(200, "GET /v1/openapi.json", "", &doc)
	x := &strangers{rand.New(rand.NewPCG(seed, seed)), doc.Components.Schemas, ""}
	for n, scope := range []string{"read", "write", "write read:raw", "admin read:raw"} {
		token, err := s.tokens.Add(door.Token{Name: scope, Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		for round := range rounds {
			x.session = skein.SessionID(fmt.Sprintf("s%d-%d", n, round)) // the last may be gone by now
			s.begin(x.session, skein.Created{Title: "one", Cwd: "/src"}, "hello", "again")
			for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
				for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
					op := doc.Paths[path][method]
					if slices.Contains(elsewhere(), strings.ToUpper(method)+" "+path) {
						continue
					}
					target, body := x.request(path, &op)
					checkAnswer(t, s, token, strings.ToUpper(method), target, body, &op)
				}
			}
		}
	}
}

func checkAnswer(t *testing.T, s *site, token, method, target, body string, op *strangeOp) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, err := http.NewRequestWithContext(ctx, method, s.url+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
		for typ := range op.RequestBody.Content {
			r.Header.Set("Content-Type", typ)
		}
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Errorf("%s %.300s %.300q: %v", method, target, body, err)
		return
	}
	defer w.Body.Close()
	what := fmt.Sprintf("%s: %s %.400s %.400q = %d", op.ID, method, target, body, w.StatusCode)
	if _, ok := op.Responses[fmt.Sprint(w.StatusCode)]; w.StatusCode >= 500 || !ok && op.Responses["default"].Content == nil {
		b, _ := io.ReadAll(io.LimitReader(w.Body, 300))
		t.Errorf("%s %s, which the document does not have", what, b)
		return
	}
	if typ, _, _ := mime.ParseMediaType(w.Header.Get("Content-Type")); typ == "application/json" || strings.HasSuffix(typ, "+json") {
		var answer json.RawMessage
		if err := json.NewDecoder(w.Body).Decode(&answer); err != nil {
			t.Errorf("%s: its JSON: %v", what, err)
		}
	}
}
