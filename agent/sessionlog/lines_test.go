package sessionlog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
)

// linesOf returns the lines of events in a short form, and fails if a line is
// incomplete.
func linesOf(t *testing.T, events ...skein.Event) (all []string) {
	t.Helper()
	lines := sessionlog.NewLines("s1", 0)
	for i, e := range events {
		e.Seq = skein.Seq(i + 1)
		b := lines.Append([]byte("before"), e)
		text, ok := strings.CutPrefix(string(b), "before")
		if !ok || text != "" && !strings.HasSuffix(text, "\n") {
			t.Fatalf("Append(%q, %v) = %q", "before", e, b)
		}
		for entry, err := range sessionlog.Read(strings.NewReader(text)) {
			if err != nil || entry.Damage != "" || entry.Seq != e.Seq || entry.Time != e.Time || entry.Session != "s1" || entry.Level == "" {
				t.Fatalf("event %v makes the line %s (%v)", e, entry.Raw, err)
			}
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", entry.Level[:1], entry.Event, entry.Agent+entry.To, entry.Text, entry.Data)))
		}
	}
	return all
}

func TestEachEventMakesItsLines(t *testing.T) {
	created := func(c skein.Created) skein.Event { return skein.NewEvent(skein.KindCreated, noon, c) }
	say := func(m skein.Message) skein.Event { return skein.Say(noon, m) }
	step := func(s skein.Step) skein.Event { return skein.NewEvent(skein.KindStep, noon, s) }
	tool := func(s skein.ToolState) skein.Event { return skein.NewEvent(skein.KindTool, noon, s) }
	program := func(k skein.Kind, how string) skein.Event {
		return skein.NewEvent(k, noon, skein.Program{Program: "skein chat", How: how})
	}
	answer := func(text string) skein.Message {
		return skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart(text)}}
	}
	interrupted, failed := answer("half"), answer("half")
	interrupted.Interrupted, failed.Interrupted = true, true
	failed.Error = &skein.ErrorInfo{Message: "cut"}
	reviewer := "reviewer"
	hand := answer("")
	hand.Parts = []skein.Part{{Kind: skein.PartCall, Call: &skein.Call{ID: "c1", Name: "delegate", Input: []byte(`{"agent":"digger"}`)}}}
	no := skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: "c1", Text: "no", Failed: true}}}}
	for name, c := range map[string]struct {
		events []skein.Event
		want   []string
	}{
		"a fork": {
			[]skein.Event{created(skein.Created{Parent: &skein.Parent{Session: "p", Seq: 3, Why: skein.Fork}})},
			[]string{`I session:fork   {"parent":{"session":"p","seq":3,"why":"fork"}}`},
		},
		"a continuation": {
			[]skein.Event{created(skein.Created{Parent: &skein.Parent{Session: "p", Why: skein.Continuation}})},
			[]string{`I session:start   {"parent":{"session":"p","why":"continuation"}}`},
		},
		"a title is no part of an answer": {
			[]skein.Event{say(skein.UserSays("hi")), say(answer("yo")), step(skein.Step{Phase: "start", Mode: "title"}), step(skein.Step{Phase: "finish", Mode: "title"}), program(skein.KindEnded, "done")},
			[]string{"I prompt:submit  hi", "I execution:start skein", "I content_block:end  yo", "I execution:end skein", "I prompt:complete  yo", `I llm:request   {"mode":"title"}`, `I llm:response   {"mode":"title"}`, `I session:end   {"program":"skein chat","how":"done"}`},
		},
		"interrupted": {
			[]skein.Event{say(skein.UserSays("hi")), say(interrupted)},
			[]string{"I prompt:submit  hi", "I execution:start skein", "I content_block:end  half", "I execution:end skein", `W prompt:complete  half {"status":"interrupted"}`},
		},
		"cut, and tried again": {
			[]skein.Event{say(skein.UserSays("hi")), step(skein.Step{Phase: "start", Attempt: 1}), step(skein.Step{Phase: "finish", Error: failed.Error}), say(failed), skein.NewEvent(skein.KindRewound, noon, skein.Rewound{To: 1}), say(answer("whole"))},
			[]string{"I prompt:submit  hi", "I execution:start skein", `I llm:request   {"attempt":1}`, `E provider:error   {"error":{"message":"cut"}}`, "I content_block:end  half", `I context:rewind   {"to":1}`, "I content_block:end  whole", "I execution:end skein", "I prompt:complete  whole"},
		},
		"left unanswered": {
			[]skein.Event{say(skein.UserSays("hi")), step(skein.Step{Phase: "start"}), program(skein.KindEnded, "error")},
			[]string{"I prompt:submit  hi", "I execution:start skein", "I llm:request", "I execution:end skein", `E prompt:complete   {"status":"error"}`, `E session:end   {"program":"skein chat","how":"error"}`},
		},
		"a delegate, and no": {
			[]skein.Event{say(skein.UserSays("hi")), say(hand), tool(skein.ToolState{Call: "c1", State: skein.Running}), tool(skein.ToolState{Call: "c1", State: skein.Running, Child: "kid"}), tool(skein.ToolState{Call: "c1", State: skein.Failed, Child: "kid"}), say(no)},
			[]string{"I prompt:submit  hi", "I execution:start skein", `I tool:pre skein  {"tool_call_id":"c1"}`, `I task:agent_spawned skeindigger  {"tool_call_id":"c1","child_session":"kid"}`, `E tool:error skein no {"tool_call_id":"c1"}`},
		},
		"a call that nobody knows of": {
			[]skein.Event{say(skein.UserSays("hi")), say(hand), tool(skein.ToolState{Call: "c1", State: skein.Running}), tool(skein.ToolState{Call: "c1", State: skein.Uncertain})},
			[]string{"I prompt:submit  hi", "I execution:start skein", `I tool:pre skein  {"tool_call_id":"c1"}`, `E tool:error skein  {"tool_call_id":"c1","status":"uncertain"}`},
		},
		"another agent": {
			[]skein.Event{skein.NewEvent(skein.KindChanged, noon, skein.Changed{Agent: &reviewer}), say(skein.UserSays("hi")), say(answer("yo"))},
			[]string{`I session:config   {"agent":"reviewer"}`, `I prompt:submit  hi {"agent":"reviewer"}`, "I execution:start reviewer", "I content_block:end  yo", "I execution:end reviewer", "I prompt:complete  yo"},
		},
		"what programs say": {
			[]skein.Event{say(skein.Message{Role: skein.RoleSystem, Parts: []skein.Part{skein.TextPart("be good")}}), say(skein.Message{Role: skein.RoleSteer, Parts: []skein.Part{skein.TextPart("left!")}}), program(skein.KindResumed, "")},
			[]string{`I context:include   {"role":"system","text":"be good"}`, `I prompt:steer   {"text":"left!"}`, `I session:resume   {"program":"skein chat"}`},
		},
		"notes and strangers": {[]skein.Event{
			raw("noted", `{"name":"hook","level":"error","data":[1,2]}`), raw("noted", `{"name":"x","data":{"a":`+"\n"+`1.50}}`),
			raw("unheard-of", `{"b":"<&>"}`), raw("said", `{"role":7}`), sessionlog.ClearedEvent(noon),
		}, []string{`E hook   {"value":[1,2]}`, `I x   {"a":1.50}`, `I skein:unheard-of   {"b":"<&>"}`, `W skein:said   {"role":7}`}},
	} {
		if got := linesOf(t, c.events...); !slices.Equal(got, c.want) {
			t.Errorf("%s makes\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// raw returns an event with this payload, byte for byte.
func raw(kind skein.Kind, payload string) skein.Event {
	return skein.Event{Kind: kind, Time: noon, Payload: []byte(payload)}
}
