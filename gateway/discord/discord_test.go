package discord_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/skein-dev/skein/gateway"
	"github.com/skein-dev/skein/gateway/discord"
)

// A server speaks as much of Discord's API and gateway as the surface uses.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	live   []string            // messages that come by each connection in turn
	stored map[string][]string // by channel and after which message: answers, newest first
	opened []string            // how each connection began: identify or resume
	sent   chan map[string]any
	limits int
	denied bool
}

func newServer(t *testing.T, live ...string) *server {
	s := &server{live: live, stored: map[string][]string{}, sent: make(chan map[string]any, 100)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	path := strings.TrimPrefix(r.URL.Path, "/api/v9")
	switch {
	case path == "/gateway":
		fmt.Fprintf(w, `{"url":"ws%s/socket"}`, strings.TrimPrefix(s.URL, "http"))
	case strings.HasPrefix(path, "/socket"):
		s.talk(w, r)
	case s.denied || r.Header.Get("Authorization") != "Bot token":
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"message":"401: Unauthorized","code":0}`)
	case path == "/users/@me":
		fmt.Fprint(w, `{"id":"99","username":"skein","bot":true}`)
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/messages"):
		s.mu.Lock()
		defer s.mu.Unlock()
		fmt.Fprintf(w, "[%s]", strings.Join(s.stored[strings.Split(path, "/")[2]+" "+r.URL.Query().Get("after")], ","))
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/messages"):
		if s.limits > 0 {
			s.limits--
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"message":"You are being rate limited.","retry_after":0.01}`)
			return
		}
		got := map[string]any{}
		json.NewDecoder(r.Body).Decode(&got) //nolint:errcheck // it is our own
		got["path"] = path
		s.sent <- got
		fmt.Fprint(w, `{"id":"1"}`)
	}
}

// talk is one connection to the gateway: it hands over one message and, if
// there are others, breaks off.
func (s *server) talk(w http.ResponseWriter, r *http.Request) {
	c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer c.Close()                                                                             //nolint:errcheck // it is a test
	c.WriteMessage(websocket.TextMessage, []byte(`{"op":10,"d":{"heartbeat_interval":60000}}`)) //nolint:errcheck // the client has gone
	var first struct{ Op int }
	for first.Op != 2 && first.Op != 6 {
		if c.ReadJSON(&first) != nil {
			return
		}
	}
	s.mu.Lock()
	s.opened = append(s.opened, map[int]string{2: "identify", 6: "resume"}[first.Op])
	n := len(s.opened)
	live := s.live[min(n-1, len(s.live)):]
	s.mu.Unlock()
	ready := `{"op":0,"t":"READY","s":1,"d":{"v":9,"session_id":"abc","user":{"id":"99"}}}`
	if first.Op == 6 {
		ready = `{"op":0,"t":"RESUMED","s":1,"d":{}}`
	}
	c.WriteMessage(websocket.TextMessage, []byte(ready)) //nolint:errcheck // the client has gone
	if len(live) > 0 {
		c.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"op":0,"t":"MESSAGE_CREATE","s":%d,"d":%s}`, n+1, live[0])) //nolint:errcheck // the client has gone
	}
	if len(live) > 1 {
		return
	}
	for first.Op != -1 {
		if c.ReadJSON(&first) != nil {
			return
		}
	}
}

func (s *server) bot(t *testing.T, seen string) *discord.Bot {
	t.Helper()
	b, err := discord.New(discord.Options{Token: "token", URL: s.URL, Seen: seen, Log: slog.New(slog.DiscardHandler), Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// takes runs a bot until it took n messages.
func (s *server) takes(t *testing.T, seen string, n int) (took []string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	var mu sync.Mutex
	err := s.bot(t, seen).Run(ctx, func(_ context.Context, m gateway.Message) error {
		mu.Lock()
		defer mu.Unlock()
		took = append(took, fmt.Sprintf("%s %v %s %q", m.Key, m.From, m.ID, m.Text))
		if len(took) == n {
			stop()
		}
		return nil
	})
	if err != nil {
		t.Errorf("Run: %v", err)
	}
	return took
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("took\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const (
	direct  = `{"id":"100","channel_id":"5","author":{"id":"42","username":"ada"},"content":"hello","type":0}`
	nobody  = `{"id":"101","channel_id":"6","guild_id":"7","author":{"id":"42","username":"ada"},"content":"to nobody","type":0}`
	myself  = `{"id":"102","channel_id":"5","author":{"id":"99","username":"skein","bot":true},"content":"myself","type":0}`
	mention = `{"id":"103","channel_id":"6","guild_id":"7","author":{"id":"43","username":"bob"},"content":"<@99> there","mentions":[{"id":"99"}],"type":0}`
)

func TestMessagesAreTakenAndAConnectionIsResumed(t *testing.T) {
	s := newServer(t, direct, nobody, myself, mention)
	want(t, s.takes(t, filepath.Join(t.TempDir(), "seen"), 2),
		`discord:5 [42 @ada] 100 "hello"`, `discord:6 [43 @bob] 103 "there"`)
	if got := strings.Join(s.opened, " "); !strings.HasPrefix(got, "identify resume") {
		t.Errorf("the connections began with %s, want the first to identify and those after it to resume", got)
	}
}

func TestWhatCameMeanwhileIsAskedFor(t *testing.T) {
	s, seen := newServer(t, direct, mention), filepath.Join(t.TempDir(), "seen")
	s.takes(t, seen, 2)
	s.live = nil
	s.stored["5 100"] = []string{strings.Replace(direct, `"100"`, `"105"`, 1), strings.Replace(direct, `"100"`, `"104"`, 1)}
	s.stored["6 103"] = []string{strings.NewReplacer(`"101"`, `"106"`, `"guild_id":"7",`, "").Replace(nobody)}
	want(t, s.takes(t, seen, 2), `discord:5 [42 @ada] 104 "hello"`, `discord:5 [42 @ada] 105 "hello"`)
}

func TestARefusedTokenEndsIt(t *testing.T) {
	s := newServer(t)
	s.denied = true
	if err := s.bot(t, filepath.Join(t.TempDir(), "seen")).Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "the bot was refused") {
		t.Errorf("Run with a refused token: error %v, want one that says so", err)
	}
}

func TestAnAnswerIsSentInPiecesAndMentionsNobody(t *testing.T) {
	s := newServer(t)
	s.limits = 1
	if err := s.bot(t, filepath.Join(t.TempDir(), "seen")).Send(t.Context(), `"5"`, "**well** @everyone "+strings.Repeat("word ", 500)); err != nil {
		t.Fatal(err)
	}
	got := <-s.sent
	text, _ := got["content"].(string)
	if mentions := fmt.Sprint(got["allowed_mentions"]); got["path"] != "/channels/5/messages" || !strings.HasPrefix(text, "**well**") || len(text) > 2000 || len(s.sent) != 1 || !strings.Contains(mentions, "parse:[]") {
		t.Errorf("sent %.40q to %v with mentions %s and %d more, want two pieces that mention nobody", text, got["path"], mentions, len(s.sent))
	}
}
