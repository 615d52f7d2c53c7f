package door_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/memory"
)

// Large bodies wait for each other, but not forever for one that does not end.
func TestLargeBodiesShareTheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		reading, end := make(chan struct{}), make(chan struct{})
		h.door = h.with(door.Route{Pattern: "POST /v1/write", Scope: door.Write, Body: door.MaxBody, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				door.Fail(w, r, err)
				return
			}
			if r.Header.Get("Wait") != "" {
				close(reading)
				<-end
			}
		})})
		h.door.Narrow(4 << 20)
		post := func(size int, headers ...string) *httptest.ResponseRecorder {
			return h.ask("POST /v1/write", strings.Repeat(" ", size), headers...)
		}
		first := make(chan int, 1)
		go func() { first <- post(3<<20, "Wait: yes").Code }()
		<-reading
		if w := post(256 << 10); w.Code != 200 {
			t.Errorf("a small body beside a large one = %d, want 200", w.Code)
		}
		began := time.Now()
		w := post(2 << 20)
		if took := time.Since(began); w.Code != 503 || !strings.Contains(w.Body.String(), `"code":"busy"`) || w.Header().Get("Retry-After") == "" || took < time.Second || took > time.Minute {
			t.Errorf("a body for which there is no room = %d %s %v after %s, want 503 busy after a while, and when to come back", w.Code, w.Body, w.Header(), took)
		}
		second := make(chan int, 1)
		go func() { second <- post(2 << 20).Code }()
		synctest.Wait()
		close(end)
		if a, b := <-first, <-second; a != 200 || b != 200 {
			t.Errorf("two bodies, one behind the other = %d and %d, want 200", a, b)
		}
		if n := h.door.Held(); n != 0 {
			t.Errorf("%d bytes are held when all is over, want 0", n)
		}
	})
}

// Bodies that come piece by piece side by side, together more than there is room
// for, are all read: none waits for what another one holds while that one waits too.
func TestBodiesThatGrowTogetherAreAllRead(t *testing.T) {
	const bodies, size = 16, 3 << 20
	for what, length := range map[string]int64{"of known length": size, "of unknown length": -1} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			h.door = h.with(door.Route{Pattern: "POST /v1/write", Scope: door.Write, Body: door.MaxBody, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					door.Fail(w, r, err)
				}
			})})
			h.door.Narrow(4 << 20)
			began := time.Now()
			var begun sync.WaitGroup
			begun.Add(bodies)
			codes := make(chan int, bodies)
			for range bodies {
				go func() {
					r := h.request("POST /v1/write", &growing{left: size, begun: &begun})
					r.ContentLength = length
					w := httptest.NewRecorder()
					h.door.ServeHTTP(w, r)
					codes <- w.Code
				}()
			}
			for range bodies {
				if code := <-codes; code != 200 {
					t.Errorf("%d bodies %s at once: one is answered %d, want 200", bodies, what, code)
				}
			}
			if took := time.Since(began); took != 0 {
				t.Errorf("bodies %s waited %s for each other, want only as long as others are read", what, took)
			}
			if n := h.door.Held(); n != 0 {
				t.Errorf("%d bytes are held when all is over, want 0", n)
			}
		})
	}
}

// growing is a body that lets others run between its pieces. The first comes when
// all others have begun, too.
type growing struct {
	left  int
	begun *sync.WaitGroup
}

// Read implements [io.Reader].
func (g *growing) Read(p []byte) (int, error) {
	if g.begun != nil {
		g.begun.Done()
		g.begun.Wait()
		g.begun = nil
	}
	if g.left == 0 {
		return 0, io.EOF
	}
	runtime.Gosched()
	n := min(len(p), g.left)
	g.left -= n
	return n, nil
}

// What follows the piece of a body that found no room may find some, and the
// body may still be valid without that piece.
func TestOfABodyThatLostAPieceNothingIsStored(t *testing.T) {
	begins := string(skein.MustJSON(skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: strings.Repeat("a", 600<<10)})))
	says := string(skein.MustJSON(skein.Say(1, skein.UserSays(strings.Repeat("b", 600<<10)))))
	batch := func(id, event string) string { return `{"session":"` + id + `","events":[` + event + `]}` }
	for _, c := range []struct{ path, kind, before, lost, behind string }{
		{"/v1/sessions/a/events", "application/json", `{"events":[` + begins, "," + says, `]}`},
		{"/v1/sessions/a/events", "application/json", `{"events":[` + begins + "]", strings.Repeat(" ", 600<<10) + `,"after":0`, `}`},
		{"/v1/sessions/a/events", "application/x-ndjson", begins + "\n", says + "\n", ""},
		{"/v1/append", "application/json", `{"batches":[` + batch("a", begins), "," + batch("b", begins), `]}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			h, store := newHouse(t), memory.New()
			held, end := make(chan struct{}), make(chan struct{})
			h.door = door.New(door.Options{Store: store, Tokens: h.tokens, Log: slog.New(slog.DiscardHandler), Now: time.Now}, append(
				server.Routes(server.Options{Store: store, Now: time.Now}),
				door.Route{Pattern: "POST /v1/hold", Scope: door.Write, Body: door.MaxBody, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body) //nolint:errcheck // it is from memory
					close(held)
					<-end
				})})...)
			h.door.Narrow(4 << 20)
			over := make(chan struct{})
			go func() {
				defer close(over)
				h.ask("POST /v1/hold", strings.Repeat(" ", 3<<20+512<<10))
			}()
			<-held
			w := h.from("POST "+c.path, io.MultiReader(strings.NewReader(c.before), strings.NewReader(c.lost), strings.NewReader(c.behind)), "Content-Type: "+c.kind)
			if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), `"code":"busy"`) {
				t.Errorf("POST %s that lost %.20q = %d %s, want 503 busy", c.path, c.lost, w.Code, w.Body)
			}
			for x, err := range store.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
				t.Errorf("POST %s that lost %.20q: session %s is stored up to %d, %v; want none", c.path, c.lost, x.ID, x.Last, err)
			}
			close(end)
			<-over
			if w := h.from("POST "+c.path, strings.NewReader(c.before+c.lost+c.behind), "Content-Type: "+c.kind); w.Code >= 300 {
				t.Errorf("POST %s of all of it, where there is room = %d %s, want it stored", c.path, w.Code, w.Body)
			}
		})
	}
}
