package traces_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/traces"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/sqlite"
)

// TestMain fails if a goroutine is left behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "pomegranate"

// traced is a door whose requests are traced, with a store whose calls are
// traced.
type traced struct {
	*testing.T
	*collector
	door   *door.Door
	tokens *door.Tokens
	traces *traces.Traces
	log    bytes.Buffer
}

func newTraced(t *testing.T) *traced {
	t.Helper()
	return newTracedWith(t, nil)
}

// newTracedWith is newTraced with variables of OpenTelemetry.
func newTracedWith(t *testing.T, set map[string]string) *traced {
	t.Helper()
	h := &traced{T: t, collector: newCollector(t)}
	tokens, err := door.OpenTokens(filepath.Join(t.TempDir(), "tokens"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	h.tokens = tokens
	to, err := traces.Find(h.URL, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&h.log, nil))
	if h.traces, err = traces.New(t.Context(), traces.Options{Endpoint: to, Version: "1.2", Getenv: func(name string) string { return set[name] }, Log: log}); err != nil {
		t.Fatal(err)
	}
	route := func(pattern string, f func(w http.ResponseWriter, r *http.Request, s skein.Store)) door.Route {
		return door.Route{Pattern: pattern, Scope: door.Read, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			f(w, r, door.From(r.Context()).Store)
		})}
	}
	h.door = door.New(door.Options{Store: h.traces.Store(memory.New()), Tokens: tokens, Log: slog.New(slog.DiscardHandler), Now: time.Now, Trace: h.traces.Request},
		route("GET /begin/{id}", func(_ http.ResponseWriter, r *http.Request, s skein.Store) {
			_, err := skein.Add(r.Context(), s.As("ann"), skein.SessionID(r.PathValue("id")), skein.NewEvent(skein.KindCreated, 1, skein.Created{}), skein.Say(2, skein.UserSays(secret)))
			if err != nil {
				t.Error(err)
			}
			for range s.Events(r.Context(), "a", 0) {
				break
			}
		}),
		route("GET /lost", func(w http.ResponseWriter, r *http.Request, s skein.Store) {
			_, err := s.Session(r.Context(), "nowhere")
			door.Fail(w, r, err)
		}),
		route("GET /ouch", func(http.ResponseWriter, *http.Request, skein.Store) { panic(secret) }),
	)
	return h
}

