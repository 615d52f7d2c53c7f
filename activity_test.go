package skein_test

import (
	"fmt"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/eventtest"
)

// doing returns what the events say: the state, the place of the event that began it,
// and the newest call.
func doing(t *testing.T, created skein.Created, events ...skein.Event) string {
	t.Helper()
	all := append([]skein.Event{skein.NewEvent(skein.KindCreated, 1000, created)}, events...)
	s, err := skein.Fold("s", eventtest.Number(all...))
	if err != nil {
		t.Fatal(err)
	}
	a := s.Activity
	text := fmt.Sprintf("%s %d", a.State, a.Seq)
	if c := a.Call(); c != nil {
		text += " " + c.ID + ":" + c.Name
	}
	if a.May {
		text += " may continue"
	}
	return text
}

func TestActivityIsWhatTheNewestEventsSay(t *testing.T) {
	user, text := eventtest.User("do it"), skein.TextPart("done")
	ends := func(stop string, parts ...skein.Part) skein.Event {
		return skein.Say(1000, skein.Message{Role: skein.RoleAssistant, Parts: parts, Stop: stop})
	}
	calls := func(id, name string) skein.Event {
		return ends("", skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: name}})
	}
	tool := func(x skein.ToolState) skein.Event { return skein.NewEvent(skein.KindTool, 1000, x) }
	step := func(x skein.Step) skein.Event { return skein.NewEvent(skein.KindStep, 1000, x) }
	ended := func(how string) skein.Event {
		return skein.NewEvent(skein.KindEnded, 1000, skein.Program{How: how})
	}
	note := func(name, data string) skein.Event {
		return skein.NewEvent(skein.KindNoted, 1000, skein.Noted{Name: name, Data: []byte(data)})
	}
	bad := &skein.ErrorInfo{Message: "busy"}
	here, foreign := skein.Created{}, skein.Created{Origin: &skein.Origin{Format: "f"}}
	for _, c := range []struct {
		name   string
		of     skein.Created
		events []skein.Event
		want   string
	}{
		{"begun", here, nil, "idle 1"},
		{"asked", here, []skein.Event{user}, "working 2"},
		{"thinking", here, []skein.Event{user, ends("", skein.Part{Kind: skein.PartReasoning, Text: "hm"})}, "working 3"},
		{"answered", here, []skein.Event{user, ends("end_turn", text)}, "idle 3"},
		{"a message that may not be the last", here, []skein.Event{user, ends("", text)}, "idle 3 may continue"},
		{"a message before a call", here, []skein.Event{user, ends("tool_use", text)}, "working 3"},
		{"a call", here, []skein.Event{user, calls("c", "bash")}, "working 3 c:bash"},
		{"two calls", here, []skein.Event{user, calls("c", "bash"), calls("d", "read")}, "working 4 d:read"},
		{"one of two answered", here, []skein.Event{user, calls("c", "bash"), calls("d", "read"), eventtest.Results(eventtest.Result("d", "r"))}, "working 3 c:bash"},
		{"all answered", here, []skein.Event{user, calls("c", "bash"), eventtest.Results(eventtest.Result("c", "r"))}, "working 4"},
		{"words between calls", here, []skein.Event{user, calls("c", "bash"), ends("", text)}, "working 3 c:bash"},
		{"an answer after a call without a result", here, []skein.Event{user, calls("c", "bash"), ends("stop", text)}, "idle 4"},
		{"asked again", here, []skein.Event{user, calls("c", "bash"), user}, "working 4"},
		{"a question", foreign, []skein.Event{user, calls("c", "AskUserQuestion"), calls("d", "Bash")}, "waiting 3 c:AskUserQuestion"},
		{"a question answered", foreign, []skein.Event{user, calls("c", "ask_user"), eventtest.Results(eventtest.Result("c", "yes"))}, "working 4"},
		{"a permission", here, []skein.Event{user, calls("c", "bash"), tool(skein.ToolState{Call: "c", State: skein.Pending, Ask: "Run ls?"})}, "waiting 4 c:bash"},
		{"a permission given", here, []skein.Event{user, calls("c", "bash"), tool(skein.ToolState{Call: "c", State: skein.Pending, Ask: "Run ls?"}), tool(skein.ToolState{Call: "c", State: skein.Running})}, "working 5 c:bash"},
		{"a call that will not run", here, []skein.Event{user, calls("c", "bash"), tool(skein.ToolState{Call: "c", State: skein.Pending})}, "idle 4"},
		{"a call that another program prepares", foreign, []skein.Event{user, calls("c", "bash"), tool(skein.ToolState{Call: "c", State: skein.Pending})}, "working 4 c:bash"},
		{"a call that ended, before its result", here, []skein.Event{user, calls("c", "bash"), tool(skein.ToolState{Call: "c", State: skein.Failed})}, "working 4"},
		{"failed", here, []skein.Event{user, skein.Say(1000, skein.Message{Role: skein.RoleAssistant, Error: bad})}, "failed 3"},
		{"a failed attempt", here, []skein.Event{user, step(skein.Step{Phase: "start", Attempt: 1}), step(skein.Step{Phase: "finish", Attempt: 1, Error: bad})}, "working 3"},
		{"a failed request of another program", foreign, []skein.Event{user, step(skein.Step{Phase: "finish", Error: bad})}, "failed 3"},
		{"a request broken off", here, []skein.Event{user, step(skein.Step{Phase: "finish", Attempt: 1, Error: &skein.ErrorInfo{Kind: "interrupted"}})}, "idle 3"},
		{"a request for a title", here, []skein.Event{user, ends("end_turn", text), step(skein.Step{Phase: "start", Mode: "title"})}, "idle 3"},
		{"interrupted", foreign, []skein.Event{user, calls("c", "Bash"), eventtest.User("[Request interrupted by user for tool use]")}, "idle 4"},
		{"interrupted, as its program says", foreign, []skein.Event{user, skein.Say(1000, skein.Message{Role: skein.RoleUser, Synthetic: true, Parts: []skein.Part{skein.TextPart("[Request interrupted by user]")}})}, "idle 3"},
		{"done, as Codex notes it", foreign, []skein.Event{user, ends("", text), note("codex:event_msg/task_complete", `{"turn_id":"t"}`)}, "idle 4"},
		{"canceled, as Gemini CLI notes it", foreign, []skein.Event{user, calls("c", "shell"), note("gemini:info", `{"content":"Request cancelled."}`)}, "idle 4"},
		{"a note", foreign, []skein.Event{user, note("gemini:info", `{"content":"x_complete"}`)}, "working 2"},
		{"the output of a local command", foreign, []skein.Event{user, ends("end_turn", text), eventtest.User("<local-command-stdout>x</local-command-stdout>")}, "idle 3"},
		{"rewound", here, []skein.Event{user, calls("c", "bash"), eventtest.Rewound(1)}, "idle 4"},
		{"a result put in the place of a call", foreign, []skein.Event{user, calls("c", "bash"), tool(skein.ToolState{Call: "c", State: skein.Running}), eventtest.Amended(4, tool(skein.ToolState{Call: "c", State: skein.Completed}))}, "working 5"},
		{"ended", here, []skein.Event{user, ends("end_turn", text), ended("done")}, "ended 4"},
		{"ended with an error", here, []skein.Event{user, ended("error")}, "failed 3"},
		{"opened again", here, []skein.Event{user, ended("done"), skein.NewEvent(skein.KindResumed, 1000, skein.Program{})}, "idle 4"},
		{"a title given", here, []skein.Event{user, skein.NewEvent(skein.KindTitled, 2000, skein.Titled{Title: "t"})}, "working 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := doing(t, c.of, c.events...); got != c.want {
				t.Errorf("the session is %q, want %q", got, c.want)
			}
		})
	}
}

func TestActivityKeepsTheNewestCallsOnly(t *testing.T) {
	events := []skein.Event{eventtest.Created()}
	for i := range 100 {
		events = append(events, eventtest.Assistant("", eventtest.Call(fmt.Sprint(i))))
	}
	s, err := skein.Fold("s", eventtest.Number(events...))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Activity.Calls); n != 16 || s.Activity.Calls[15].ID != "99" {
		t.Errorf("of 100 calls the session keeps %d, want the newest 16", n)
	}
}

// A copy of a session does not change with the session.
func TestActivityOfACopyStays(t *testing.T) {
	s := fold(t, eventtest.Created(), eventtest.Assistant("", eventtest.Call("a"), eventtest.Call("b")))
	was := s
	for _, e := range []skein.Event{eventtest.Results(eventtest.Result("a", "r")), eventtest.Assistant("", eventtest.Call("c"))} {
		if _, err := s.Apply(&e, eventtest.Facts(t, e), skein.Prior{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := was.Activity.Calls; len(got) != 2 || got[0].ID != "a" || got[1].ID != "b" {
		t.Errorf("the copy's calls are now %+v", got)
	}
}
