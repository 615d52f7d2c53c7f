package gemini

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

const (
	head   = `{"sessionId":"s1","projectHash":"x","startTime":"2026-05-01T00:00:00.000Z","kind":"main"}`
	opens1 = `{"id":"o1","timestamp":"2026-05-01T00:00:01.000Z","type":"user","content":[{"text":"<session_context>\nToday is Monday.\n</session_context>"}]}`
	opens2 = `{"id":"o2","timestamp":"2026-05-02T00:00:01.000Z","type":"user","content":[{"text":"<session_context>\nToday is Tuesday.\n</session_context>"}]}`
	first  = `{"functionResponse":{"id":"c1","name":"read_file","response":{"output":"one"}}}`
	second = `{"functionResponse":{"id":"c2","name":"read_file","response":{"output":"two"}}}`
)

// reads is a message with two calls at once; each has what results says of it.
func reads(results1, results2 string) string {
	return `{"id":"g1","type":"gemini","content":"I read.","toolCalls":[` +
		`{"id":"c1","name":"read_file","args":{"p":1},"status":"success","result":[` + results1 + `]},` +
		`{"id":"c2","name":"read_file","args":{"p":2},"status":"success","result":[` + results2 + `]}]}`
}

func jsonl(ls ...string) string { return strings.Join(ls, "\n") + "\n" }

func TestAResumedSessionKeepsEachCallsResult(t *testing.T) {
	p := newPlace(t)
	was := jsonl(head, opens1, asks, reads(first, second))
	p.write(docName+"l", was)
	p.load()
	want := p.shown("s1")
	both := first + "," + second
	p.write(docName+"l", was+jsonl(`{"$set":{"messages":[`+opens1+`,`+asks+`,`+reads(both, both)+`]}}`))
	if rep := p.load(); rep.Amended != 0 {
		t.Errorf("Import of a session that was resumed = %+v, want nothing amended", rep)
	}
	if got := p.shown("s1"); got != want || !strings.Contains(got, "-> one") || !strings.Contains(got, "-> two") {
		t.Errorf("after it was resumed a model is shown\n%s\nwant\n%s", got, want)
	}
}

func TestTheContextAtTheStartIsNoCompaction(t *testing.T) {
	for name, kept := range map[string]string{"where the one before was kept": opens1, "where none was": ""} {
		p := newPlace(t)
		was := []string{head}
		if kept != "" {
			was = append(was, kept)
		}
		was = append(was, asks, answers, `{"$set":{"messages":[`+opens2+`,`+asks+`,`+answers+`]}}`, `{"id":"u2","type":"user","content":"and?"}`)
		p.write(docName+"l", jsonl(was...))
		p.load()
		for _, e := range p.events("s1") {
			if e.Kind == skein.KindCompacted || e.Kind == skein.KindRewound {
				t.Errorf("%s: event %d is %s", name, e.Seq, e.Kind)
			}
		}
		got := p.shown("s1")
		if !strings.HasSuffix(got, "user: ask\nassistant: say\nuser: and?") || strings.Contains(got, "Monday") || kept != "" && !strings.Contains(got, "Tuesday") {
			t.Errorf("%s a model is shown\n%s", name, got)
		}
		if s := p.session("s1"); s.Turns != 2 {
			t.Errorf("%s it has %d turns, want 2", name, s.Turns)
		}
	}
}

func TestAStartWithoutAConversationIsNoSession(t *testing.T) {
	p := newPlace(t)
	notice := `{"id":"i1","type":"info","content":"Update available"}`
	p.write("tmp/pear/chats/session-1.jsonl", jsonl(head, opens1, notice, `{"$set":{"directories":["/home/ada"]}}`))
	p.write(docName, doc(opens1, notice))
	if rep := p.load(); rep.Sessions != 0 || rep.Damaged != 0 {
		t.Errorf("Import of starts without a conversation = %+v, want no session", rep)
	}
	p.write("tmp/pear/chats/session-1.jsonl", jsonl(head, opens1, notice, asks, answers))
	if rep := p.load(); rep.Sessions != 1 {
		t.Errorf("Import when one has begun = %+v, want a session", rep)
	}
	if got := p.shown("s1"); !strings.HasSuffix(got, "user: ask\nassistant: say") || !strings.Contains(got, "Monday") {
		t.Errorf("a model is shown\n%s", got)
	}
}

// Each resume of Gemini CLI 0.61 leaves a file with the session's ID and nothing but the
// context, and goes on in the session's own.
func TestAResumeLeavesNoSessionBehind(t *testing.T) {
	p := newPlace(t)
	p.write(docName+"l", jsonl(head, `{"$set":{"messages":[`+opens1+`]}}`, asks, answers))
	p.load()
	p.write(strings.TrimSuffix(docName, ".json")+"-2.jsonl", jsonl(head, `{"$set":{"messages":[`+opens2+`],"lastUpdated":"2026-05-02T00:00:01.000Z"}}`))
	p.load()
	for s, err := range p.store.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil || s.ID != "s1" {
			t.Errorf("a session that was resumed is also session %s, %v", s.ID, err)
		}
	}
	for _, e := range p.events("s1") {
		if e.Kind == skein.KindCompacted {
			t.Errorf("the context that the program sends at its start is a compaction: event %d, %s", e.Seq, e.Payload)
		}
	}
}
