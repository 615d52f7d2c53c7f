package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
)

type receipt struct {
	Seqs []skein.Seq
	Last skein.Seq
	New  int
}

func TestEventsAreAppendedInBatches(t *testing.T) {
	s := newSite(t)
	blob := skein.NewBlob([]byte("a picture"))
	const created = `{"kind":"created","time":"2026-11-21T04:36:00.123Z","client_id":"c0","payload":{"title":"t"}}`
	odd := `{ "a" : 1.0, "b":"<\u003c", "big":12345678901234567890 }`
	body := `{"events":[` + created + `,{"kind":"to-come","client_id":"c1","payload":` + odd + `}],"after":-1}`
	var r receipt
	if s.wants(201, "POST /v1/sessions/a/events", body, &r); fmt.Sprint(r) != "{[1 2] 2 2}" {
		t.Errorf("POST events = %+v, want seqs 1 and 2", r)
	}
	if s.wants(201, "POST /v1/sessions/a/events", body, &r); fmt.Sprint(r) != "{[1 2] 2 0}" {
		t.Errorf("POST of the same events = %+v, want seqs 1 and 2 and nothing new", r)
	}
	lines := fmt.Sprintf("{\"hash\":%q,\"data\":%q}\n", blob.Hash, "YSBwaWN0dXJl") +
		fmt.Sprintf("{\"kind\":\"said\",\"payload\":{\"role\":\"user\",\"parts\":[{\"kind\":\"file\",\"file\":{\"blob\":%q}}]}}\n", blob.Hash) +
		`{"kind":"said","payload64":"eyJyb2xlIjoidXNlciIsInBhcnRzIjpbXX0="}`
	if s.wants(201, "POST /v1/sessions/a/events?after=2", lines, &r, "Content-Type: application/x-ndjson"); fmt.Sprint(r) != "{[3 4] 4 2}" {
		t.Errorf("POST lines = %+v, want seqs 3 and 4", r)
	}
	s.refuses(409, "conflict", "POST /v1/sessions/a/events?after=2", lines, "Content-Type: application/x-ndjson")
	s.refuses(422, "mismatch", "POST /v1/sessions/a/events", `{"events":[{"kind":"noted","client_id":"c1","payload":{"name":"x"}}]}`)
	s.refuses(404, "not_found", "POST /v1/sessions/none/events", `{"events":[{"kind":"noted","payload":{"name":"x"}}]}`)
	for _, bad := range []string{`{}`, `{"events":[]}`, `[]`, `{"events":[{"kind":"noted"}]}`, `{"events":[1]}`, `{"events":[{"kind":"noted","payload":{}}]`, `{"events":[],"x":1}`, `{"events":[]} {}`, `{"events":{}}`, `{"after":"x","events":[]}`} {
		s.refuses(400, "invalid", "POST /v1/sessions/a/events", bad)
	}
	page := string(s.raw(200, "GET /v1/sessions/a/events", ""))
	if !strings.Contains(page, `"payload":`+odd+`}`) || !strings.Contains(page, `"time":"2026-11-21T04:36:00.123Z"`) {
		t.Errorf("GET events = %s, want the payload's bytes and the time as they were sent", page)
	}
}

func TestEventsAreReadByCursorEitherWay(t *testing.T) {
	s := newSite(t)
	s.begin("a", skein.Created{}, "one", "1", "two", "2")
	walk := func(query string) (got string) {
		for next := ""; ; {
			var p page[struct{ Seq int }]
			if s.wants(200, "GET /v1/sessions/a/events?"+query+next, "", &p); p.Items == nil {
				t.Fatalf("GET events?%s: no items", query)
			}
			for _, e := range p.Items {
				got += fmt.Sprint(e.Seq)
			}
			if got += "|"; p.Next == "" {
				return got
			}
			next = "&cursor=" + p.Next
		}
	}
	for query, want := range map[string]string{
		"limit=2": "12|34|5|", "limit=2&after=2": "34|5|", "before=6&limit=2": "45|23|1|", "before=3": "12|", "after=5": "|", "before=1": "|",
		"view=messages&limit=3": "234|5|", "view=messages&limit=3&before=5": "234||", "view=messages&after=3": "45|",
	} {
		if got := walk(query); got != want {
			t.Errorf("GET events?%s in pages = %s, want %s", query, got, want)
		}
	}
	s.refuses(404, "not_found", "GET /v1/sessions/none/events", "")
	s.refuses(404, "not_found", "GET /v1/sessions/none/events?follow=1", "")
}

