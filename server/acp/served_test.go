package acp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/recording"
	"github.com/skein-dev/skein/server/acp/acptest"
	"github.com/skein-dev/skein/store/memory"
)

// shown returns what the editor was shown of a session since line n, as KIND: text.
func (d *desk) shown(id string, n int) (all []string) {
	last := ""
	for _, u := range acptest.Updates(d.Lines(n), id) {
		kind := fmt.Sprint(u.Update["sessionUpdate"])
		text := acptest.Texts([]acptest.SessionUpdate{u}, kind)
		switch {
		case kind == "tool_call":
			text = fmt.Sprint(u.Update["toolCallId"], " ", u.Update["kind"])
		case kind == "tool_call_update":
			text = fmt.Sprint(u.Update["toolCallId"], " ", u.Update["status"])
		case kind == last:
			all[len(all)-1] += text
			continue
		case text == "":
			continue
		}
		all, last = append(all, kind+": "+text), kind
	}
	return all
}

func (d *desk) at(id string) map[string]any {
	return map[string]any{"sessionId": id, "cwd": d.cwd, "mcpServers": []any{}}
}

const longTurn = "think hm\nsay Hello there.\ntool ls\nsay Done."

var longTurnShown = []string{
	"user_message_chunk: " + longTurn, "agent_thought_chunk: hm", "agent_message_chunk: Hello there.",
	"tool_call: call_ls execute", "tool_call_update: call_ls completed", "agent_message_chunk: Done.",
}

// Whatever the agent can, a session is opened again by another editor and goes on, and
// the agent knows what was said.
func TestASessionIsOpenedAgain(t *testing.T) {
	for _, can := range []string{"resume load", "load", "resume", ""} {
		t.Run("can "+can, func(t *testing.T) {
			dir, store := t.TempDir(), memory.New()
			d := open(t, setting{store: store, dir: dir, can: can})
			id := d.New(d.cwd)
			d.Prompt(id, longTurn)
			d.leave()

			d = open(t, setting{store: store, dir: dir, can: can, cwd: d.cwd})
			a := d.Ask("session/load", d.at(id), nil)
			if !strings.Contains(string(a.Result), "test-model") || strings.Contains(string(a.Result), "sessionId") {
				t.Errorf("session/load answers %s", a.Result)
			}
			equal(t, d.shown(id, 0), longTurnShown)
			if got := len(d.Lines(0)); got != a.Line+1 {
				t.Errorf("the answer is line %d of %d", a.Line+1, got)
			}
			before := len(d.Lines(0))
			d.Prompt(id, "recall")
			said := acptest.Texts(acptest.Updates(d.Lines(before), id), "agent_message_chunk")
			if !strings.Contains(said, "Hello there.") || !strings.HasSuffix(said, "|recall") && !strings.HasSuffix(said, "recall") {
				t.Errorf("the agent remembers %q", said)
			}
			if got := d.said(id); len(got) != 8 || got[6] != "user: recall" {
				t.Errorf("the store has %q", got)
			}
			d.leave()

			d = open(t, setting{store: store, dir: dir, can: can, cwd: d.cwd})
			d.Ask("session/resume", d.at(id), nil)
			if got := d.shown(id, 0); len(got) != 0 {
				t.Errorf("session/resume shows %q", got)
			}
			d.Prompt(id, "say Again.")
			if got := d.said(id); len(got) != 10 || got[9] != "assistant: Again." {
				t.Errorf("the store has %q", got)
			}
		})
	}
}

// other puts a session of another agent into a store.
func other(t *testing.T, store skein.Store, id, cwd string) {
	t.Helper()
	_, err := skein.Add(t.Context(), store, skein.SessionID(id),
		skein.NewEvent(skein.KindCreated, 1, skein.Created{Agent: "codex", Cwd: cwd, Project: cwd}),
		skein.Say(2, skein.UserSays("What is the answer?")),
		skein.Say(3, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("It is 42.")}}))
	if err != nil {
		t.Fatal(err)
	}
}

