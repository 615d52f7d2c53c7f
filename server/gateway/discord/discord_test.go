package discord_test

import (
	"context"
	"encoding/json"
	"errors"
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

	"github.com/skein-dev/skein/server/gateway"
	"github.com/skein-dev/skein/server/gateway/discord"
)

// A server implements as much of Discord's API and gateway as the surface uses.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	live   []string            // messages that come over each connection in turn
	stored map[string][]string // by channel and the message before: answers, newest first
	opened []string            // how each connection began: identify or resume
	events []string            // of the session: a resumed connection gets them again
	sent   chan map[string]any
	limits int
	denied bool
	again  int           // the connection that is told to reconnect instead of being greeted
	mute   int           // the connection that is not greeted
	silent chan struct{} // receives when a connection is not greeted
	deaf   int           // the connection whose heartbeats are not answered
	forgot int           // the connection whose session is not known any more
}

func newServer(t *testing.T, live ...string) *server {
	s := &server{live: live, stored: map[string][]string{}, sent: make(chan map[string]any, 100), silent: make(chan struct{}, 1)}
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

// talk is one connection to the gateway: it sends what the last one did not,
// and one message more, and breaks if there are others.
func (s *server) talk(w http.ResponseWriter, r *http.Request) {
	c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer c.Close()                         //nolint:errcheck // it is a test
	send := func(format string, a ...any) { // unless the client has gone
		c.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, format, a...)) //nolint:errcheck // then it comes again
	}
	s.mu.Lock()
	nth, interval := len(s.opened)+1, 60000
	if nth == s.deaf {
		interval = 1
	}
	s.mu.Unlock()
	send(`{"op":10,"d":{"heartbeat_interval":%d}}`, interval)
	var first struct {
		Op int
		D  json.RawMessage
	}
	for first.Op != 2 && first.Op != 6 {
		if c.ReadJSON(&first) != nil {
			return
		}
	}
	var had struct{ Seq int }
	json.Unmarshal(first.D, &had) //nolint:errcheck // it is the library's
	s.mu.Lock()
	s.opened = append(s.opened, map[int]string{2: "identify", 6: "resume"}[first.Op])
	odd := map[int]string{s.again: `{"op":7,"d":null}`, s.forgot: `{"op":9,"d":false}`, s.mute: `{"op":11}`}[nth]
	if odd != "" {
		s.mu.Unlock()
		send("%s", odd)
		if nth == s.mute {
			s.silent <- struct{}{}
		}
		c.ReadJSON(&first) //nolint:errcheck // it waits for the client to go
		return
	}
	if first.Op == 2 {
		s.events = []string{`"READY","d":{"v":9,"session_id":"abc","user":{"id":"99"}}`}
	} else {
		s.events = append(s.events, `"RESUMED","d":{}`)
	}
	if nth != s.deaf && len(s.live) > 0 {
		s.events, s.live = append(s.events, `"MESSAGE_CREATE","d":`+s.live[0]), s.live[1:]
	}
	events, more := s.events, nth != s.deaf && len(s.live) > 0
	s.mu.Unlock()
	for i := had.Seq; i < len(events); i++ {
		send(`{"op":0,"s":%d,"t":%s}`, i+1, events[i])
	}
	for !more {
		if c.ReadJSON(&first) != nil {
			return
		}
	}
}

// bot returns a bot that does not wait between connections, but waits for one
// to open.
func (s *server) bot(t *testing.T, seen string) *discord.Bot {
	t.Helper()
	wait := func(ctx context.Context, d time.Duration) error {
		if d == discord.Patience {
			select {
			case <-s.silent:
			case <-ctx.Done():
			}
		}
		return ctx.Err()
	}
	b, err := discord.New(discord.Options{Token: "token", URL: s.URL, Seen: seen, Log: slog.New(slog.DiscardHandler), Wait: wait})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// takes runs a bot until it has passed on n messages.
func (s *server) takes(t *testing.T, seen string, n int) []string {
	t.Helper()
	return s.takesBut(t, seen, n, func(gateway.Message) error { return nil })
}

// takesBut runs a bot until n messages were passed on that refuse accepts.
func (s *server) takesBut(t *testing.T, seen string, n int, refuse func(gateway.Message) error) (took []string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	err := s.bot(t, seen).Run(ctx, func(_ context.Context, m gateway.Message) error {
		if err := refuse(m); err != nil {
			return err
		}
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
	s.live = []string{strings.Replace(direct, `"100"`, `"107"`, 1)}
	s.stored["5 100"] = []string{strings.Replace(direct, `"100"`, `"105"`, 1), strings.Replace(direct, `"100"`, `"104"`, 1)}
	s.stored["6 103"] = []string{strings.NewReplacer(`"101"`, `"106"`, `"guild_id":"7",`, "").Replace(nobody)}
	want(t, s.takes(t, seen, 3), `discord:5 [42 @ada] 104 "hello"`, `discord:5 [42 @ada] 105 "hello"`, `discord:5 [42 @ada] 107 "hello"`)
}

// No request could bring it again: it is the first of its channel.
func TestAMessageThatIsNotTakenIsTriedAgain(t *testing.T) {
	s, full := newServer(t, direct, mention), 2
	refuse := func(gateway.Message) error {
		if full--; full >= 0 {
			return errors.New("the disk is full")
		}
		return nil
	}
	want(t, s.takesBut(t, filepath.Join(t.TempDir(), "seen"), 2, refuse),
		`discord:5 [42 @ada] 100 "hello"`, `discord:6 [43 @bob] 103 "there"`)
}

func TestASessionOutlivesItsConnections(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*server)
		want string
	}{
		"told to connect again":    {func(s *server) { s.again = 2 }, "identify resume resume"},
		"not greeted":              {func(s *server) { s.mute = 2 }, "identify resume resume"},
		"heartbeat not answered":   {func(s *server) { s.deaf = 2 }, "identify resume resume"},
		"the session is forgotten": {func(s *server) { s.forgot = 2 }, "identify resume identify"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, direct, mention)
			c.set(s)
			want(t, s.takes(t, filepath.Join(t.TempDir(), "seen"), 2),
				`discord:5 [42 @ada] 100 "hello"`, `discord:6 [43 @bob] 103 "there"`)
			if got := strings.Join(s.opened, " "); got != c.want {
				t.Errorf("the connections began with %s, want %s", got, c.want)
			}
		})
	}
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