func TestTheContextKeepsAProvidersRules(t *testing.T) {
	s := newSite(t)
	s.begin("a", skein.Created{}, "one", "1", "two")
	var c struct {
		Messages []skein.Message
		Seqs     []skein.Seq
	}
	for _, provider := range []string{"", "generic", "anthropic", "openai", "google"} {
		s.wants(200, "GET /v1/sessions/a/events?view=context&provider="+provider, "", &c)
		if len(c.Messages) != 3 || fmt.Sprint(c.Seqs) != "[2 3 4]" {
			t.Errorf("the context for %q = %+v, want the three messages", provider, c)
		}
	}
}

// A body that begins or ends as the first one did, or only adds to it, is
// another body.
func TestAnIdempotencyKeyStandsForAWholeBody(t *testing.T) {
	x, y := `{"kind":"noted","payload":{"name":"x"}}`, `{"kind":"noted","payload":{"name":"y"}}`
	named := `{"kind":"noted","payload":{"name":"x"},"client_id":"own"}`
	bodies := []string{x, x + "," + x, x + "," + x + "," + x, x + "," + y, y, y + "," + x, named + "," + x, x + "," + named + "," + x}
	s := newSite(t)
	for i, first := range bodies {
		id := fmt.Sprint("s", i)
		s.begin(skein.SessionID(id), skein.Created{}, "hello")
		base := "POST /v1/sessions/" + id + "/events"
		var was, again receipt
		s.wants(201, base, `{"events":[`+first+`]}`, &was, "Idempotency-Key: k")
		for _, other := range bodies {
			body := `{"events":[` + other + `]}`
			if other == first {
				if s.wants(201, base, body, &again, "Idempotency-Key: k"); again.New != 0 || !slices.Equal(again.Seqs, was.Seqs) {
					t.Errorf("[%s] again = %+v, want %v and none new", first, again, was.Seqs)
				}
				continue
			}
			if strings.Contains(first, "own") != strings.Contains(other, "own") {
				continue // an event with its own client ID is compared by that
			}
			s.refuses(422, "mismatch", base, body, "Idempotency-Key: k")
		}
		var last receipt
		if s.wants(201, base, `{"events":[`+x+`]}`, &last, "Idempotency-Key: new"); last.Last != was.Last+1 {
			t.Errorf("after [%s] and what was refused the session ends at %d, want %d", first, last.Last-1, was.Last)
		}
	}
}

