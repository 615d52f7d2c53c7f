package slack_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/gateway"
	"github.com/skein-dev/skein/server/gateway/slack"
)

// A server implements as much of Slack's API and socket mode as the surface
// uses.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	frames []string // sent on every connection, until they are acknowledged
	acked  []string
	opened []string // the tokens that connections were requested with
	sent   chan map[string]string
	limits int // posts that are refused first
	denied bool
}

func newServer(t *testing.T, frames ...string) *server {
	s := &server{frames: frames, sent: make(chan map[string]string, 100)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/auth.test":
		if s.denied {
			fmt.Fprint(w, `{"ok":false,"error":"invalid_auth"}`)
			return
		}
		fmt.Fprint(w, `{"ok":true,"user_id":"UBOT","team_id":"T1"}`)
	case "/apps.connections.open":
		s.opened = append(s.opened, r.Header.Get("Authorization"))
		fmt.Fprintf(w, `{"ok":true,"url":"ws%s/socket"}`, strings.TrimPrefix(s.URL, "http"))
	case "/socket":
		s.mu.Unlock()
		s.talk(w, r)
		s.mu.Lock()
	case "/chat.postMessage":
		if s.limits > 0 {
			s.limits--
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		r.ParseForm() //nolint:errcheck // it is our own
		s.sent <- map[string]string{"channel": r.Form.Get("channel"), "text": r.Form.Get("markdown_text"), "thread": r.Form.Get("thread_ts")}
		fmt.Fprint(w, `{"ok":true,"channel":"C1","ts":"1.1"}`)
	}
}

// talk is one connection in socket mode.
func (s *server) talk(w http.ResponseWriter, r *http.Request) {
	c, err := (&websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer c.Close()                                                                       //nolint:errcheck // it is a test
	c.WriteMessage(websocket.TextMessage, []byte(`{"type":"hello","num_connections":1}`)) //nolint:errcheck // the client has gone
	s.mu.Lock()
	frames := s.frames[len(s.acked):]
	s.mu.Unlock()
	for _, f := range frames {
		if f == renew || f == broken {
			s.mu.Lock()
			s.acked = append(s.acked, "(ended)") // before the client can come again
			s.mu.Unlock()
			c.WriteMessage(websocket.TextMessage, []byte(f)) //nolint:errcheck // the client has gone
			c.ReadMessage()                                  //nolint:errcheck // until the other side ends it
			return
		}
		c.WriteMessage(websocket.TextMessage, []byte(f)) //nolint:errcheck // the client has gone
		var ack struct {
			Envelope string `json:"envelope_id"`
		}
		if c.ReadJSON(&ack) != nil {
			return
		}
		s.mu.Lock()
		s.acked = append(s.acked, ack.Envelope)
		s.mu.Unlock()
	}
	c.ReadMessage() //nolint:errcheck // until the other side ends it
}

func (s *server) app(t *testing.T) (a *slack.App, waits *[]time.Duration) {
	waits = new([]time.Duration)
	a, err := slack.New(slack.Options{BotToken: "xoxb-1", AppToken: "xapp-1", URL: s.URL, Log: slog.New(slog.DiscardHandler), Wait: func(ctx context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	return a, waits
}

// Frames that end a connection: Slack's own, and an invalid one.
const (
	renew  = `{"type":"disconnect","reason":"refresh_requested"}`
	broken = `{"type":`
)

// A connection is replaced at once when Slack asks for that, and after a second
// when it broke; no message is lost.
func TestAConnectionThatEndsIsMadeAnew(t *testing.T) {
	im := `{"type":"message","channel_type":"im","channel":"D1","user":"U1","ts":"%d","text":"hi"}`
	s := newServer(t, envelope("e1", fmt.Sprintf(im, 1)), renew, envelope("e2", fmt.Sprintf(im, 2)), broken, envelope("e3", fmt.Sprintf(im, 3)))
	a, waits := s.app(t)
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	var took []string
	err := a.Run(ctx, func(_ context.Context, m gateway.Message) error {
		if took = append(took, m.ID); len(took) == 3 {
			stop()
		}
		return nil
	})
	if err != nil || strings.Join(took, " ") != "D1/1 D1/2 D1/3" {
		t.Errorf("Run: %v, took %v", err, took)
	}
	if len(s.opened) != 3 || s.opened[0] != "Bearer xapp-1" {
		t.Errorf("connections asked for with %v, want three with the app's token", s.opened)
	}
	if len(*waits) == 0 || (*waits)[0] != time.Second || len(*waits) > 2 {
		t.Errorf("waits %v, want one of 1s, and that which its end breaks off", *waits)
	}
}

func envelope(id, event string) string {
	return fmt.Sprintf(`{"envelope_id":%q,"type":"events_api","payload":{"type":"event_callback","team_id":"T1","event":%s}}`, id, event)
}

func TestEventsAreTakenAndThenAcknowledged(t *testing.T) {
	s := newServer(t,
		envelope("e1", `{"type":"message","channel_type":"im","channel":"D1","user":"U1","ts":"1.5","text":"a &lt;b&gt; &amp;amp;"}`),
		envelope("e2", `{"type":"message","channel_type":"channel","channel":"C1","user":"U1","ts":"1.6","text":"to nobody"}`),
		envelope("e3", `{"type":"message","channel_type":"im","channel":"D1","user":"UBOT","bot_id":"B1","ts":"1.7","text":"myself"}`),
		envelope("e4", `{"type":"app_mention","channel":"C1","user":"U2","ts":"1.8","thread_ts":"1.2","text":"<@UBOT> hello"}`),
		`{"envelope_id":"e5","type":"slash_commands","payload":{"command":"/skein","text":"new","channel_id":"D1","user_id":"U1","trigger_id":"t9"}}`,
	)
	a, _ := s.app(t)
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	var took []string
	err := a.Run(ctx, func(_ context.Context, m gateway.Message) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		took = append(took, fmt.Sprintf("%s %v %s %q after %v", m.Key, m.From, m.ID, m.Text, s.acked))
		if len(took) == 3 {
			stop()
		}
		return nil
	})
	want := []string{
		`slack:D1 [U1] D1/1.5 "a <b> &amp;" after []`,
		`slack:C1:1.2 [U2] C1/1.8 "hello" after [e1 e2 e3]`,
		`slack:D1 [U1] D1/t9 "/new" after [e1 e2 e3 e4]`,
	}
	if err != nil || strings.Join(took, "\n") != strings.Join(want, "\n") {
		t.Errorf("Run: %v, took\n%s\nwant\n%s", err, strings.Join(took, "\n"), strings.Join(want, "\n"))
	}
}

func TestRefusedTokensEndIt(t *testing.T) {
	s := newServer(t)
	s.denied = true
	a, _ := s.app(t)
	if err := a.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "a token was refused") {
		t.Errorf("Run with a refused token: error %v, want one that says so", err)
	}
	if _, err := slack.New(slack.Options{BotToken: "xapp-1", AppToken: "xoxb-1"}); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("New with the tokens swapped: error %v, want %v", err, skein.ErrInvalid)
	}
}

func TestAnAnswerIsPostedInPiecesAndLimitsAreObeyed(t *testing.T) {
	s := newServer(t)
	s.limits = 1
	a, waits := s.app(t)
	if err := a.Send(t.Context(), `{"channel":"C1","thread":"1.2"}`, "**well** "+strings.Repeat("word ", 3000)); err != nil {
		t.Fatal(err)
	}
	first := <-s.sent
	if first["channel"] != "C1" || first["thread"] != "1.2" || !strings.HasPrefix(first["text"], "**well** word") || len(first["text"]) > 12_000 || len(s.sent) != 1 {
		t.Errorf("posted %.40q to %s, %s and %d more, want two pieces in the thread", first["text"], first["channel"], first["thread"], len(s.sent))
	}
	if len(*waits) != 1 || (*waits)[0] != 7*time.Second {
		t.Errorf("waits %v, want 7s", *waits)
	}
}
