//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/acptest"
	"github.com/skein-dev/skein/store/sqlite"
)

// skein runs a command of skein beside an editor, and returns what it prints.
func (d *acpDesk) skein(args ...string) string {
	d.Helper()
	cmd := exec.Command(d.self(), args...)
	cmd.Env = d.beside()
	cmd.Stderr = d.Output()
	out, err := cmd.Output()
	if err != nil {
		d.Fatalf("skein %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// beside returns the environment of a skein that runs beside an editor.
func (d *acpDesk) beside() []string {
	return []string{asProgram + "=1", "PATH=/usr/bin:/bin", "HOME=" + filepath.Join(d.dir, "home"), "SKEIN_HOME=" + filepath.Join(d.dir, "home")}
}

// serves starts a server beside the editors, and returns its address.
func (d *acpDesk) serves() string {
	d.Helper()
	cmd := exec.Command(d.self(), "serve", "--listen", "127.0.0.1:0")
	cmd.Env, cmd.Stderr = d.beside(), d.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		d.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		d.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// A phone is a client of the server's, over WebSocket or HTTP.
type phone struct {
	*acptest.ScriptedEditor
	conn  io.Closer
	opens func(session string) // before it is loaded

	ended chan struct{} // closed when the connection has ended
}

// begin makes the phone say hello over a connection.
func (d *acpDesk) begin(p *phone, in io.Reader, out io.Writer) *phone {
	d.Helper()
	d.Cleanup(func() { p.conn.Close() })
	p.ScriptedEditor = acptest.NewEditor(d.T, in, out)
	p.Permit = "-"
	p.Strict()
	p.Initialize()
	return p
}

// A socketStream is a WebSocket as a stream of lines.
type socketStream struct {
	*websocket.Conn
	mu    sync.Mutex
	rest  []byte
	ended chan struct{}
}

// Write implements [io.Writer].
func (s *socketStream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(b), s.WriteMessage(websocket.TextMessage, b)
}

// Read implements [io.Reader].
func (s *socketStream) Read(b []byte) (int, error) {
	if len(s.rest) == 0 {
		_, line, err := s.ReadMessage()
		if err != nil {
			close(s.ended)
			return 0, err
		}
		s.rest = append(line, '\n')
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// phone attaches over WebSocket, with a token.
func (d *acpDesk) phone(at, token string) *phone {
	d.Helper()
	conn, _, err := websocket.DefaultDialer.DialContext(d.Context(), "ws"+strings.TrimPrefix(at, "http")+"/v1/acp", http.Header{"Authorization": {"Bearer " + token}})
	if err != nil {
		d.Fatal(err)
	}
	s := &socketStream{Conn: conn, ended: make(chan struct{})}
	return d.begin(&phone{conn: conn, opens: func(string) {}, ended: s.ended}, s, s)
}

// An httpStream is a connection over HTTP as a stream of lines: what is written is
// posted, what the server-sent events say is read.
type httpStream struct {
	d         *acpDesk
	at, token string
	id        string // of the connection
	in        *io.PipeReader
	heard     *io.PipeWriter
	ctx       context.Context //nolint:containedctx // it ends with the connection
	cancel    context.CancelFunc
}

// httpPhone attaches over HTTP, with a token.
func (d *acpDesk) httpPhone(at, token string) *phone {
	d.Helper()
	s := &httpStream{d: d, at: at, token: token}
	s.ctx, s.cancel = context.WithCancel(d.Context())
	s.in, s.heard = io.Pipe()
	p := d.begin(&phone{conn: s, opens: s.watch}, s.in, s)
	s.watch("")
	return p
}

// Close implements [io.Closer].
func (s *httpStream) Close() error {
	s.cancel()
	return s.in.Close()
}

func (s *httpStream) do(method, session string, body io.Reader) *http.Response {
	r, err := http.NewRequestWithContext(s.ctx, method, s.at+"/v1/acp", body)
	if err != nil {
		s.d.Error(err)
		return nil
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	for name, v := range map[string]string{"Acp-Connection-Id": s.id, "Acp-Session-Id": session} {
		if v != "" {
			r.Header.Set(name, v)
		}
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		if s.ctx.Err() == nil {
			s.d.Error(err)
		}
		return nil
	}
	return a
}

// Write implements [io.Writer].
func (s *httpStream) Write(line []byte) (int, error) {
	a := s.do("POST", "", bytes.NewReader(line))
	if a == nil {
		return 0, io.ErrClosedPipe
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	switch {
	case err != nil:
		return 0, err
	case a.StatusCode == http.StatusOK:
		s.id = a.Header.Get("Acp-Connection-Id")
		go s.heard.Write(append(b, '\n'))
	case a.StatusCode != http.StatusAccepted:
		go s.heard.Write(refusedBy(line, b))
	}
	return len(line), nil
}

// refusedBy returns the refusal of a message as the answer to it.
func refusedBy(line, problem []byte) []byte {
	var m struct{ ID json.RawMessage }
	var p struct{ Detail string }
	if json.Unmarshal(line, &m) != nil || json.Unmarshal(problem, &p) != nil {
		return append(problem, '\n')
	}
	return append(skein.MustJSON(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32000, "message": p.Detail}}), '\n')
}

// watch reads the stream of a session, or the connection's. It returns once the server
// has begun it.
func (s *httpStream) watch(session string) {
	a := s.do("GET", session, nil)
	if a == nil {
		return
	}
	if a.StatusCode != http.StatusOK {
		a.Body.Close()
		s.d.Errorf("the stream is answered %s", a.Status)
		return
	}
	go func() {
		defer a.Body.Close()
		for in := bufio.NewReader(a.Body); ; {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				if _, err := io.WriteString(s.heard, data); err != nil {
					return
				}
			}
		}
	}()
}

// load loads a session, after a cursor if it is not "".
func (p *phone) load(id, after string) acptest.Answer {
	p.opens(id)
	return p.Ask("session/load", map[string]any{"sessionId": id, "cwd": "/", "mcpServers": []any{}, "_meta": map[string]any{"skein": map[string]any{"after": after}}}, nil)
}

// asks waits until a permission is asked for, and returns the ID of the request.
func (p *phone) asks() (id string) {
	p.AwaitLine("session/request_permission")
	for _, line := range p.Lines(0) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(line, &m) == nil && m.Method == "session/request_permission" {
			id = string(m.ID)
		}
	}
	return id
}

// answers answers a permission.
func (p *phone) answers(id, option string) {
	p.ScriptedEditor.Write(`{"jsonrpc":"2.0","id":` + id + `,"result":{"outcome":{"outcome":"selected","optionId":"` + option + `"}}}`)
}

// cursor returns the newest cursor that the phone has.
func (p *phone) cursor() (c string) {
	for _, line := range p.Lines(0) {
		var m struct {
			Params struct {
				Meta struct{ Skein struct{ Cursor string } } `json:"_meta"`
			}
		}
		if json.Unmarshal(line, &m) == nil && m.Params.Meta.Skein.Cursor != "" {
			c = m.Params.Meta.Skein.Cursor
		}
	}
	return c
}

// saw returns what a phone saw said in a session.
func (p *phone) saw(id, kind string) string {
	return acptest.Texts(acptest.Updates(p.Lines(0), id), kind)
}

// notes returns how many notes of a name a session has.
func (d *acpDesk) notes(id, name string) (n int) {
	d.Helper()
	s, err := sqlite.Open(d.Context(), filepath.Join(d.dir, "home", "skein.db"), sqlite.Options{})
	if err != nil {
		d.Fatal(err)
	}
	defer s.Close()
	for e, err := range s.Events(d.Context(), skein.SessionID(id), 0) {
		if err != nil {
			d.Fatal(err)
		}
		if note, err := skein.Decode[skein.Noted](e); err == nil && e.Kind == skein.KindNoted && note.Name == name {
			n++
		}
	}
	return n
}

// An editor has a session open; a phone attaches, sees it stream, answers the permission
// that the editor leaves open, and queues a prompt, which is sent after the turn.
func TestAPhoneAttachesToALiveSession(t *testing.T) {
	for over, attach := range map[string]func(d *acpDesk, at, token string) *phone{"WebSocket": (*acpDesk).phone, "HTTP": (*acpDesk).httpPhone} {
		t.Run(over, func(t *testing.T) { attachesLive(t, attach) })
	}
}

func attachesLive(t *testing.T, attach func(d *acpDesk, at, token string) *phone) {
	t.Helper()
	d, e, id := openedIn(t, "-")
	at, token := d.serves(), d.skein("token", "add", "phone", "--scope", "write,read:raw")
	first := e.Send("session/prompt", acptest.PromptOf(id, "say before the phone\npermit Bash\nsay after it"))
	e.AwaitLine("session/request_permission")

	p, q := attach(d, at, token), attach(d, at, d.skein("token", "add", "watch", "--scope", "read,read:raw"))
	if a := p.load(id, ""); a.Error != nil {
		t.Fatalf("load is answered %+v", a.Error)
	}
	q.load(id, "")
	if got := p.saw(id, "agent_message_chunk"); got != "before the phone" && !strings.HasPrefix("before the phone", got) {
		t.Errorf("the phone saw %q", got)
	}
	ask := p.asks()
	second := p.Send("session/prompt", acptest.PromptOf(id, "say the second turn"))
	p.AwaitLine(`"waits":true`)
	p.answers(ask, "y")
	e.AwaitLine("$/cancel_request")
	if a, ok := e.Await(first); !ok || a.Error != nil {
		t.Fatalf("the editor's prompt is answered %+v", a)
	}
	if a, ok := p.Await(second); !ok || a.Error != nil || !strings.Contains(string(a.Result), "end_turn") {
		t.Fatalf("the phone's prompt is answered %+v", a)
	}
	e.AwaitLine("second turn")
	q.AwaitLine(`"by":"phone"`)
	p.answers(ask, "n")
	p.AwaitLine("this was answered before: phone chose")
	for _, c := range []*phone{p, q} {
		c.AwaitLine(`"stopReason":"end_turn"`)
		if got, want := c.saw(id, "user_message_chunk"), "say before the phone\npermit Bash\nsay after itsay the second turn"; got != want {
			t.Errorf("a client saw the prompts %q, want %q", got, want)
		}
	}
	for _, line := range q.Lines(0) {
		if strings.Contains(string(line), "request_permission") {
			t.Errorf("who may only watch was asked: %s", line)
		}
	}
	q.ScriptedEditor.Permit = "-"
	if a, ok := q.Await(q.Send("session/prompt", acptest.PromptOf(id, "say no"))); !ok || a.Error == nil || !strings.Contains(a.Error.Message, "may only read") {
		t.Errorf("the prompt of who may only watch is answered %+v", a)
	}
	e.leave()
	if s := strings.Join(d.said(id), "\n"); !strings.Contains(s, "user: say the second turn\n") {
		t.Errorf("the store has\n%s", s)
	}
}

// A phone loses its connection in the middle of a message: the agent goes on, and the
// phone gets what came after its cursor, once. Its connection ends with its token.
func TestAPhoneComesBack(t *testing.T) {
	d, e, id := openedIn(t, "-")
	at, token := d.serves(), d.skein("token", "add", "phone", "--scope", "answer,read:raw")
	e.Prompt(id, "say a turn that is over")
	first := e.Send("session/prompt", acptest.PromptOf(id, "say before it was lost\npermit Bash\nsay and after that"))
	e.AwaitLine("session/request_permission")

	p, q := d.phone(at, token), d.phone(at, token)
	p.load(id, "")
	q.load(id, "")
	ask, other := p.asks(), q.asks()
	if ask != other {
		t.Errorf("the permission is %s and %s", ask, other)
	}
	seen, after := p.saw(id, "agent_message_chunk"), p.cursor()
	p.conn.Close()
	q.answers(other, "y")
	if a, ok := e.Await(first); !ok || a.Error != nil {
		t.Fatalf("the editor's prompt is answered %+v", a)
	}
	p = d.phone(at, token)
	p.load(id, after)
	p.AwaitLine(`"stopReason":"end_turn"`)
	want := "a turn that is overbefore it was lostand after that"
	if got := seen + p.saw(id, "agent_message_chunk"); got != want {
		t.Errorf("the phone saw %q, want %q", got, want)
	}
	if got := q.saw(id, "agent_message_chunk"); got != want {
		t.Errorf("who stayed saw %q, want %q", got, want)
	}
	bad := map[string]any{"sessionId": id, "cwd": "/", "mcpServers": []any{}, "_meta": map[string]any{"skein": map[string]any{"after": "nowhere"}}}
	if a, ok := p.Await(p.Send("session/load", bad)); !ok || a.Error == nil || !strings.Contains(a.Error.Message, "not a cursor") {
		t.Errorf("a cursor from elsewhere is answered %+v", a)
	}
	d.skein("token", "rm", "phone")
	p.awaitEnd()
	q.awaitEnd()
}

// waitsInVain makes a prompt that waits until the program that has the session is killed.
func waitsInVain(t *testing.T, p *phone, e *connection, id, text string) {
	t.Helper()
	waiting := p.Send("session/prompt", acptest.PromptOf(id, text))
	p.AwaitLine(`"waits":true`)
	if err := e.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if a, ok := p.Await(waiting); !ok || a.Error == nil || !strings.Contains(a.Error.Message, "has ended") {
		t.Errorf("the prompt that waits is answered %+v", a)
	}
}

// A prompt that waits is told of if the program that has the session is killed before its
// turn, once: it was acknowledged.
func TestAPromptThatWaitedIsToldOf(t *testing.T) {
	d, e, id := openedIn(t, "-")
	at, token := d.serves(), d.skein("token", "add", "phone", "--scope", "write,read:raw")
	e.Send("session/prompt", acptest.PromptOf(id, "permit Bash\nsay never"))
	e.AwaitLine("session/request_permission")
	p := d.phone(at, token)
	p.load(id, "")
	waitsInVain(t, p, e, id, "say the walrus waits")

	for round, want := range []int{1, 0} {
		f := d.start("1")
		f.Initialize()
		f.Ask("session/resume", map[string]any{"sessionId": id, "cwd": d.dir, "mcpServers": []any{}}, nil)
		f.Prompt(id, "say what came after")
		told := acptest.Texts(acptest.Updates(f.Lines(0), id), "agent_message_chunk")
		if n := strings.Count(told, "phone: say the walrus waits"); n != want {
			t.Errorf("the editor that opened the session in round %d was told %d times, want %d:\n%s", round+1, n, want, told)
		}
		f.leave()
	}
}

// A phone cancels the turn in which it attached, and not the one after it.
func TestAPhoneCancelsATurn(t *testing.T) {
	d, e, id := openedIn(t, "-")
	p := d.phone(d.serves(), d.skein("token", "add", "phone", "--scope", "write,read:raw"))
	p.load(id, "")
	for round := range 5 {
		first := e.Send("session/prompt", acptest.PromptOf(id, fmt.Sprintf("permit round%d\nhang", round)))
		p.AwaitLine(fmt.Sprint(`"toolCall":{"toolCallId":"call_round`, round))
		p.ScriptedEditor.Cancel(id)
		if a, ok := e.Await(first); !ok || a.Error != nil || !strings.Contains(string(a.Result), "cancelled") {
			t.Fatalf("round %d: the prompt that was canceled is answered %s %+v", round, a.Result, a.Error)
		}
		if stop := e.Prompt(id, "say the next"); stop != "end_turn" {
			t.Fatalf("round %d: the next turn ended with %q", round, stop)
		}
	}
	e.leave()
	if n := d.notes(id, "acp:session/cancel"); n != 5 {
		t.Errorf("%d cancellations are stored, want 5", n)
	}
}

// awaitEnd waits until the server has ended the connection.
func (p *phone) awaitEnd() { <-p.ended }

// Two answer at the same time: one counts, the other one hears who that was, and the
// agent is answered once.
func TestTheFirstAnswerCounts(t *testing.T) {
	d, e, id := openedIn(t, "-")
	at := d.serves()
	phones := []*phone{d.phone(at, d.skein("token", "add", "one", "--scope", "answer")), d.phone(at, d.skein("token", "add", "two", "--scope", "answer"))}
	first := e.Send("session/prompt", acptest.PromptOf(id, "permit Bash\nsay done"))
	for _, p := range phones {
		p.load(id, "")
	}
	var all sync.WaitGroup
	for _, p := range phones {
		ask := p.asks()
		all.Go(func() { p.answers(ask, "y") })
	}
	all.Wait()
	e.Await(first)
	for _, p := range phones {
		p.AwaitLine(`"stopReason":"end_turn"`)
	}
	e.leave()
	if n := d.notes(id, "acp:decision"); n != 1 {
		t.Errorf("%d decisions are stored, want 1", n)
	}
}

// A token that may not read secrets sees none, in whatever pieces the agent says it, and
// all that is said around it.
func TestAPhoneIsNotToldSecrets(t *testing.T) {
	d, e, id := openedIn(t, "")
	p := d.phone(d.serves(), d.skein("token", "add", "phone", "--scope", "read"))
	p.load(id, "")
	secret := "ghp_" + strings.Repeat("a1B2c3", 6)
	e.Prompt(id, "say before the "+secret+" and after it\nsay the end")
	e.leave()
	p.AwaitLine(`"live":false`)
	got := p.saw(id, "agent_message_chunk")
	if !strings.HasPrefix(got, "before the ") || !strings.HasSuffix(got, " and after itthe end") {
		t.Errorf("the phone saw %q", got)
	}
	for _, line := range p.Lines(0) {
		if strings.Contains(string(line), secret[:20]) {
			t.Errorf("the phone was told the secret: %s", line)
		}
	}
}

// A client that does not read holds up neither the editor nor the agent nor another
// client.
func TestAClientThatDoesNotReadHoldsUpNobody(t *testing.T) {
	d, e, id := openedIn(t, "")
	at, token := d.serves(), d.skein("token", "add", "phone", "--scope", "read,read:raw")
	stuck, _, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(at, "http")+"/v1/acp", http.Header{"Authorization": {"Bearer " + token}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stuck.Close() })
	load := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "session/load", "params": map[string]any{"sessionId": id, "cwd": "/", "mcpServers": []any{}}}
	if err := stuck.WriteJSON(load); err != nil {
		t.Fatal(err)
	}
	p := d.phone(at, token)
	p.load(id, "")
	for range 4 {
		if stop := e.Prompt(id, "long 8000000\nsay it goes on"); stop != "end_turn" {
			t.Fatalf("the turn ended with %q", stop)
		}
	}
	e.Prompt(id, "say the very end")
	e.leave()
	p.AwaitLine(`"live":false`)
	if got := p.saw(id, "agent_message_chunk"); !strings.HasSuffix(got, "the very end") {
		t.Errorf("the client that reads saw %d bytes, and at the end %q", len(got), got[max(0, len(got)-50):])
	}
}