// A session of another agent is shown, and the agent is told of it once, before the next
// prompt. The record has what the person said.
func TestASessionOfAnotherAgentGoesOn(t *testing.T) {
	store := memory.New()
	other(t, store, "theirs", "/gone")
	d := open(t, setting{store: store, can: "load"})
	d.Ask("session/load", d.at("theirs"), nil)
	equal(t, d.shown("theirs", 0), []string{"user_message_chunk: What is the answer?", "agent_message_chunk: It is 42."})
	n := len(d.Lines(0))
	d.Prompt("theirs", "recall")
	got := acptest.Texts(acptest.Updates(d.Lines(n), "theirs"), "agent_message_chunk")
	if !strings.HasPrefix(got, "[skein: test-agent could not load this session: ") || !strings.Contains(got, "<previous-conversation>") || !strings.Contains(got, "assistant: It is 42.") {
		t.Errorf("the agent was told %q", got)
	}
	if s := d.session("theirs"); s.Agent != "test-agent" || s.Cwd != d.cwd {
		t.Errorf("the session is now %s's in %s", s.Agent, s.Cwd)
	}
	if said := d.said("theirs"); len(said) != 4 || said[2] != "user: recall" {
		t.Errorf("the store has %q", said)
	}
	d.Prompt("theirs", "say more")
	if told := readTold(t, d, 1); told[1] != "say more" {
		t.Errorf("the agent was told %q", told)
	}
}

// readTold returns what the agent was told in its n-th session.
func readTold(t *testing.T, d *desk, n int) (all []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(d.dir, fmt.Sprintf("inner-%d", n)))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		s, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// If the agent's sessions can be written, a session of another agent is written for it,
// and what is lost is told.
func TestASessionOfAnotherAgentIsWritten(t *testing.T) {
	store, dir := memory.New(), t.TempDir()
	other(t, store, "theirs", "/gone")
	d := open(t, setting{store: store, dir: dir, can: "load", write: func(_ context.Context, agent string, id skein.SessionID, cwd string) (string, []string, error) {
		if agent != "test-agent" || id != "theirs" || cwd == "" {
			t.Errorf("Write(%q, %q, %q)", agent, id, cwd)
		}
		return "written", []string{"reasoning: left out"}, os.WriteFile(filepath.Join(dir, "written"), []byte("\"was written\"\n"), 0o600)
	}})
	d.Ask("session/load", d.at("theirs"), nil)
	equal(t, d.shown("theirs", 0), []string{"user_message_chunk: What is the answer?", "agent_message_chunk: It is 42."})
	n := len(d.Lines(0))
	d.Prompt("theirs", "recall")
	if got := acptest.Texts(acptest.Updates(d.Lines(n), "theirs"), "agent_message_chunk"); got != "[skein: Written for test-agent: reasoning: left out]\n\nwas written|recall" {
		t.Errorf("the agent says %q", got)
	}
}

func TestAForkGoesItsOwnWay(t *testing.T) {
	for _, can := range []string{"load fork", "load", ""} {
		t.Run("can "+can, func(t *testing.T) {
			d := open(t, setting{can: can})
			id := d.New(d.cwd)
			d.Prompt(id, "say one")
			at := d.entries(id)[1].Seq
			d.Prompt(id, "say two")
			fork := func(meta map[string]any) string {
				p := d.at(id)
				p["_meta"] = meta
				var r struct{ SessionID string }
				d.Ask("session/fork", p, &r)
				return r.SessionID
			}
			whole := fork(nil)
			d.isNamed(whole)
			early := fork(map[string]any{"skein": map[string]any{"messageId": fmt.Sprintf("skein-%d", at)}})
			for _, f := range []string{whole, early} {
				n := len(d.Lines(0))
				d.Prompt(f, "recall")
				got := acptest.Texts(acptest.Updates(d.Lines(n), f), "agent_message_chunk")
				if !strings.Contains(got, "one") || strings.Contains(got, "two") != (f == whole) {
					t.Errorf("the agent of fork %s remembers %q", f, got)
				}
			}
			d.Prompt(id, "say three")
			if got := d.said(whole); len(got) != 6 || got[4] != "user: recall" {
				t.Errorf("the fork has %q", got)
			}
			if got := d.said(early); len(got) != 4 || got[2] != "user: recall" {
				t.Errorf("the early fork has %q", got)
			}
			if s := d.session(whole); s.Parent == nil || s.Parent.Session != skein.SessionID(id) || s.Parent.Why != skein.Fork {
				t.Errorf("the fork's parent is %+v", s.Parent)
			}
		})
	}
}