// Two bodies come at the same moment, to two servers on one store: the key
// stands for one of them.
func TestAnIdempotencyKeyStandsForOneOfTwoBodiesAtOnce(t *testing.T) {
	x, y := `{"kind":"noted","payload":{"name":"x"}}`, `{"kind":"noted","payload":{"name":"y"}}`
	for _, bodies := range [][]string{{x, x + "," + x}, {y, x + "," + y}, {x + "," + x, x + "," + y}, {x + "," + y, x + "," + x + "," + y}} {
		for _, begun := range []bool{true, false} {
			m := &meeting{Store: memory.New(), both: make(chan struct{})}
			one, length := newSiteOn(t, m), 0
			sites, statuses := []*site{one, newSiteOn(t, m)}, make([]int, 2)
			if begun {
				one.begin("s", skein.Created{}, "hello")
				length = 2
			} else {
				bodies = []string{`{"kind":"created","payload":{"title":"t"}},` + bodies[0], `{"kind":"created","payload":{"title":"t"}},` + bodies[1]}
			}
			m.waits.Store(true)
			var all sync.WaitGroup
			for n, s := range sites {
				all.Go(func() {
					statuses[n] = s.send("POST /v1/sessions/s/events", `{"events":[`+bodies[n]+`]}`, "Idempotency-Key: k").StatusCode //nolint:bodyclose // the site closes it
				})
			}
			all.Wait()
			stored := slices.Index(statuses, 201)
			if stored < 0 || statuses[1-stored] != 422 {
				t.Errorf("[%s] at the same moment (begun %v) are answered %v, want 201 and 422", strings.Join(bodies, "] and ["), begun, statuses)
				continue
			}
			was, err := m.Session(t.Context(), "s")
			if want := skein.Seq(length + strings.Count(bodies[stored], "kind")); err != nil || was.Last != want {
				t.Errorf("the session ends at %d (%v) after [%s], want %d", was.Last, err, bodies[stored], want)
			}
		}
	}
}

// meeting is a store in which the first two writers that append after a
// session's last seq meet.
type meeting struct {
	skein.Store
	waits atomic.Bool
	came  atomic.Int32
	both  chan struct{}
}

func (m *meeting) Unwrap() skein.Store { return m.Store }

func (m *meeting) Append(ctx context.Context, all ...skein.Batch) ([]skein.Receipt, error) {
	if m.waits.Load() && all[0].After < 1<<40 {
		if m.came.Add(1) == 2 {
			close(m.both)
		}
		<-m.both
	}
	return m.Store.Append(ctx, all...)
}

