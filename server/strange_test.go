package server_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/postgres"
	"github.com/skein-dev/skein/store/sqlite"
)

// seedEnv repeats the requests of another run, by the seed in its log.
const seedEnv = "SKEIN_STRANGE_SEED"

// strangeOp is an operation as the document describes it.
type strangeOp struct {
	ID         string `json:"operationId"`
	Parameters []struct {
		Name, In string
		Required bool
		Schema   strangeSchema
	}
	RequestBody struct {
		Content map[string]struct {
			Schema strangeSchema
		}
	}
}

type strangeSchema struct {
	Ref        string `json:"$ref"`
	Type       any
	Enum       []any
	Items      *strangeSchema
	Properties map[string]strangeSchema
	Required   []string
}

// is reports whether a schema allows a type, maybe among others.
func (s *strangeSchema) is(typ string) bool {
	all, _ := s.Type.([]any)
	return s.Type == typ || slices.Contains(all, any(typ))
}

// strangers makes requests with values that nobody would send, and with some
// valid ones, so that the others get somewhere.
type strangers struct {
	*rand.Rand
	schemas map[string]strangeSchema
	session skein.SessionID // that exists
	right   bool            // most of the current request is valid
}

// odd returns a strange value for any purpose.
func (x *strangers) odd() string {
	all := []string{
		"", "a", "zzz", "0", "1", "-1", "9999999999999999999999", "1e309", "true", "null", "[]", "{}", "a/../b", "..", "%", "\x00", "\xff\xfe", "🧵", "2026-11-21T04:36:00.123Z", "30d",
		"session", "day", "regex", "(.*)*(.*)*x{1000}", "(", "child", "md", "source", strings.Repeat("x", 3000), strings.Repeat("9", 300), "Europe/Berlin", "*", `"`, "'; DROP TABLE events; --",
	}
	return all[x.IntN(len(all))]
}

// word returns a string value, by the name of its parameter.
func (x *strangers) word(name string) string {
	if !x.right || x.IntN(12) == 0 {
		return x.odd()
	}
	switch name {
	case "id", "session", "name":
		return string(x.session)
	case "time", "at", "since", "until", "before", "updated":
		return "2026-11-21T04:36:00.123Z"
	case "hash":
		return strings.Repeat("0a", 32)
	case "format":
		return "claude-code"
	case "kind":
		return []string{"noted", "said", "titled"}[x.IntN(3)]
	case "role":
		return "user"
	case "regex", "title", "q", "substring", "text", "words", "data", "payload64":
		return []string{"hello", "aGVsbG8="}[x.IntN(2)]
	}
	return []string{"", "a", "k", "1"}[x.IntN(4)]
}

func (x *strangers) number() int {
	all := []int{0, 1, 2, 3, 50, -1, 1 << 40, math.MaxInt, math.MinInt}
	return all[x.IntN(len(all))]
}

// parameter returns the value of a query parameter, a header or a path
// parameter.
func (x *strangers) parameter(name string, s strangeSchema) string {
	switch {
	case !x.right || x.IntN(12) == 0:
		return x.odd()
	case len(s.Enum) > 0:
		return fmt.Sprint(s.Enum[x.IntN(len(s.Enum))])
	case s.is("boolean"):
		return []string{"true", "false"}[x.IntN(2)]
	case s.is("integer"):
		return fmt.Sprint(x.number())
	}
	return x.word(name)
}

// json returns a value for a body.
func (x *strangers) json(name string, s strangeSchema, depth int) any {
	if s.Ref != "" {
		s = x.schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
	}
	switch odd := !x.right && x.IntN(3) == 0 || x.IntN(40) == 0; {
	case odd && x.IntN(2) == 0:
		return []any{x.odd(), nil, 1.5, map[string]any{"a": x.odd()}}
	case odd:
		return []any{nil, true, -1, 1e300, 0, 1 << 60}[x.IntN(6)]
	case len(s.Enum) > 0:
		return s.Enum[x.IntN(len(s.Enum))]
	case s.is("boolean"):
		return x.IntN(2) == 0
	case s.is("integer"), s.is("number"):
		return x.number()
	case s.is("array") && s.Items != nil && depth < 5:
		all := []any{}
		for range x.IntN(3) {
			all = append(all, x.json(name, *s.Items, depth+1))
		}
		return all
	case s.is("object") && len(s.Properties) == 0:
		return map[string]any{"name": "x", "role": "user", "title": "t", "parts": []any{map[string]any{"kind": "text", "text": "hello"}}}
	case len(s.Properties) == 0 || depth >= 5:
		return strings.ToValidUTF8(x.word(name), "?")
	}
	all := map[string]any{}
	for _, member := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, member) && x.right || x.IntN(3) == 0 {
			all[member] = x.json(member, s.Properties[member], depth+1)
		}
	}
	if !x.right && x.IntN(8) == 0 {
		all["no such member"] = x.odd()
	}
	return all
}