// isNamed checks that a session whose agent wrote a file of it is found by what the agent
// calls it, and no longer counts as being opened.
func (d *desk) isNamed(id string) {
	d.Helper()
	named, opened := false, false
	for f, err := range skein.SourcesOf(d.store).Files(d.Context(), recording.Format) {
		if err != nil {
			d.Fatal(err)
		}
		if f.Session != skein.SessionID(id) {
			continue
		}
		if since, is := recording.IsOpening(&f); is {
			opened = since == 0
		} else {
			named = f.ID != ""
		}
	}
	if !named || !opened {
		d.Errorf("session %s is named by its agent: %v, and said to be open: %v", id, named, opened)
	}
}

func TestListsArePagedAndOfAllAgents(t *testing.T) {
	store := memory.New()
	d := open(t, setting{store: store})
	for n := range 120 {
		other(t, store, fmt.Sprintf("theirs-%03d", n), d.cwd)
	}
	other(t, store, "elsewhere", "/elsewhere")
	id := d.New(d.cwd)
	d.Prompt(id, "say hello")
	type page struct {
		Sessions   []struct{ SessionID, Cwd, Title, UpdatedAt string }
		NextCursor string
	}
	var ids []string
	for cursor, n := "", 0; n == 0 || cursor != ""; n++ {
		p := map[string]any{"cwd": d.cwd}
		if cursor != "" {
			p["cursor"] = cursor
		}
		var got page
		d.Ask("session/list", p, &got)
		for _, s := range got.Sessions {
			ids = append(ids, s.SessionID)
			if want := "What is the answer? (codex)"; s.SessionID != id && s.Title != want || s.Cwd != d.cwd || s.UpdatedAt == "" {
				t.Fatalf("the list has %+v", s)
			}
		}
		cursor = got.NextCursor
	}
	if len(ids) != 121 || ids[0] != id || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 121 {
		t.Errorf("the list has %d sessions: %q", len(ids), ids)
	}
	var all page
	d.Ask("session/list", map[string]any{}, &all)
	if len(all.Sessions) != 50 {
		t.Errorf("the first page of all has %d", len(all.Sessions))
	}
	if a, _ := d.Await(d.Send("session/list", map[string]any{"cursor": "x"})); a.Error == nil || a.Error.Code != -32602 {
		t.Errorf("a wrong cursor is answered %+v", a)
	}
}

func TestCloseDeleteAndTitle(t *testing.T) {
	d := open(t, setting{can: "close load"})
	id := d.New(d.cwd)
	d.Prompt(id, "say hello")
	d.Ask("session/set_title", map[string]any{"sessionId": id, "title": "Greeting"}, nil)
	d.Ask("session/close", map[string]any{"sessionId": id}, nil)
	if s := d.session(id); s.Title != "Greeting" || s.LockedBy != "" || s.Activity.State != skein.StateEnded {
		t.Errorf("the closed session is %q, locked by %q, %s", s.Title, s.LockedBy, s.Activity.State)
	}
	d.Ask("session/load", d.at(id), nil)
	d.Prompt(id, "say again")
	d.Ask("session/delete", map[string]any{"sessionId": id}, nil)
	if s := d.session(id); s.Binned == 0 {
		t.Error("the deleted session is not in the bin")
	}
	for _, method := range []string{"session/load", "session/resume", "session/fork"} {
		if a, _ := d.Await(d.Send(method, d.at(id))); a.Error == nil || a.Error.Code != -32002 {
			t.Errorf("%s of a session in the bin is answered %s %+v", method, a.Result, a.Error)
		}
	}
	for method, code := range map[string]int{"session/load": -32002, "session/fork": -32002, "session/set_title": -32002, "session/delete": -32002} {
		p := d.at("none")
		p["title"] = "x"
		if a, _ := d.Await(d.Send(method, p)); a.Error == nil || a.Error.Code != code {
			t.Errorf("%s of no session is answered %+v", method, a.Error)
		}
	}
}

