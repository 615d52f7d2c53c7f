package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

func piece(id, text string) skein.Event {
	return skein.Say(noon, skein.Message{ID: id, Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart(text)}})
}

func rewound(to skein.Seq) skein.Event {
	return skein.NewEvent(skein.KindRewound, noon, skein.Rewound{To: to})
}

// The view messages shows what the API returns, without what is marked as rewound:
// for forks, all of it; for a message in pieces, one row.
func TestShellShowsTheConversationAsItIsNow(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	add(t, s, "a", created(), user("one"), piece("p", "first"), piece("p", "first and more"), piece("p", "last"), user("two"), piece("q", "broke"))
	add(t, s, "f", fork("a", 7), user("in f"))
	add(t, s, "a", rewound(6), piece("q", "whole"), rewound(5), user("other"), piece("p", "late"))
	add(t, s, "a", skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 2, Payload: user("one, amended").Payload}))
	add(t, s, "g", fork("f", 8), rewound(5), user("in g"))
	add(t, s, "w", created(), user("stays"), user("goes"), skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 3, Withdrawn: true}))
	for id, want := range map[skein.SessionID]string{
		"a": "[user|one, amended assistant|first and more last late user|other]",
		"f": "[user|one assistant|first and more last user|two assistant|broke user|in f]",
		"g": "[user|one assistant|first and more last user|in g]",
		"w": "[user|stays]",
	} {
		if got := fmt.Sprint(said(t, name, string(id))); got != want {
			t.Errorf("the shell shows of %s %s, want %s", id, got, want)
		}
		es, err := s.Newest(t.Context(), id, 100, 0)
		n := 0
		for _, e := range es {
			if !e.Rewound {
				n++
			}
		}
		x, serr := s.Session(t.Context(), id)
		if err != nil || serr != nil || x.Messages != n {
			t.Errorf("%s counts %d messages, and %d stand (%v, %v)", id, x.Messages, n, err, serr)
		}
		if got := shell(t, name, "SELECT count(*) FROM messages WHERE session_id = '"+string(id)+"';"); got != fmt.Sprint(n) {
			t.Errorf("the shell counts %s messages of %s, want %d", got, id, n)
		}
	}
}

// What was undone is deleted with the last live message, and what a fork shows
// of its parent stays the parent's.
func TestShellDeletesWhatWasUndoneToo(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	add(t, s, "a", created(), user("one word"), piece("p", "first word"), piece("p", "second word"), user("undone word"), rewound(4), user("new word"))
	add(t, s, "f", fork("a", 4), user("own word"), rewound(4), user("other word"))
	shell(t, name, "DELETE FROM messages WHERE session_id = 'f';")
	if got := fmt.Sprint(said(t, name, "f"), said(t, name, "a")); got != "[user|one word assistant|first word second word] [user|one word assistant|first word second word user|new word]" {
		t.Errorf("after the fork's messages were deleted the shell shows %s", got)
	}
	shell(t, name, "DELETE FROM sessions WHERE id = 'f'; DELETE FROM messages WHERE session_id = 'a';")
	if got := shell(t, name, "SELECT count(*) FROM events WHERE text LIKE '%word%'; SELECT messages, turns FROM sessions;"); got != "0\n0|0" {
		t.Errorf("after all messages were deleted texts, messages and turns are %q, want none", got)
	}
}

// A message that broke off is marked, unless more of it came later.
func TestShellMarksWhatBrokeOff(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	broke := func(id, text string, more ...skein.Part) skein.Event {
		return skein.Say(noon, skein.Message{ID: id, Role: skein.RoleAssistant, Interrupted: true, Parts: append([]skein.Part{skein.TextPart(text)}, more...)})
	}
	add(t, s, "a", created(), user("one"), broke("", "half an"), user("two"), broke("p", "half"), piece("p", "half and half"), user("three"), broke("q", "a\x00b"),
		broke("", "I do", skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: "c", Name: "ls", Input: []byte(`{"n":1.50}`)}}), user("four"))
	add(t, s, "a", skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 10, Payload: broke("", "fo").Payload}))
	want := strings.Join([]string{
		"half an", "a", "I do\nls", "fo",
		`{"type":"message","role":"assistant","content":"half an","status":"incomplete"}`,
		`{"type":"message","role":"assistant","content":"a\u0000b","status":"incomplete"}`,
		`{"type":"message","role":"assistant","content":"I do","status":"incomplete"}`,
		`{"type":"function_call","call_id":"c","name":"ls","arguments":"{\"n\":1.50}","status":"incomplete"}`,
		`{"type":"message","role":"assistant","content":"fo","status":"incomplete"}`, "9",
	}, "\n")
	if got := shell(t, name, "SELECT content FROM messages WHERE interrupted; SELECT item_json FROM items WHERE json_extract(item_json, '$.status') IS NOT NULL; SELECT count(*) FROM items;"); got != want {
		t.Errorf("the shell marks\n%s\nwant\n%s", got, want)
	}
}

