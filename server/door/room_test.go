package door_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skein-dev/skein/server/door"
)

// Large bodies wait for each other, and for one that does not end not for ever.
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
			t.Errorf("a body for which there is no room = %d %s %v after %s, want 503 busy after some seconds, and when to come back", w.Code, w.Body, w.Header(), took)
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
