package server_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// hostile returns bodies that are invalid for every route.
func hostile() map[string]string {
	deep := 20_000
	return map[string]string{
		"deep lists":           strings.Repeat("[", deep),
		"deep lists that end":  strings.Repeat("[", deep) + strings.Repeat("]", deep),
		"deep objects":         strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep),
		"deep in a field":      `{"title":` + strings.Repeat(`[`, deep) + strings.Repeat(`]`, deep) + `}`,
		"a long number":        strings.Repeat("9", 1<<20),
		"a long number, in it": `{"after":` + strings.Repeat("9", 1<<20) + `,"seq":` + strings.Repeat("9", 1<<20) + `}`,
		"a long fraction":      `{"after":1.` + strings.Repeat("9", 1<<20) + `}`,
		"a large exponent":     `{"after":1e999999999,"seq":1e999999999,"turn":1e999999999,"ttl":1e999999999,"fence":1e999999999,"session":1e999999999,"older_than":1e999999999,"role":1e9999}`,
		"a name twice":         `{"text":"a","role":"user","text":"b","title":"a","title":"b","after":1,"after":2,"batches":[],"batches":[],"session":"a","session":"b"}`,
		"bad UTF-8":            "{\"title\":\"\xff\",\"text\":\"\xff\",\"session\":\"\xff\",\"batches\":\"\xff\"}",
		"a zero byte":          "{\"title\":\"\x00\"}",
		"half of it":           `{"title":"a`,
		"something behind it":  `{} {}`,
		"a mark of byte order": "\ufeff{}",
		"UTF-16":               "{\x00}\x00",
		"a list":               `[]`,
		"a word":               `"x"`,
		"null":                 `null`,
		"NaN":                  `{"after":NaN}`,
		"a comment":            `{/* */}`,
		"a long name":          `{"` + strings.Repeat("x", 1<<20) + `":1}`,
		"many names":           `{` + strings.Repeat(`"a":1,`, 1<<16) + `"a":1}`,
	}
}

// TestHostileJSONIsRefusedByEveryRoute expects a problem of 400 from each route
// that reads JSON, and that the server uses only a few times as much memory as
// the body is long.
func TestHostileJSONIsRefusedByEveryRoute(t *testing.T) {
	s := newSite(t)
	s.begin("a", skein.Created{Key: "k"}, "hello")
	bodies := hostile()
	all := slices.Sorted(maps.Keys(bodies))
	for i, r := range s.door.Routes() {
		if r.Body == 0 || r.Types != nil && r.Types[0] != "application/json" {
			continue
		}
		what, some := pathOf(r), all
		if testing.Short() { // each route refuses one body, each body is refused
			some = all[i%len(all) : i%len(all)+1]
		}
		for _, name := range some {
			body := bodies[name]
			var was, is runtime.MemStats
			runtime.ReadMemStats(&was)
			p := s.problem(what, body)
			runtime.ReadMemStats(&is)
			if p.Status != 400 || p.Code != "invalid" || len(p.Detail) > 2000 {
				p.Detail = p.Detail[:min(len(p.Detail), 200)]
				t.Errorf("%s with %s = %+v, want 400 and a short word", what, name, p)
			}
			if took := is.TotalAlloc - was.TotalAlloc; took > 60<<20+30*uint64(len(body)) {
				t.Errorf("%s with %s, %d bytes, takes %d MB of memory", what, name, len(body), took>>20)
			}
		}
	}
}

func TestUsageByWhatThereIsNotIsRefused(t *testing.T) {
	s := newSite(t)
	s.begin("a", skein.Created{}, "hello")
	s.refuses(400, "invalid", "POST /v1/store/usage", `{"by":"zzz"}`)
}

func TestAPayloadIsAsHostileAsItMay(t *testing.T) {
	s := newSite(t)
	s.begin("a", skein.Created{}, "hello")
	deep := strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)
	for name, payload := range map[string]string{
		"deep":      deep,
		"no object": `[]`,
		"a number":  strings.Repeat("9", 1<<20),
	} {
		for _, what := range []string{
			`POST /v1/sessions/a/events {"events":[{"kind":"noted","payload":%s}]}`,
			`POST /v1/append {"batches":[{"session":"a","events":[{"kind":"noted","payload":%s}]}]}`,
		} {
			method, rest, _ := strings.Cut(what, " ")
			path, body, _ := strings.Cut(rest, " ")
			if p := s.problem(method+" "+path, fmt.Sprintf(body, payload)); p.Status != 400 || p.Code != "invalid" {
				t.Errorf("%s with the payload %s = %+v, want 400", path, name, p)
			}
		}
	}
	s.begin("b", skein.Created{}, "hello")
	long := `{"name":"x","data":{"n":` + strings.Repeat("9", 1<<20) + `,"a":1,"a":2}}` // foreign bytes are kept as they are
	s.wants(201, "POST /v1/sessions/b/events", `{"events":[{"kind":"noted","payload":`+long+`}]}`, nil)
	for e, err := range s.store.Events(t.Context(), "b", 2) {
		if err != nil || string(e.Payload) != long {
			t.Errorf("the payload with a long number came back with %d bytes, %v, want %d", len(e.Payload), err, len(long))
		}
	}
	for _, body := range []string{
		`{"events":[{"kind":"noted","payload":{"name":"x"}}],"events":[]}`, `{"after":1,"after":0,"events":[{"kind":"noted","payload":{"name":"x"}}]}`,
		`{"Events":[{"kind":"noted","payload":{"name":"x"}}]}`,
	} {
		s.refuses(400, "invalid", "POST /v1/sessions/a/events", body)
	}
}