// file returns a body of bytes, such as a program might upload for an import.
func (x *strangers) file() string {
	switch x.IntN(6) {
	case 0:
		return transcript + answer
	case 1:
		return transcript + "{\x00" + answer[:len(answer)/2]
	case 2: // unpacked, it is a hundred times as long
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(make([]byte, 1<<20)) //nolint:errcheck // memory
		z.Close()
		return b.String()
	case 3:
		return "PK\x03\x04" + strings.Repeat(x.odd(), 20)
	}
	return x.odd()
}

// body returns a body of a media type.
func (x *strangers) body(typ string, s strangeSchema) string {
	switch n := x.IntN(24); {
	case n == 0:
		return x.odd()
	case n == 1:
		return strings.Repeat(`{"a":[`, 2000)
	case n == 2 && x.IntN(4) == 0:
		return `{"title":"` + strings.Repeat("x", 2<<20) + `"}`
	case strings.Contains(typ, "octet"):
		return x.file()
	}
	return string(skein.MustJSON(x.json("", s, 0)))
}

// request returns a request for an operation.
func (x *strangers) request(ctx context.Context, t *testing.T, root, method, path string, op *strangeOp) *http.Request {
	query, header, body := url.Values{}, http.Header{}, ""
	for _, p := range op.Parameters {
		v := x.parameter(p.Name, p.Schema)
		asked := p.Required || x.IntN(3) == 0
		switch {
		case p.In == "path":
			if v == "" || v == ".." || p.Name == "id" && x.IntN(4) > 0 {
				v = string(x.session)
			}
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(v))
		case p.In == "query" && asked:
			query.Set(p.Name, v)
		case p.In == "header" && asked:
			header.Set(p.Name, strings.Map(func(r rune) rune {
				if r < ' ' || r > '~' {
					return '?'
				}
				return r
			}, v))
		}
	}
	if x.IntN(20) == 0 {
		query.Set("no-such-parameter", x.odd())
	}
	for _, typ := range slices.Sorted(maps.Keys(op.RequestBody.Content)) {
		if body == "" || x.IntN(2) == 0 {
			body = x.body(typ, op.RequestBody.Content[typ].Schema)
			header.Set("Content-Type", typ)
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, root+path+"?"+query.Encode(), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(r.Header, header)
	return r
}

// Whatever the request, the scope and the store, the server answers as the document
// says, in status, type and every member, and never fails itself. A client that hangs
// up in the middle of a stream leaves nothing behind.
func TestNoRequestMakesTheServerFail(t *testing.T) {
	opened := func(t *testing.T, s skein.Store, err error) skein.Store {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() }) //nolint:errcheck // the test is over
		return s
	}
	rounds := map[string]int{"memory": 6, "sqlite": 3, "postgres": 2} // as many as are quick
	for name, open := range map[string]func(*testing.T) skein.Store{
		"memory": func(*testing.T) skein.Store { return memory.New() },
		"sqlite": func(t *testing.T) skein.Store {
			s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "skein.db"), sqlite.Options{})
			return opened(t, s, err)
		},
		"postgres": func(t *testing.T) skein.Store {
			s, err := postgres.Open(t.Context(), pgtest.DSN(t), postgres.Options{})
			return opened(t, s, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			emptyTemp(t)
			asksStrangely(t, newSiteOn(t, open(t)), rounds[name])
		})
	}
}