// One editor writes. Another is told who does, and takes over if it asks for that.
func TestOneSessionInTwoEditors(t *testing.T) {
	dir, store := t.TempDir(), memory.New()
	first := open(t, setting{store: store, dir: dir, can: "load"})
	id := first.New(first.cwd)
	first.Prompt(id, "say one")
	second := open(t, setting{store: store, dir: dir, can: "load", cwd: first.cwd})
	p := second.at(id)
	if a, _ := second.Await(second.Send("session/load", p)); a.Error == nil || !strings.Contains(a.Error.Message, "locked by") {
		t.Fatalf("the second editor gets %+v", a)
	}
	p["_meta"] = map[string]any{"skein": map[string]any{"takeOver": true}}
	second.Ask("session/load", p, nil)
	second.Prompt(id, "say two")
	if a, _ := first.Await(first.Send("session/prompt", acptest.PromptOf(id, "say three"))); a.Error == nil || !strings.Contains(a.Error.Message, "taken over") {
		t.Errorf("the first editor gets %+v", a)
	}
	equal(t, second.said(id), []string{"user: say one", "assistant: one", "user: say two", "assistant: two"})
}

// What the editor is offered does not depend on the agent, and nothing else of its answer
// changes.
func TestInitializeOffersWhatTheStoreCan(t *testing.T) {
	d := open(t, setting{})
	var r struct {
		AgentCapabilities struct {
			LoadSession         bool
			PromptCapabilities  map[string]bool
			SessionCapabilities map[string]any
		}
		Meta map[string]any `json:"_meta"`
	}
	if err := json.Unmarshal(d.Initialize().Result, &r); err != nil {
		t.Fatal(err)
	}
	c := r.AgentCapabilities
	if !c.LoadSession || !c.PromptCapabilities["image"] || len(c.SessionCapabilities) != 6 || r.Meta["kept"] != "é" {
		t.Errorf("the capabilities are %+v", r)
	}
}

// What the protocol does not know as content is kept, but not shown to the next editor,
// which might refuse the session for it.
func TestBrokenContentIsNotShownAgain(t *testing.T) {
	one := open(t, setting{})
	id := one.New(one.cwd)
	prompt := acptest.PromptOf(id, "say yes")
	for _, block := range []string{
		`{"type":1e300,"text":"a"}`, `{"type":"text"}`, `{"type":"image","data":"AAAA"}`, `{"type":"resource_link","uri":"file:///a"}`,
		`{"type":"text","text":"b","annotations":{"audience":["nobody"]}}`, `{"type":"resource","resource":{"uri":7,"text":"c"}}`,
	} {
		prompt["prompt"] = append(prompt["prompt"].([]any), json.RawMessage(block))
	}
	one.Ask("session/prompt", prompt, nil)
	one.leave()
	two := open(t, setting{store: one.store, cwd: one.cwd})
	two.Ask("session/load", map[string]any{"sessionId": id, "cwd": one.cwd, "mcpServers": []any{}}, nil)
	if got := acptest.Texts(acptest.Updates(two.Lines(0), id), "user_message_chunk"); got != "say yes" {
		t.Errorf("the next editor was shown %q", got)
	}
	n := 0
	for _, u := range acptest.Updates(two.Lines(0), id) {
		if u.Update["sessionUpdate"] == "user_message_chunk" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the next editor was shown %d pieces of the prompt, want 1", n)
	}
}
