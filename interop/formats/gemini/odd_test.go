package gemini

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

func TestOddValuesAreKept(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000)
	p := newPlace(t)
	p.write(docName, doc(
		`{"id":"a/../..","type":"user","content":"x"}`,
		`{"id":"b\u0000\n","type":"user","content":[{"text":5},7,null,{"text":"\ud800","text":"last"}]}`,
		`{"type":"gemini","content":{"text":"alone"},"tokens":{"input":1e400,"output":-5,"cached":"x"},"toolCalls":[1,{"name":"f","args":`+deep+`,"status":"odd"}]}`,
		`{"id":"d","type":7,"content":null}`,
		`[1]`,
	))
	rep := p.load()
	if rep.Damaged != 1 || rep.Messages != 3 {
		t.Errorf("Import = %+v, want 3 messages and the list as damaged", rep)
	}
	if got, want := p.shown("s1"), "user: x\nuser: 7\nuser: last"; !strings.Contains(got, "user: last") || !strings.Contains(got, "alone") {
		t.Errorf("a model is shown\n%s\nwant also\n%s", got, want)
	}
	for _, e := range p.events("s1") {
		if !json.Valid(e.Payload) {
			t.Errorf("event %d: payload %.100s is no JSON", e.Seq, e.Payload)
		}
	}
}

func TestACallThatStandsTwiceInAMessageIsNoAmendment(t *testing.T) {
	call := func(out string) string {
		return `{"id":"c","name":"n","status":"success","result":[{"functionResponse":{"id":"c","response":{"output":"` + out + `"}}}]}`
	}
	p := newPlace(t)
	line := `{"id":"g","type":"gemini","content":"x","toolCalls":[` + call("one") + "," + call("two") + "]}\n"
	p.write(docName+"l", `{"sessionId":"s1","projectHash":"x"}`+"\n"+asks+"\n"+line+strings.Replace(line, "two", "three", 1))
	p.load()
	amended := 0
	for _, e := range p.events("s1") {
		if e.Kind == skein.KindAmended {
			amended++
		}
	}
	if amended != 1 {
		t.Errorf("there are %d amended events, want the one of the second answer", amended)
	}
}

func TestWhatFollowsAMessageIsNoPartOfIt(t *testing.T) {
	p := newPlace(t)
	p.write(docName, doc(asks, `{"id":"n","type":"new"} , , garbage`, answers))
	if rep := p.load(); rep.Messages != 1 || rep.Sessions != 1 {
		t.Errorf("Import of a document that breaks off behind its second message = %+v, want the first and a note", rep)
	}
}