func (h *traced) ask(path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "localhost"
	r.Header.Set("Authorization", "Bearer "+h.tokens.First())
	for _, head := range headers {
		name, value, _ := strings.Cut(head, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.door.ServeHTTP(w, r)
	return w
}

// sent returns all spans, once the last one was sent.
func (h *traced) sent() map[string]span {
	h.Helper()
	if err := h.traces.Close(context.WithoutCancel(h.Context())); err != nil {
		h.Fatal(err)
	}
	return h.spans()
}

func TestARequestAndItsStoreCallsAreSpansOfOneTrace(t *testing.T) {
	h := newTraced(t)
	const parent = "0af7651916cd43dd8448eb211c80319c"
	w := h.ask("/begin/a?q="+secret, "traceparent: 00-"+parent+"-b7ad6b7169203331-01")
	h.ask("/lost")
	h.ask("/ouch")
	h.ask("/" + secret)
	all := h.sent()
	request, call, look := all["GET /begin/{id}"], all["store.append"], all["store.events"]
	if request.Trace != parent || request.Parent != "b7ad6b7169203331" || request.Kind != 2 || request.Flags != 0x301 {
		t.Errorf("the span of a request with a traceparent is %+v, want it in that trace, of kind 2, with the flags 0x301", request)
	}
	if call.Trace != parent || call.Parent != request.ID || call.Kind != 1 || look.Parent != request.ID {
		t.Errorf("the spans of calls of the store are %+v and %+v, want them below %s", call, look, request.ID)
	}
	if request.Nanos < call.Nanos || call.Nanos < 0 {
		t.Errorf("a request took %d ns and a call in it %d ns", request.Nanos, call.Nanos)
	}
	for _, c := range []struct {
		name   string
		failed bool
		is     map[string]string
	}{
		{"GET /begin/{id}", false, map[string]string{
			"http.request.method": "GET", "http.route": "/begin/{id}", "http.response.status_code": "200", "skein.request.id": w.Header().Get("X-Request-Id"),
		}},
		{"store.append", false, map[string]string{"skein.session": "a", "skein.items": "2"}},
		{"store.events", false, map[string]string{"skein.session": "a", "skein.items": "1"}},
		{"store.session", true, map[string]string{"skein.session": "nowhere", "error.type": "not_found"}},
	} {
		if diff := cmp.Diff(c.is, all[c.name].Is); diff != "" || all[c.name].Failed != c.failed {
			t.Errorf("the span %s has failed=%v and (-want +got)\n%s", c.name, all[c.name].Failed, diff)
		}
	}
	if lost := all["GET /lost"]; lost.Failed || lost.Is["http.response.status_code"] != "404" || lost.Parent != "" {
		t.Errorf("the span of a 404 is %+v, want it not failed, and the root of a trace", lost)
	}
	if ouch := all["GET /ouch"]; !ouch.Failed || ouch.Is["error.type"] != "500" {
		t.Errorf("the span of a panic is %+v, want it failed with 500", ouch)
	}
	if none := all["GET"]; none.Is["http.response.status_code"] != "404" || none.Is["http.route"] != "" {
		t.Errorf("the span where no route is is %+v", none)
	}
	if h.service["service.name"] != "skein" || h.service["service.version"] != "1.2" {
		t.Errorf("the resource is %v, want skein 1.2", h.service)
	}
	for _, s := range all {
		for k, v := range s.Is {
			if strings.Contains(v+s.Name, secret) {
				t.Errorf("the span %s tells what was said or asked for: %s=%s", s.Name, k, v)
			}
		}
	}
}

func TestWhatTheCollectorDoesNotTakeIsLostAndSaidOnce(t *testing.T) {
	h := newTraced(t)
	h.answer(http.StatusServiceUnavailable)
	if status := h.ask("/lost").Code; status != http.StatusNotFound {
		t.Errorf("GET /lost = %d while the collector is down, want 404", status)
	}
	if n := len(h.sent()); n != 0 {
		t.Errorf("%d spans came, want 0", n)
	}
	if got := h.log.String(); strings.Count(got, "traces are lost") != 1 || !strings.Contains(got, "503") {
		t.Errorf("the log says %q, want it to say once that traces are lost", got)
	}
}

func TestATracedStoreHasThePartsOfTheStoreThatItWraps(t *testing.T) {
	h := newTraced(t)
	defer h.sent()
	file, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	can := func(s skein.Store) (all [4]bool) {
		_, all[0] = skein.PartOf[skein.Sweeper](s)
		_, all[1] = skein.PartOf[skein.Feed](s)
		_, all[2] = skein.PartOf[inspect.Examiner](s)
		_, all[3] = skein.PartOf[inspect.IndexLag](s)
		return all
	}
	for _, s := range []skein.Store{file, memory.New(), file.As("ann"), struct{ skein.Store }{file}} {
		if got, want := can(h.traces.Store(s)), can(s); got != want {
			t.Errorf("a traced %T can %v, want %v", s, got, want)
		}
	}
}

func TestTheEnvironmentSaysWhatIsRecorded(t *testing.T) {
	const sampled, not = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	for _, c := range []struct {
		sampler, arg, of string
		want             bool
	}{
		{"", "", "", true},
		{"", "", not, false},
		{"always_on", "", not, true},
		{"always_off", "", sampled, false},
		{"parentbased_always_off", "", "", false},
		{"parentbased_always_off", "", sampled, true},
		{"traceidratio", "0", sampled, false},
		{"parentbased_traceidratio", "1", "", true},
		{"", "", "traceparent: 00-00000000000000000000000000000000-b7ad6b7169203331-00", true}, // it is not valid
		{"", "", strings.ToUpper(not), true},
		{"", "", not + "-x", true},
	} {
		h := newTracedWith(t, map[string]string{"OTEL_TRACES_SAMPLER": c.sampler, "OTEL_TRACES_SAMPLER_ARG": c.arg})
		h.ask("/lost", c.of)
		if n := len(h.sent()); (n == 2) != c.want || n != 2 && n != 0 {
			t.Errorf("with the sampler %q %s and %q there are %d spans, want them: %t", c.sampler, c.arg, c.of, n, c.want)
		}
	}
	h := newTracedWith(t, map[string]string{"OTEL_SERVICE_NAME": "ours", "OTEL_RESOURCE_ATTRIBUTES": "service.name=x,host.name=a%20b", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "1"})
	h.ask("/lost")
	if all := h.sent(); len(all) != 2 || h.service["service.name"] != "ours" || h.service["host.name"] != "a b" {
		t.Errorf("the resource is %v with the spans %v, want it to be ours at \"a b\"", h.service, all)
	}
	for _, set := range []map[string]string{
		{"OTEL_TRACES_SAMPLER": "some"},
		{"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "2"},
		{"OTEL_BSP_MAX_QUEUE_SIZE": "-1"},
		{"OTEL_RESOURCE_ATTRIBUTES": "x"},
	} {
		if _, err := traces.New(t.Context(), traces.Options{Getenv: func(name string) string { return set[name] }}); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("New with %v: error %v, want skein.ErrInvalid", set, err)
		}
	}
}

func TestWhereSpansGo(t *testing.T) {
	for _, c := range []struct {
		base string
		env  map[string]string
		want string
		bad  bool
	}{
		{"", nil, "", false},
		{"http://127.0.0.1:4318", nil, "http://127.0.0.1:4318/v1/traces", false},
		{"https://in.example/otlp/", nil, "https://in.example/otlp/v1/traces", false},
		{"http://127.0.0.1:4318/v1/traces", nil, "http://127.0.0.1:4318/v1/traces", false},
		{"127.0.0.1:4318", nil, "", true},
		{"ftp://x", nil, "", true},
		{"", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, "http://c:4318/v1/traces", false},
		{"", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/x"}, "http://c:4318/x", false},
		{"", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_TRACES_EXPORTER": "none"}, "", false},
		{"", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_SDK_DISABLED": "true"}, "", false},
		{"", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "", true},
		{"http://c:4318", map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "http://c:4318/v1/traces", false},
		{"http://c:4318", map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "nonsense"}, "", true},
	} {
		e, err := traces.Find(c.base, func(name string) string { return c.env[name] })
		if e.URL != c.want || (err != nil) != c.bad || err != nil && !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("Find(%q) with %v = %q, %v, want %q", c.base, c.env, e.URL, err, c.want)
		}
	}
	e, err := traces.Find("http://c", func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "X-Key=a%20b, other=c"}[name]
	})
	if err != nil || e.Headers.Get("X-Key") != "a b" || e.Headers.Get("Other") != "c" {
		t.Errorf("Find with headers = %v, %v", e.Headers, err)
	}
}

func TestACallOutsideOfARequestIsNoSpan(t *testing.T) {
	h := newTraced(t)
	s := h.traces.Store(memory.New())
	if _, err := skein.Add(t.Context(), s, "a", skein.NewEvent(skein.KindCreated, 1, skein.Created{})); err != nil {
		t.Fatal(err)
	}
	if all := h.sent(); len(all) != 0 {
		t.Errorf("a call in no request made the spans %v", all)
	}
}
