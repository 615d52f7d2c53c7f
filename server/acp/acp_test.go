package acp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp"
	"github.com/skein-dev/skein/server/acp/acptest"
	"github.com/skein-dev/skein/store/memory"
)

// asAgent makes the test binary act as an agent; its value is where that keeps its
// sessions. What it can do is in canDo.
const (
	asAgent = "SKEIN_TEST_ACP_AGENT"
	canDo   = "SKEIN_TEST_ACP_CAN"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(asAgent); dir != "" {
		a := acptest.ScriptedAgent{Dir: dir, Name: "test-agent", Can: os.Getenv(canDo)}
		_ = a.Serve(os.Stdin, os.Stdout) // its input has ended
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A desk is an editor, an agent, and what stands between them.
type desk struct {
	*acptest.ScriptedEditor
	*testing.T
	store skein.Store
	in    io.Closer
	done  chan error
	dir   string // of the agent's sessions
	cwd   string
}

type setting struct {
	store skein.Store
	dir   string // of the agent's sessions
	can   string
	cwd   string
	gate  *gate // through which the editor reads; nil for none
	odd   bool  // the agent says what the protocol does not know
	write func(ctx context.Context, agent string, id skein.SessionID, cwd string) (string, []string, error)
}

// open starts an agent and an editor. They end with the test, or when leave is called.
func open(t *testing.T, s setting) *desk {
	t.Helper()
	if s.store == nil {
		s.store = memory.New()
	}
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	if s.cwd == "" {
		s.cwd = t.TempDir()
	}
	fromEditor, in := io.Pipe()
	out, toEditor := io.Pipe()
	var from io.Reader = out
	if s.gate != nil {
		s.gate.Reader, from = out, s.gate
	}
	d := &desk{T: t, ScriptedEditor: acptest.NewEditor(t, from, in), store: s.store, in: in, done: make(chan error, 1), dir: s.dir, cwd: s.cwd}
	if !s.odd {
		d.Strict()
	}
	o := acp.Options{
		Store: s.store, User: skein.Local, Now: time.Now, Program: "skein", Version: "test",
		Command: []string{os.Args[0]}, Env: append(os.Environ(), asAgent+"="+s.dir, canDo+"="+s.can),
		In: fromEditor, Out: toEditor, Errs: t.Output(), Write: s.write, Dir: s.cwd,
	}
	go func() { d.done <- acp.Serve(context.Background(), o) }()
	leave := sync.OnceFunc(func() {
		in.Close()
		<-d.done
	})
	t.Cleanup(leave)
	d.in = closer(leave)
	d.Initialize()
	return d
}

type closer func()

func (c closer) Close() error { c(); return nil }

// leave ends the editor, and waits for the others.
func (d *desk) leave() { d.in.Close() }

// said returns the messages of a session as ROLE: text or call or result.
func (d *desk) said(id string) (all []string) {
	d.Helper()
	for _, e := range d.entries(id) {
		for _, p := range e.Message.Parts {
			s := string(p.Text)
			switch {
			case p.Call != nil:
				s = "call " + p.Call.ID + " " + p.Call.Name + " " + string(p.Call.Input)
			case p.Result != nil:
				s = fmt.Sprintf("result %s %s %t", p.Result.CallID, p.Result.Text, p.Result.Failed)
			case p.File != nil:
				s = "file " + p.File.Name + " " + p.File.Media
			case p.Kind == skein.PartReasoning:
				s = "thinks " + s
			}
			all = append(all, string(e.Message.Role)+": "+s)
		}
	}
	return all
}

func (d *desk) events(id string) (all []skein.Event) {
	d.Helper()
	for e, err := range d.store.Events(d.Context(), skein.SessionID(id), 0) {
		if err != nil {
			d.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func (d *desk) entries(id string) []skein.Entry {
	d.Helper()
	all, err := skein.Entries(d.events(id))
	if err != nil {
		d.Fatal(err)
	}
	return all
}

// notes returns the data of the notes with a name.
func (d *desk) notes(id, name string) (all []string) {
	d.Helper()
	for _, e := range d.events(id) {
		if n, err := skein.Decode[skein.Noted](e); e.Kind == skein.KindNoted && err == nil && n.Name == name {
			all = append(all, string(n.Data))
		}
	}
	return all
}

func (d *desk) session(id string) skein.Session {
	d.Helper()
	s, err := d.store.Session(d.Context(), skein.SessionID(id))
	if err != nil {
		d.Fatal(err)
	}
	return s
}

func equal(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestATurnIsKeptWhole(t *testing.T) {
	d := open(t, setting{})
	id := d.New(d.cwd)
	prompt := "think let me see\nsay I will list it.\ntool ls\npermit rm\nread /x/y\nplan first\ntitle Listing\nusage 100\nsay That is all."
	if stop := d.Prompt(id, prompt); stop != "end_turn" {
		t.Fatalf("the turn ended with %q", stop)
	}
	equal(t, d.said(id), []string{
		"user: " + prompt,
		"assistant: thinks let me see", "assistant: I will list it.",
		`assistant: call call_ls execute {"command":"ls"}`, "tool: result call_ls output of ls false",
		`assistant: call call_rm execute {"command":"rm"}`, "tool: result call_rm output of rm false",
		`assistant: read {"content":"what is in the buffer"}That is all.`,
	})
	s := d.session(id)
	if s.Title != "Listing" || s.Agent != "test-agent" || s.Cwd != d.cwd || s.Surface != "acp" || s.Model != "test-model" || len(s.Open) != 0 || s.Uncertain != 0 {
		t.Errorf("the session is %+v", s)
	}
	if s.Usage != (skein.Usage{Input: 10, Output: 20, Requests: 1, Reported: 250_000_000}) {
		t.Errorf("the session has used %+v", s.Usage)
	}
	if got := d.notes(id, "acp:fs/read_text_file"); len(got) != 1 || !strings.Contains(got[0], "what is in the buffer") || !strings.Contains(got[0], "/x/y") {
		t.Errorf("what was read is noted as %q", got)
	}
	if got := d.notes(id, "acp:plan"); len(got) != 1 || !strings.Contains(got[0], "first") {
		t.Errorf("the plan is noted as %q", got)
	}
	var dec struct{ Call, By, Outcome, Option, Kind, Name string }
	if got := d.notes(id, "acp:decision"); len(got) != 1 || json.Unmarshal([]byte(got[0]), &dec) != nil ||
		dec != struct{ Call, By, Outcome, Option, Kind, Name string }{"call_rm", "test-editor", "selected", "y", "allow_once", "Yes"} {
		t.Errorf("the decision is noted as %q", got)
	}
	shown := acptest.Texts(acptest.Updates(d.Lines(0), id), "agent_message_chunk")
	if want := `I will list it.read {"content":"what is in the buffer"}That is all.`; shown != want {
		t.Errorf("the editor was shown %q, want %q", shown, want)
	}
}

// Only session IDs differ between what one program says and what the other reads.
func TestWhatIsNotKnownPassesByteForByte(t *testing.T) {
	d := open(t, setting{odd: true})
	id := d.New(d.cwd)
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"_vendor/news","params":{"a" : 1.0e+3, "b":"\u00e9\/é","sessionId" :"ID","_meta":{"sessionId":"inner-1"}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"state_update","state":"running"},"sessionId":"ID"}}`,
		`[{"jsonrpc":"2.0","method":"x/y","params":{"sessionId":"ID"}} , {"jsonrpc":"2.0","method":"z"}]`,
		`{"jsonrpc":"2.0","id":"unasked","error":{"code":-1,"message":"no","data":[1,2]}}`,
		`  starting up: not JSON {"sessionId":"inner-1"}`,
		`{"cut":"off`,
		``,
	} {
		d.Prompt(id, "raw "+strings.ReplaceAll(line, "ID", "inner-1"))
		want := strings.ReplaceAll(line, "ID", id) + "\n"
		if !slices.ContainsFunc(d.Lines(0), func(l []byte) bool { return string(l) == want }) {
			t.Errorf("of %q the editor got\n%s", want, d.Lines(0))
		}
	}
	if got := d.notes(id, "acp:_vendor/news"); len(got) != 1 {
		t.Errorf("what is not known is noted as %q", got)
	}
	a, ok := d.Await(d.Send("_vendor/do", map[string]any{"x": 1}))
	if !ok || a.Error == nil || a.Error.Code != -32601 {
		t.Errorf("the answer to what the agent does not know is %+v", a)
	}
}

func TestACanceledTurn(t *testing.T) {
	d := open(t, setting{})
	id := d.New(d.cwd)
	asked := d.Send("session/prompt", acptest.PromptOf(id, "say Let me think.\nhang"))
	d.AwaitLine(`"nk."`)
	d.Cancel(id)
	if a, ok := d.Await(asked); !ok || string(a.Result) != `{"stopReason":"cancelled"}` {
		t.Fatalf("the turn ended with %s", a.Result)
	}
	equal(t, d.said(id), []string{"user: say Let me think.\nhang", "assistant: Let me think."})
	if s := d.session(id); s.Activity.State != skein.StateIdle || len(d.notes(id, "acp:session/cancel")) != 1 {
		t.Errorf("after the cancellation, the session is %s", s.Activity.State)
	}
}

func TestAnAgentThatFailsOrDies(t *testing.T) {
	d := open(t, setting{})
	id := d.New(d.cwd)
	if a, _ := d.Await(d.Send("session/prompt", acptest.PromptOf(id, "say Hm.\nfail"))); a.Error == nil || a.Error.Message != "the model is overloaded" {
		t.Errorf("the answer is %+v", a)
	}
	if s := d.session(id); s.Activity.State != skein.StateFailed {
		t.Errorf("after an error, the session is %s", s.Activity.State)
	}
	if a, ok := d.Await(d.Send("session/prompt", acptest.PromptOf(id, "say Bye"+"\ndie"))); !ok || a.Error == nil || !strings.Contains(a.Error.Message, "has ended") {
		t.Errorf("the answer of an agent that died is %+v, %t", a, ok)
	}
	if err := <-d.done; err == nil || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("Serve = %v", err)
	}
	d.done <- nil
	equal(t, d.said(id), []string{"user: say Hm.\nfail", "assistant: Hm.", "user: say Bye\ndie", "assistant: Bye"})
	if e := d.entries(id); !e[3].Message.Interrupted || d.session(id).LockedBy != "" {
		t.Errorf("the last message is %+v; the session is locked by %q", e[3], d.session(id).LockedBy)
	}
}

// Images and resources are kept as blobs, once each.
func TestAttachmentsAreBlobs(t *testing.T) {
	d := open(t, setting{})
	id := d.New(d.cwd)
	d.Ask("session/prompt", map[string]any{"sessionId": id, "prompt": []any{
		map[string]any{"type": "text", "text": "say fine", "annotations": map[string]any{"priority": 1}},
		map[string]any{"type": "image", "data": "aW1hZ2U=", "mimeType": "image/png", "uri": "file:///a/shot.png"},
		map[string]any{"type": "resource", "resource": map[string]any{"uri": "file:///a/b.go", "mimeType": "text/x-go", "text": "package b"}},
		map[string]any{"type": "resource_link", "uri": "file:///a/c.go", "name": "c.go"},
		map[string]any{"type": "hologram", "x": 1},
	}}, nil)
	equal(t, d.said(id), []string{"user: say fine", "user: file shot.png image/png", "user: file b.go text/x-go", "user: file c.go ", "user: ", "assistant: fine"})
	for i, want := range []string{"image", "package b"} {
		f := d.entries(id)[0].Message.Parts[i+1].File
		if b, err := d.store.Blob(t.Context(), skein.SessionID(id), f.Blob); err != nil || string(b) != want {
			t.Errorf("the blob of %s is %q, %v", f.Name, b, err)
		}
	}
}

// A session in which nothing was said is not shown in lists, but it exists.
func TestASessionWithoutAPromptIsNotShown(t *testing.T) {
	d := open(t, setting{})
	id := d.New(d.cwd)
	d.leave()
	d.session(id)
	for s, err := range d.store.Sessions(t.Context(), skein.Filter{}) {
		t.Errorf("the list has %v, %v", s.ID, err)
	}
}
