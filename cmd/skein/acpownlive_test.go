//go:build unix

package main

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein/llm/llmtest"
	"github.com/skein-dev/skein/server/acp/acptest"
)

// untitled begins a session with skein's own agent, which makes no title for it, in an
// editor that leaves open what it is asked.
func (d *acpDesk) untitled(s *llmtest.Server) (e *connection, id string) {
	d.Helper()
	e = d.answers(s, "1")
	e.Permit = "-"
	e.Initialize()
	id = e.New(d.work())
	e.Ask("session/set_title", map[string]any{"sessionId": id, "title": "Mine"}, nil)
	return e, id
}

// A session with skein's own agent is open to others as any other one: a phone sees it
// stream, answers what the editor leaves open, and queues a prompt, which the editor sees.
func TestAPhoneAttachesToOurOwnAgent(t *testing.T) {
	d := newACPDesk(t, "")
	s := llmtest.Anthropic(t,
		llmtest.Says("A first word."),
		calls("c1", "shell", map[string]any{"command": "echo ran >> effects"}), llmtest.Says("It ran."),
	)
	s.Otherwise(llmtest.Says("The last word."))
	e, id := d.untitled(s)
	e.Prompt(id, "hello")
	at := d.serves()
	p, q := d.phone(at, d.skein("token", "add", "phone", "--scope", "write,read:raw")), d.phone(at, d.skein("token", "add", "watch", "--scope", "read,read:raw"))
	first := e.Send("session/prompt", acptest.PromptOf(id, "run it"))
	e.AwaitLine("session/request_permission")
	for _, c := range []*phone{p, q} {
		if a := c.load(id, ""); a.Error != nil {
			t.Fatalf("load is answered %+v", a.Error)
		}
	}
	ask := p.asks()
	second := p.Send("session/prompt", acptest.PromptOf(id, "go on"))
	p.AwaitLine(`"waits":true`)
	p.answers(ask, "once")
	e.AwaitLine("$/cancel_request")
	if a, ok := e.Await(first); !ok || a.Error != nil {
		t.Fatalf("the editor's prompt is answered %+v", a)
	}
	if a, ok := p.Await(second); !ok || a.Error != nil || !strings.Contains(string(a.Result), "end_turn") {
		t.Fatalf("the phone's prompt is answered %+v", a)
	}
	if b, err := os.ReadFile(filepath.Join(d.work(), "effects")); string(b) != "ran\n" {
		t.Errorf("the command has left %q, %v", b, err)
	}
	if got := acptest.Texts(acptest.Updates(e.Lines(0), id), "user_message_chunk"); got != "go on" {
		t.Errorf("the editor was shown the prompts %q of others, want %q", got, "go on")
	}
	q.AwaitLine(`"by":"phone"`)
	e.leave()
	for _, c := range []*phone{p, q} {
		c.AwaitLine(`"live":false`)
		for kind, want := range map[string]string{"user_message_chunk": "hellorun itgo on", "agent_message_chunk": "A first word.It ran.The last word."} {
			if got := c.saw(id, kind); got != want {
				t.Errorf("a client saw the %s %q, want %q", kind, got, want)
			}
		}
	}
	if n := d.notes(id, "acp:decision"); n != 1 {
		t.Errorf("%d decisions of others are stored, want 1", n)
	}
}

// A phone cancels the turn of skein's own agent, and the page Now answers it. A prompt
// that waits when the agent dies is told of in the next editor, once.
func TestOurOwnAgentIsStoppedFromElsewhere(t *testing.T) {
	d := newACPDesk(t, "")
	s := llmtest.Anthropic(t,
		calls("c1", "shell", map[string]any{"command": "echo ran >> effects"}),
		calls("c2", "shell", map[string]any{"command": "echo ran >> effects"}), llmtest.Says("It ran."),
		calls("c3", "shell", map[string]any{"command": "echo ran >> effects"}),
	)
	s.Otherwise(llmtest.Says("A word."))
	e, id := d.untitled(s)
	at, token := d.serves(), d.skein("token", "add", "phone", "--scope", "write,read:raw")
	first := e.Send("session/prompt", acptest.PromptOf(id, "run it"))
	e.AwaitLine("session/request_permission")
	p := d.phone(at, token)
	p.load(id, "")
	p.asks()
	p.ScriptedEditor.Cancel(id)
	if a, ok := e.Await(first); !ok || !strings.Contains(string(a.Result), "cancelled") {
		t.Fatalf("the editor's prompt is answered %s %+v", a.Result, a.Error)
	}

	first = e.Send("session/prompt", acptest.PromptOf(id, "run it again"))
	b := d.dashboard(at, token)
	b.post("/sessions/"+id+"/permission", url.Values{"permission": {b.asks(id, "once")}, "option": {"once"}})
	if a, ok := e.Await(first); !ok || a.Error != nil {
		t.Fatalf("the editor's prompt is answered %+v", a)
	}
	if b, err := os.ReadFile(filepath.Join(d.work(), "effects")); string(b) != "ran\n" {
		t.Errorf("the commands have left %q, %v; want one line", b, err)
	}

	e.Send("session/prompt", acptest.PromptOf(id, "and again"))
	b.asks(id, "once")
	waitsInVain(t, p, e, id, "the walrus waits")
	for round, want := range []int{1, 0} {
		f := d.answers(s, "1")
		f.Initialize()
		f.Ask("session/resume", map[string]any{"sessionId": id, "cwd": d.work(), "mcpServers": []any{}}, nil)
		f.Prompt(id, "still here?")
		if n := strings.Count(string(slices.Concat(f.Lines(0)...)), "phone: the walrus waits"); n != want {
			t.Errorf("the editor that opened the session in round %d was told %d times, want %d", round+1, n, want)
		}
		f.leave()
	}
}
