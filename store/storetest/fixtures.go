package storetest

import (
	"encoding/json"
	"fmt"

	"github.com/skein-dev/skein"
)

// noon is the time at which the fixtures begin: 2026-05-04T12:00:00Z.
const noon skein.Time = 1777896000000

const second skein.Time = 1000

// created returns the first event of a session without a name.
func created() skein.Event { return begin(skein.Created{}) }

func begin(c skein.Created) skein.Event { return skein.NewEvent(skein.KindCreated, noon, c) }

// fork returns the first event of a fork of id at seq.
func fork(id skein.SessionID, seq skein.Seq) skein.Event {
	return begin(skein.Created{Parent: &skein.Parent{Session: id, Seq: seq, Why: skein.Fork}})
}

// child returns the first event of a session that id's delegation started.
func child(id skein.SessionID) skein.Event {
	return begin(skein.Created{Parent: &skein.Parent{Session: id, Why: skein.Child, Call: "c1"}})
}

// user returns an event in which a person said text.
func user(text string) skein.Event { return skein.Say(noon+second, skein.UserSays(text)) }

// answered returns an event in which a model said text.
func answered(text string) skein.Event {
	return skein.Say(noon+2*second, skein.Message{Role: skein.RoleAssistant, Model: "some-model", Provider: "vendor", Parts: []skein.Part{skein.TextPart(text)}})
}

// titled returns the event in which a person set a title.
func titled(title string) skein.Event {
	return skein.NewEvent(skein.KindTitled, noon+3*second, skein.Titled{Title: title, By: skein.ByPerson})
}

func changed(c skein.Changed) skein.Event { return skein.NewEvent(skein.KindChanged, noon+3*second, c) }

func noted(name string) skein.Event {
	return skein.NewEvent(skein.KindNoted, noon, skein.Noted{Name: name})
}

// paid returns an answer in a request that cost u.
func paid(request string, at skein.Time, model string, u skein.Usage) skein.Event {
	m := skein.Message{Role: skein.RoleAssistant, Provider: "vendor", Model: model, Request: request, Usage: &u, Parts: []skein.Part{skein.TextPart("paid")}}
	return skein.Say(at, m)
}

// ran returns a message with the call of a tool and a message with its result.
func ran(tool, call, input, output string, failed ...string) []skein.Event {
	return []skein.Event{
		skein.Say(noon+2*second, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{
			{Kind: skein.PartCall, Call: &skein.Call{ID: call, Name: tool, Input: json.RawMessage(input)}},
		}}),
		skein.Say(noon+3*second, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{
			{Kind: skein.PartResult, Result: &skein.Result{CallID: call, Name: tool, Text: skein.Text(output), Failed: len(failed) > 0}},
		}}),
	}
}

// shows returns an event in which a file with the blob b was attached.
func shows(name string, b skein.Blob) skein.Event {
	return skein.Say(noon+second, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{
		{Kind: skein.PartFile, File: &skein.File{Name: name, Blob: b.Hash, Size: int64(len(b.Data))}},
	}})
}

// id gives e a client ID.
func id(client string, e skein.Event) skein.Event {
	e.ClientID = skein.ClientID(client)
	return e
}

// some returns n messages of a conversation.
func some(n int) (evs []skein.Event) {
	for i := range n {
		e := user(fmt.Sprintf("question %d", i/2))
		if i%2 == 1 {
			e = answered(fmt.Sprintf("answer %d", i/2))
		}
		e.Time = noon + skein.Time(i)*second
		evs = append(evs, e)
	}
	return evs
}

// everything returns one event of each kind, with all fields of the kind set.
func everything() []skein.Event {
	no, yes := "", true
	tags := []string{"b", "a", "b"}
	parts := []skein.Part{
		{Kind: skein.PartReasoning, Text: "hm", Raw: json.RawMessage(`{"signature":"x"}`)},
		{Kind: skein.PartText, Text: "see\u2028here", Start: noon, End: noon + 1, Meta: json.RawMessage(`[1]`), Synthetic: true},
		{Kind: skein.PartCall, Call: &skein.Call{ID: "c1", Name: "shell", Input: json.RawMessage(`{"z":1,"a":[null,1e3,"<&>"],"path":"/src/a b.go"}`)}},
		{Kind: skein.PartOther, Raw: json.RawMessage(`{"type":"from the future"}`)},
	}
	return []skein.Event{
		begin(skein.Created{
			Title: "Zürich 東京 \x00 \"quoted\"", Surface: "cli", Project: "/src/api", Cwd: "/src/api/x", Agent: "reviewer", Profile: "p",
			Provider: "vendor", Model: "some-model", Origin: &skein.Origin{Format: "codex", Path: "/x/y.jsonl", ID: "77", Version: "1.2"},
			Config: json.RawMessage(`{"b":1,"a":2}`), Program: "skein", Version: "0.1",
		}),
		user("look"),
		skein.Say(noon+1234, skein.Message{
			ID: "m1", Role: skein.RoleAssistant, Parts: parts, Provider: "vendor", Model: "other-model", Agent: "sub", Request: "r1",
			Usage: &skein.Usage{Input: 1, Output: 2, Reasoning: 1, CacheRead: 3, CacheWrite: 4, Reported: 5}, Stop: "tool_use",
			Error: &skein.ErrorInfo{Kind: "overloaded", Message: "busy", Status: 529}, Interrupted: true, Meta: json.RawMessage(`{}`),
		}),
		skein.NewEvent(skein.KindTool, noon, skein.ToolState{Call: "c1", State: skein.Running, Title: "ls", Start: noon, Child: "kid"}),
		skein.Say(noon-3600*second, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{
			{Kind: skein.PartResult, Result: &skein.Result{CallID: "c1", Text: "no\nsuch file", Failed: true}},
		}}),
		skein.NewEvent(skein.KindTool, noon, skein.ToolState{Call: "c2", State: skein.Uncertain}),
		skein.NewEvent(skein.KindStep, noon, skein.Step{Phase: "finish", Request: "r1", Model: "other-model", Provider: "vendor", Usage: &skein.Usage{Input: 1, Output: 9}}),
		titled("by hand"),
		skein.NewEvent(skein.KindTitled, noon, skein.Titled{Title: "by machine", By: skein.ByModel}),
		changed(skein.Changed{Key: &no, Pinned: &yes, Tags: &tags}),
		skein.NewEvent(skein.KindCompacted, noon, skein.Compacted{To: 3, Summary: "a summary", Before: 100, After: 10, Trigger: "auto"}),
		skein.NewEvent(skein.KindRewound, noon, skein.Rewound{To: 5}),
		skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 2, Payload: skein.MustJSON(skein.UserSays("look again"))}),
		skein.NewEvent(skein.KindResumed, noon, skein.Program{Program: "skein", Host: "h"}),
		skein.NewEvent(skein.KindEnded, noon, skein.Program{How: "done"}),
		skein.NewEvent(skein.KindNoted, noon, skein.Noted{Name: "x", Level: "info", Data: json.RawMessage(`{"k":[]}`)}),
		{Kind: "from-the-future", Time: 0, Payload: json.RawMessage(`{ "a" : "\ud800\u0000", "a": 1.10 }`)},
	}
}