func TestTheSameIdempotencyKeyIsDoneOnce(t *testing.T) {
	s := newSite(t)
	key := "Idempotency-Key: 1"
	var one, two struct{ ID string }
	s.wants(201, "POST /v1/sessions", `{"title":"t"}`, &one, key)
	s.wants(201, "POST /v1/sessions", `{"title":"t"}`, &two, key)
	if one != two || one.ID == "" {
		t.Errorf("POST /v1/sessions twice with one key = %v and %v, want one session", one, two)
	}
	s.refuses(422, "mismatch", "POST /v1/sessions", `{"title":"u"}`, key)
	s.wants(201, "POST /v1/sessions", `{"title":"t"}`, &two, "Idempotency-Key: 2")
	if one == two {
		t.Error("two keys make one session")
	}
	other := s.as("ann", "write")
	if other.wants(201, "POST /v1/sessions", `{"title":"other"}`, &two, key); one == two {
		t.Error("another user's key makes the same session")
	}
	base := "POST /v1/sessions/" + one.ID
	var said struct{ Seq int }
	for range 2 {
		if s.wants(201, base+"/messages", `{"role":"user","text":"hi"}`, &said, key); said.Seq != 2 {
			t.Errorf("POST messages again = %+v, want seq 2", said)
		}
	}
	s.refuses(422, "mismatch", base+"/messages", `{"role":"user","text":"ho"}`, key)
	var r receipt
	for i := range 2 {
		if s.wants(201, base+"/events", `{"events":[{"kind":"noted","payload":{"name":"x"}},{"kind":"noted","payload":{"name":"y"}}]}`, &r, "Idempotency-Key: e"); r.Last != 4 || r.New != 2-2*i {
			t.Errorf("POST events, time %d = %+v, want them once", i+1, r)
		}
	}
	s.refuses(422, "mismatch", base+"/events", `{"events":[{"kind":"noted","payload":{"name":"z"}}]}`, "Idempotency-Key: e")
	for _, other := range []string{ // they begin like the first, end like it, or are part of it
		`{"kind":"noted","payload":{"name":"x"}},{"kind":"noted","payload":{"name":"y"}},{"kind":"noted","payload":{"name":"z"}}`,
		`{"kind":"noted","payload":{"name":"x"}}`,
		`{"kind":"noted","payload":{"name":"z"}},{"kind":"noted","payload":{"name":"y"}}`,
	} {
		s.refuses(422, "mismatch", base+"/events", `{"events":[`+other+`]}`, "Idempotency-Key: e")
	}
	var f struct {
		ID  string
		Seq int
	}
	s.wants(201, base+"/fork", `{"turn":-1}`, &f, "Idempotency-Key: f")
	first := f
	s.wants(201, base+"/messages", `{"role":"user","text":"more"}`, nil) // the last turn is another one now
	if s.wants(201, base+"/fork", `{"turn":-1}`, &f, "Idempotency-Key: f"); f != first || f.Seq != 4 {
		t.Errorf("POST fork again = %+v, want %+v", f, first)
	}
	s.refuses(422, "mismatch", base+"/fork", `{"seq":1}`, "Idempotency-Key: f")
	var w struct{ Seq, To int }
	s.wants(201, base+"/rewind", `{"turn":1}`, &w, "Idempotency-Key: r")
	back := w
	if s.wants(201, base+"/rewind", `{"turn":1}`, &w, "Idempotency-Key: r"); w != back {
		t.Errorf("POST rewind again = %+v, want %+v", w, back)
	}
	s.refuses(422, "mismatch", base+"/rewind", `{"seq":1}`, "Idempotency-Key: r")
	for to, id := range []string{"none", "begun"} { // of which nothing typed remains
		s.begin(skein.SessionID(id), skein.Created{}, "plant an oak")
		for range 2 {
			s.wants(201, "POST /v1/sessions/"+id+"/rewind", fmt.Sprintf(`{"seq":%d}`, to), &w, "Idempotency-Key: r")
		}
		if got, err := s.store.Session(t.Context(), skein.SessionID(id)); err != nil || got.Name() != "plant an oak" || got.Turns != 0 || w.To != to || w.Seq != int(got.Last) {
			t.Errorf("after POST rewind to %d, which is %+v, the session is %q with %d turns and %d events, %v; want its name to stay", to, w, got.Name(), got.Turns, got.Last, err)
		}
	}
	s.begin("open", skein.Created{}, "go on")
	s.wants(201, "POST /v1/sessions/open/rewind", `{"turn":1}`, &w, "Idempotency-Key: r")
	back = w
	s.wants(201, "POST /v1/sessions/open/messages", `{"role":"assistant","text":"the turn goes on"}`, nil)
	if s.wants(201, "POST /v1/sessions/open/rewind", `{"turn":1}`, &w, "Idempotency-Key: r"); w != back || w.To != 2 {
		t.Errorf("POST rewind again, of a turn that went on = %+v, want %+v", w, back)
	}
	again := newSiteOn(t, s.store) // another server on the store
	if again.wants(201, "POST /v1/sessions", `{"title":"t"}`, &two, key); one != two {
		t.Error("another server on the same store does it again")
	}
}

// listen reads a stream, and returns its events as "ID data".
func (s *site) listen(ctx context.Context, path string, headers ...string) func() string {
	s.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { w.Body.Close() })
	if w.StatusCode != http.StatusOK || w.Header.Get("Content-Type") != "text/event-stream" {
		b, _ := io.ReadAll(w.Body)
		s.Fatalf("GET %s = %d %s %s, want a stream", path, w.StatusCode, w.Header.Get("Content-Type"), b)
	}
	in := bufio.NewReader(w.Body)
	return func() string {
		id, data, kind := "", "", ""
		for {
			l, err := in.ReadString('\n')
			if err != nil {
				return "end"
			}
			switch name, value, _ := strings.Cut(strings.TrimSuffix(l, "\n"), ": "); {
			case name == "id":
				id = value
			case name == "data":
				data = value
			case name == "event":
				kind = value + " "
			case name == "" && data != "":
				return kind + id + " " + data
			}
		}
	}
}

