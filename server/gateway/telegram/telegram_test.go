package telegram_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skein-dev/skein/server/gateway"
	"github.com/skein-dev/skein/server/gateway/telegram"
)

// A server implements as much of the Bot API as the surface uses.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	pending []string // updates in JSON, with IDs from 1
	gone    int64    // updates up to here were confirmed
	sent    chan map[string]string
	refuse  []string // answers to sendMessage, before the successful ones
	denied  bool
}

func newServer(t *testing.T, updates ...string) *server {
	s := &server{pending: updates, sent: make(chan map[string]string, 100)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	method, ok := strings.CutPrefix(r.URL.Path, "/bot7:token/")
	if !ok || s.denied {
		fmt.Fprint(w, `{"ok":false,"error_code":401,"description":"Unauthorized"}`)
		return
	}
	switch method {
	case "getMe":
		fmt.Fprint(w, `{"ok":true,"result":{"id":7,"is_bot":true,"username":"ada_bot"}}`)
	case "getUpdates":
		var q struct{ Offset int64 }
		json.NewDecoder(r.Body).Decode(&q) //nolint:errcheck // it is our own
		s.gone = max(s.gone, q.Offset-1)
		var all []string
		for i, u := range s.pending {
			if int64(i) >= s.gone {
				all = append(all, fmt.Sprintf(`{"update_id":%d,"message":%s}`, i+1, u))
			}
		}
		fmt.Fprintf(w, `{"ok":true,"result":[%s]}`, strings.Join(all, ","))
	case "sendMessage":
		if len(s.refuse) > 0 {
			fmt.Fprint(w, s.refuse[0])
			s.refuse = s.refuse[1:]
			return
		}
		var body map[string]any
		json.NewDecoder(r.Body).Decode(&body) //nolint:errcheck // it is our own
		got := map[string]string{}
		for k, v := range body {
			got[k] = fmt.Sprint(v)
		}
		s.sent <- got
		fmt.Fprint(w, `{"ok":true,"result":{"message_id":1,"chat":{"id":1}}}`)
	default:
		fmt.Fprint(w, `{"ok":true,"result":true}`)
	}
}

func (s *server) bot(t *testing.T) (b *telegram.Bot, waits *[]time.Duration) {
	waits = new([]time.Duration)
	b, err := telegram.New(telegram.Options{Token: "7:token", URL: s.URL, Log: slog.New(slog.DiscardHandler), Wait: func(ctx context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	return b, waits
}

const (
	hello = `{"message_id":5,"from":{"id":42,"username":"Ada"},"chat":{"id":42},"text":"hello"}`
	topic = `{"message_id":6,"from":{"id":42},"chat":{"id":-1001},"message_thread_id":9,"is_topic_message":true,"text":"there"}`
	aBot  = `{"message_id":7,"from":{"id":43,"is_bot":true},"chat":{"id":42},"text":"no"}`
)

func TestUpdatesAreTakenAndThenConfirmed(t *testing.T) {
	s := newServer(t, hello, aBot, topic)
	b, _ := s.bot(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var took []gateway.Message
	failed := false
	err := b.Run(ctx, func(_ context.Context, m gateway.Message) error {
		if len(took) == 1 && !failed {
			failed = true
			return errors.New("the disk is full")
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.gone >= 3 {
			t.Error("the last update was confirmed before it was taken")
		}
		if took = append(took, m); len(took) == 2 {
			stop()
		}
		return nil
	})
	if err != nil || len(took) != 2 {
		t.Fatalf("Run: took %+v, %v, want two messages", took, err)
	}
	for i, want := range []string{
		"telegram:ada_bot:42 [42 @Ada] ada_bot/42/5 hello",
		"telegram:ada_bot:-1001:9 [42] ada_bot/-1001/6 there",
	} {
		m := took[i]
		if got := fmt.Sprintf("%s %v %s %s", m.Key, m.From, m.ID, m.Text); got != want {
			t.Errorf("message %d is %s, want %s", i, got, want)
		}
	}
}

func TestARefusedTokenEndsIt(t *testing.T) {
	s := newServer(t)
	s.denied = true
	b, _ := s.bot(t)
	if err := b.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "the token was refused") || strings.Contains(err.Error(), "7:token") {
		t.Errorf("Run with a refused token: error %v, want one that says so, without the token", err)
	}
}

func TestAnErrorDoesNotShowTheToken(t *testing.T) {
	s := newServer(t)
	b, _ := s.bot(t)
	s.Close()
	if err := b.Send(t.Context(), `{"chat":42}`, "hello"); err == nil || strings.Contains(err.Error(), "token") {
		t.Errorf("Send without a network: error %v, want one without the token", err)
	}
}

func TestAnAnswerIsSentAsHTMLInPieces(t *testing.T) {
	s := newServer(t)
	b, _ := s.bot(t)
	if err := b.Send(t.Context(), `{"chat":42,"thread":9}`, "# Title\nA **bold** word, `a<b`, snake_case_name, [a link](https://x.example/?a&b).\n```go\nx < y\n```"); err != nil {
		t.Fatal(err)
	}
	want := "<b>Title</b>\nA <b>bold</b> word, <code>a&lt;b</code>, snake_case_name, <a href=\"https://x.example/?a&amp;b\">a link</a>.\n<pre>x &lt; y\n</pre>"
	if got := <-s.sent; got["text"] != want || got["parse_mode"] != "HTML" || got["chat_id"] != "42" || got["message_thread_id"] != "9" {
		t.Errorf("sent %q, want %q as HTML to 42, 9", got, want)
	}
	if err := b.Send(t.Context(), `{"chat":42}`, strings.Repeat("😀 word ", 1500)); err != nil {
		t.Fatal(err)
	}
	if n := len(s.sent); n != 3 {
		t.Errorf("%d pieces of 12,000 units were sent, want 3", n)
	}
}

func TestLimitsAreObeyedAndHTMLIsDroppedIfItIsNotRead(t *testing.T) {
	s := newServer(t)
	b, waits := s.bot(t)
	s.refuse = []string{
		`{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":3}}`,
		`{"ok":false,"error_code":400,"description":"Bad Request: can't parse entities"}`,
	}
	if err := b.Send(t.Context(), `{"chat":42}`, "**well**"); err != nil {
		t.Fatal(err)
	}
	if got := <-s.sent; got["text"] != "**well**" || got["parse_mode"] != "" || len(*waits) != 1 || (*waits)[0] != 3*time.Second {
		t.Errorf("sent %q after waits of %v, want plain text after 3s", got, *waits)
	}
	s.refuse = []string{`{"ok":false,"error_code":403,"description":"bot was blocked by the user"}`}
	if err := b.Send(t.Context(), `{"chat":42}`, "x"); err == nil || !strings.Contains(err.Error(), "blocked") {
		t.Errorf("Send to one who blocked the bot: error %v, want why", err)
	}
}