// A piece is live unless a later one repeats it: calls are compared by their IDs,
// whatever their words, and texts by their kind.
func TestShellShowsEveryCallOfAMessageInPieces(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	part := func(p skein.Part) skein.Event {
		return skein.Say(noon, skein.Message{ID: "p", Role: skein.RoleAssistant, Parts: []skein.Part{p}})
	}
	call := func(id, input string) skein.Event {
		return part(skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: "read", Input: []byte(input)}})
	}
	add(t, s, "a", created(), user("go"), part(skein.Part{Kind: skein.PartReasoning, Text: "hm"}), piece("p", "hm, so"),
		call("c1", `{"path":"a.go","from":1}`), call("c1", `{"path":"a.go","from":1}`), call("c2", `{"path":"a.go","from":2}`))
	want := strings.Join([]string{
		`{"type":"message","role":"user","content":"go"}`,
		`{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}`,
		`{"type":"message","role":"assistant","content":"hm, so"}`,
		`{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"a.go\",\"from\":1}"}`,
		`{"type":"function_call","call_id":"c2","name":"read","arguments":"{\"path\":\"a.go\",\"from\":2}"}`,
	}, "\n")
	if got := shell(t, name, "SELECT item_json FROM items ORDER BY id;"); got != want {
		t.Errorf("the items are\n%s\nwant\n%s", got, want)
	}
}

// Items are what OpenAI's Responses API calls items, and Skillet's recipes work
// on them.
func TestShellShowsItems(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	long := strings.Repeat("línea \"x\"\n", 20)
	input := fmt.Sprintf(`{"path":"/a.go","deep":{"old":["é",%[1]s]},"new":%[1]s,"n":1.50,"all":true}`, skein.MustJSON(long))
	answer := skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{
		{Kind: skein.PartReasoning, Text: "hm é"},
		skein.TextPart("I do"),
		{Kind: skein.PartCall, Call: &skein.Call{ID: "c1", Name: "edit", Input: []byte(input)}},
		{Kind: skein.PartCall, Call: &skein.Call{ID: "c2", Name: "ls", Input: []byte(`{}`)}},
	}}
	result := skein.Message{Role: skein.RoleTool, Parts: []skein.Part{
		{Kind: skein.PartResult, Result: &skein.Result{CallID: "c1", Name: "edit", Text: "done " + skein.Text(long)}},
		{Kind: skein.PartResult, Result: &skein.Result{CallID: "c2"}},
	}}
	add(t, s, "a", skein.NewEvent(skein.KindCreated, noon, skein.Created{Key: "k"}), user("go"), skein.Say(noon, answer), skein.Say(noon, result), user("rewound_ranges"), rewound(4))
	add(t, s, "b", created(), user("other"))

	want := []string{
		`{"type":"message","role":"user","content":"go"}`,
		`{"type":"reasoning","summary":[{"type":"summary_text","text":"hm é"}]}`,
		`{"type":"message","role":"assistant","content":"I do"}`,
		`{"type":"function_call","call_id":"c1","name":"edit","arguments":` + string(skein.MustJSON(input)) + `}`,
		`{"type":"function_call","call_id":"c2","name":"ls","arguments":"{}"}`,
		`{"type":"function_call_output","call_id":"c1","name":"edit","output":` + string(skein.MustJSON("done "+long)) + `}`,
		`{"type":"function_call_output","call_id":"c2","name":"","output":""}`,
	}
	if got := shell(t, name, "SELECT item_json FROM items WHERE user_id = 'local' AND session_name = 'k' ORDER BY created_at, id;"); got != strings.Join(want, "\n") {
		t.Errorf("the items are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if got := shell(t, name, "SELECT count(*) FROM items WHERE user_id = 'local';"); got != "8" {
		t.Errorf("there are %s items, want 8", got)
	}
	shell(t, name, "DELETE FROM items WHERE user_id = 'local' AND session_name = 'k';")
	if got := shell(t, name, "SELECT count(*) FROM items; SELECT count(*) FROM events WHERE text IS NOT NULL;"); got != "1\n1" {
		t.Errorf("after a session's items were deleted, items and texts are %q, want one of the other's", got)
	}
}

// For a session four times as long, the shell does about four times the work to
// show or delete it, whether its messages have IDs or not and whether it is a
// fork: writers wait while the shell deletes.
func TestShellWorkGrowsAsTheSessionDoes(t *testing.T) {
	work := func(n int, session, id, sql string) (steps int) {
		name := filepath.Join(t.TempDir(), "x.db")
		s := open(t, name)
		add(t, s, "root", created(), piece("inherited", "text"))
		add(t, s, "fork", fork("root", 2))
		var es []skein.Event
		for i := range n {
			es = append(es, piece(strings.ReplaceAll(id, "N", fmt.Sprint(i)), "text"))
		}
		add(t, s, skein.SessionID(session), es...)
		shut(t, s)
		out := strings.Split(shell(t, name, ".stats vmstep", sql+" WHERE session_id = '"+session+"';"), "\n")
		if _, err := fmt.Sscanf(out[len(out)-1], "VM-steps: %d", &steps); err != nil {
			t.Fatalf("the shell says %q, which ends in no count of steps: %v", out, err)
		}
		return steps
	}
	for _, session := range []string{"root", "fork"} {
		for _, id := range []string{"", "mN"} {
			for _, sql := range []string{"SELECT sum(length(content)) FROM messages", "SELECT sum(length(item_json)) FROM items", "DELETE FROM messages", "DELETE FROM items"} {
				if short, long := work(100, session, id, sql), work(400, session, id, sql); long > 5*short {
					t.Errorf("%s of the %s takes %d steps with 100 messages of ID %q and %d with 400, want about four times as many", sql, session, short, id, long)
				}
			}
		}
	}
}