func TestFollowGoesOnWithoutAGapOrARepeat(t *testing.T) {
	t.Run("together", func(t *testing.T) { follows(newSite(t)) })
	t.Run("alone", func(t *testing.T) { follows(newSiteWith(t, memory.New(), nil)) })
}

func follows(s *site) {
	t := s.T
	s.begin("a", skein.Created{}, "one")
	ctx, cancel := context.WithCancel(t.Context())
	next := s.listen(ctx, "/v1/sessions/a/events?follow=1")
	for _, want := range []string{`1 {"seq":1,`, `2 {"seq":2,`} {
		if got := next(); !strings.HasPrefix(got, want) {
			t.Errorf("the stream has %q, want %q", got, want)
		}
	}
	s.wants(201, "POST /v1/sessions/a/messages", `{"role":"user","text":"two"}`, nil)
	if got := next(); !strings.HasPrefix(got, `3 {"seq":3,`) {
		t.Errorf("the stream goes on with %q, want 3", got)
	}
	cancel()
	s.wants(201, "POST /v1/sessions/a/messages", `{"role":"user","text":"three"}`, nil)
	next = s.listen(t.Context(), "/v1/sessions/a/events?follow=1&after=1", "Last-Event-ID: 3")
	if got := next(); !strings.HasPrefix(got, `4 {"seq":4,`) {
		t.Errorf("after a break the stream goes on with %q, want 4", got)
	}
	if _, err := skein.LifecycleOf(s.store).Delete(t.Context(), "a", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	if got := next(); !strings.HasPrefix(got, "problem ") || !strings.Contains(got, `"code":"not_found"`) {
		t.Errorf("the stream of a destroyed session ends with %q, want the problem", got)
	}
	if got := next(); got != "end" {
		t.Errorf("after the problem comes %q, want the end", got)
	}
}

func TestTheStreamHasEverythingOnce(t *testing.T) {
	t.Run("together", func(t *testing.T) { streams(newSite(t)) })
	t.Run("alone", func(t *testing.T) { streams(newSiteWith(t, memory.New(), nil)) })
}

func streams(s *site) {
	t := s.T
	s.begin("a", skein.Created{User: "ann"}, "one")
	all := s.listen(t.Context(), "/v1/stream")
	now := s.listen(t.Context(), "/v1/stream?from=now")
	ann := s.as("ann", "read").listen(t.Context(), "/v1/stream")
	bob := s.as("bob", "read").listen(t.Context(), "/v1/stream")
	if got := now(); !strings.HasPrefix(got, "ready ") {
		t.Errorf("the stream from now begins with %q, want ready", got)
	}
	s.begin("b", skein.Created{User: "bob"}, "two")
	var last string
	for _, want := range []string{`"session":"a","user":"ann","event":{"seq":1,`, `"a","user":"ann","event":{"seq":2,`, `"b","user":"bob","event":{"seq":1,`, `"b","user":"bob","event":{"seq":2,`} {
		got := all()
		if last = got; !strings.Contains(got, want) {
			t.Errorf("the stream has %q, want %q", got, want)
		}
	}
	for name, next := range map[string]func() string{"from now": now, "bob's": bob} {
		if got := next(); !strings.Contains(got, `"session":"b","user":"bob","event":{"seq":1,`) {
			t.Errorf("the stream %s has %q, want the first of b", name, got)
		}
	}
	if got := ann(); !strings.Contains(got, `"session":"a"`) {
		t.Errorf("ann's stream has %q, want a", got)
	}
	cursor, _, _ := strings.Cut(last, " ")
	again := s.listen(t.Context(), "/v1/stream", "Last-Event-ID: "+cursor)
	s.begin("c", skein.Created{User: "ann"}, "three")
	for name, next := range map[string]func() string{"again": again, "ann's": func() string { ann(); return ann() }} {
		if got := next(); !strings.Contains(got, `"session":"c"`) {
			t.Errorf("the stream %s goes on with %q, want c", name, got)
		}
	}
}