// asksStrangely makes strange requests of every operation, with every scope, so many
// rounds of them.
func asksStrangely(t *testing.T, s *site, rounds int) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if again := os.Getenv(seedEnv); again != "" {
		var err error
		if seed, err = strconv.ParseUint(again, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("to ask the same again: %s=%d", seedEnv, seed)
	var doc struct {
		Paths      map[string]map[string]strangeOp
		Components struct{ Schemas map[string]strangeSchema }
	}
	s.wants(200, "GET /v1/openapi.json", "", &doc)
	x := &strangers{rand.New(rand.NewPCG(seed, seed)), doc.Components.Schemas, "", false}
	answered := map[int]int{}
	for n, scope := range []string{"read", "read:raw", "write", "write read:raw", "admin", "admin read:raw"} {
		token, err := s.tokens.Add(door.Token{Name: scope, Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		for round := range rounds {
			x.session = skein.SessionID(fmt.Sprintf("s%d-%d", n, round)) // the last one may be gone by now
			if round > 0 {                                               // first there is no such session
				s.begin(x.session, skein.Created{Title: "one", Cwd: "/src"}, "hello", "again")
			}
			for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
				for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
					op, method := doc.Paths[path][method], strings.ToUpper(method)
					if slices.Contains(elsewhere(), method+" "+path) {
						continue
					}
					x.right = x.IntN(3) > 0
					answered[s.asks(x, token, method, path, &op)/100]++
				}
			}
		}
	}
	if answered[2] < answered[4]/8 {
		t.Errorf("answers by hundreds of their statuses: %v; want enough of 200 to see what they are like", answered)
	}
}

// asks sends a strange request and checks the answer against the document.
func (s *site) asks(x *strangers, token, method, path string, op *strangeOp) int {
	s.Helper()
	ctx, stop := context.WithCancel(s.Context())
	defer stop()
	r := x.request(ctx, s.T, s.url, method, path, op)
	var sent []byte
	if r.Body != nil {
		body, err := r.GetBody()
		if err != nil {
			s.Fatal(err)
		}
		if sent, err = io.ReadAll(body); err != nil {
			s.Fatal(err)
		}
	}
	r.Header.Set("Authorization", "Bearer "+token)
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Errorf("%s: %s %.300s %.300q: %v", op.ID, method, r.URL, sent, err)
		return 0
	}
	defer w.Body.Close()
	in := io.Reader(w.Body)
	if w.Header.Get("Content-Type") == "text/event-stream" {
		in = firstFrame(w.Body)
	}
	b, err := io.ReadAll(in)
	if err != nil {
		s.Errorf("%s: %s %.300s %.300q: the answer breaks off: %v", op.ID, method, r.URL, sent, err)
		return w.StatusCode
	}
	if err := s.contract().check(w, b); err != nil || w.StatusCode >= 500 {
		s.Errorf("%s %.400s %v %.400q = %d %.400s: %v", method, r.URL, r.Header, sent, w.StatusCode, b, err)
	}
	var p door.Problem
	if w.StatusCode >= 400 && json.Unmarshal(b, &p) == nil && !plain(p.Detail, string(x.session)) {
		s.Errorf("%s %.400s %.400q = %d %q, want an error that names no package, and its subject once", method, r.URL, sent, w.StatusCode, p.Detail)
	}
	return w.StatusCode
}

// plain reports whether the text of an error names no package of ours, and subject at
// most once.
func plain(detail, subject string) bool {
	for _, name := range []string{"memory", "sqlite", "postgres", "remote", "ledger", "door", "mcp", "agent"} {
		if strings.HasPrefix(detail, name+": ") || strings.Contains(detail, ": "+name+": ") {
			return false
		}
	}
	return strings.Count(detail, "session "+subject) < 2
}

// firstFrame returns the first frame of a stream: the rest may take forever.
func firstFrame(stream io.Reader) io.Reader {
	var b bytes.Buffer
	for in := bufio.NewReader(stream); ; {
		line, err := in.ReadString('\n')
		b.WriteString(line)
		if err != nil || line == "\n" {
			return &b
		}
	}
}

// What a stream sends fits the document, with secrets and without, for several
// readers that hang up at different places.
func TestWhatAStreamSendsIsWhatTheDocumentSays(t *testing.T) {
	s := newSite(t)
	s.begin("a", skein.Created{Title: "one", Cwd: "/src"}, "hello", "again", "and again")
	for _, path := range []string{"/v1/sessions/a/events?follow=1", "/v1/stream"} {
		for n := range 4 {
			next := s.listen(t.Context(), path)
			for range n {
				_, data, _ := strings.Cut(next(), " ")
				op, _ := s.contract().find(http.MethodGet, strings.TrimSuffix(path, "?follow=1"))
				if err := s.contract().fits(op.Responses["200"].Content["text/event-stream"].Schema, []byte(data)); err != nil {
					t.Errorf("GET %s sends %s: %v", path, data, err)
				}
			}
		}
	}
}
