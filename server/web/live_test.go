package web_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
)

// A hearing reads server-sent events.
type hearing struct {
	t     *testing.T
	lines *bufio.Reader
	last  string // data of the newest "changed"
}

// hear opens the stream at path, until the test ends.
func (v *visit) hear(path string, header ...string) *hearing {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.t.Context(), late)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.url+path, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() {
		cancel()
		_ = a.Body.Close() //nolint:errcheck // it was read
	})
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "text/event-stream" {
		v.t.Fatalf("GET %s: %d of type %q, want a stream", path, a.StatusCode, a.Header.Get("Content-Type"))
	}
	return &hearing{t: v.t, lines: bufio.NewReader(a.Body)}
}

// next returns the next event and its data.
func (h *hearing) next() (event, data string) {
	h.t.Helper()
	for {
		line, err := h.lines.ReadString('\n')
		if err != nil {
			h.t.Fatalf("the stream ended: %v", err)
		}
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "event: "):
			event = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			data = line[len("data: "):]
		case line == "" && event != "":
			if event == "changed" {
				h.last = data
			}
			return event, data
		}
	}
}

// until reads up to an event of that name, and returns its data.
func (h *hearing) until(event string) string {
	h.t.Helper()
	for {
		if e, data := h.next(); e == event {
			return data
		}
	}
}

// grown reads until the session is reported to have grown to that seq, unless
// that was reported before: several changes may be reported at once.
func (h *hearing) grown(to skein.Seq) {
	h.t.Helper()
	for h.last != fmt.Sprint(to) {
		h.next()
	}
}

func TestLiveTellsThatASessionHasGrownAndThatItIsGone(t *testing.T) {
	store := composed(t)
	v := visiting(t, store, nil)
	h := v.hear("/sessions/s-fork/live")
	last, err := skein.Add(t.Context(), store, "s-fork", skein.Say(skein.At(composedNow), skein.UserSays("And now?")))
	if err != nil {
		t.Fatal(err)
	}
	if got := h.until("changed"); got != fmt.Sprint(last) {
		t.Errorf("changed says %s, want %s", got, fmt.Sprint(last))
	}
	wants(t, "the newest messages", v.get("/sessions/s-fork/messages?before=0"), "And now?")
	again := v.hear("/sessions/s-fork/live", "Last-Event-ID", fmt.Sprint(last-1))
	if got := again.until("changed"); got != fmt.Sprint(last) {
		t.Errorf("taken up again, changed says %s, want %s", got, fmt.Sprint(last))
	}
	if _, err := skein.LifecycleOf(store).Delete(t.Context(), "s-fork", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	h.until("gone")
}

func TestLiveOfAnotherUserIsNotThere(t *testing.T) {
	v := visiting(t, composed(t), nil)
	token, err := v.tokens.Add(tokenOf("eve", "read"))
	if err != nil {
		t.Fatal(err)
	}
	v.as(token)
	if status, body := v.ask("GET", "/sessions/s-retry/live", nil); status != 404 {
		t.Errorf("GET live as eve: %d %s, want 404", status, body)
	}
}

// A page that was open when its login ended must not go on showing what it has.
func TestAPageWhoseLoginEndsIsToldToLeave(t *testing.T) {
	v := visiting(t, composed(t), nil)
	of, all := v.hear("/sessions/s-fork/live"), v.hear("/sessions/stream")
	if err := v.tokens.Remove(door.First); err != nil {
		t.Fatal(err)
	}
	of.until("out")
	all.until("out")
}
