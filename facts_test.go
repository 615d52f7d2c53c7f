package skein_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
)

func TestFactsOfAMessage(t *testing.T) {
	m := skein.Message{
		ID: "m", Role: skein.RoleAssistant, Provider: "p", Model: "x", Usage: &skein.Usage{Output: 3},
		Parts: []skein.Part{
			skein.TextPart("hello\xed\xa0\x80"),
			{Kind: skein.PartReasoning, Text: "hm"},
			{Kind: skein.PartCall, Call: &skein.Call{ID: "c1", Name: "Edit", Input: []byte(`{"file_path":"/a/b.go","edits":[{"old":"x","n":1,"new":"y"}],"deep":{"path":"c.go","k":null},"Filename":"two\nlines","last":"z"}`)}},
			{Kind: skein.PartCall, Call: &skein.Call{ID: "c2", Name: "Say", Input: []byte(`"just text"`)}},
			{Kind: skein.PartResult, Result: &skein.Result{CallID: "c1", Name: "Edit", Text: "done", Failed: true, Files: []skein.File{{Name: "r.png", Blob: "11"}}}},
			{Kind: skein.PartFile, File: &skein.File{Name: "f.pdf", Blob: "22"}},
			{Kind: skein.PartText},
		},
		Error: &skein.ErrorInfo{Message: "overloaded"},
	}
	f := facts(t, skein.Say(5, m))
	wantText := "hello\ufffd\nhm\nEdit\n/a/b.go\nx\ny\nc.go\ntwo\nlines\nz\nSay\njust text\ndone\nr.png\nf.pdf\noverloaded"
	if diff := cmp.Diff(wantText, f.Text); diff != "" {
		t.Errorf("Text (-want +got):\n%s", diff)
	}
	var spans strings.Builder
	for _, s := range f.Spans {
		spans.WriteString(string(s.Kind) + ":" + f.Text[s.Start:s.End] + "|")
	}
	wantSpans := "text:hello\ufffd|reasoning:hm|call:Edit|call:/a/b.go|call:x|call:y|call:c.go|call:two\nlines|call:z|call:Say|call:just text|result:done|file:r.png|file:f.pdf|other:overloaded|"
	if diff := cmp.Diff(wantSpans, spans.String()); diff != "" {
		t.Errorf("Spans (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"Role", f.Role, skein.RoleAssistant},
		{"Tools", f.Tools, []string{"Edit", "Say", "Edit"}},
		{"Calls", f.Calls, []string{"c1", "c2"}},
		{"Answer", f.Answer, []string{"c1"}},
		{"Failed", f.Failed, true},
		{"Paths", f.Paths, []string{"/a/b.go", "c.go", "r.png", "f.pdf"}},
		{"Blobs", f.Blobs, []skein.Hash{"11", "22"}},
		{"Charge", f.Charge, &skein.Charge{Request: "m", Provider: "p", Model: "x", Time: 5, Usage: skein.Usage{Output: 3, Requests: 1}}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
	}
}

func TestFactsOfOtherEvents(t *testing.T) {
	for _, c := range []struct {
		e    skein.Event
		want skein.Facts
	}{
		{skein.NewEvent("unheard of", 1, struct{ Text string }{"a"}), skein.Facts{}},
		{skein.NewEvent(skein.KindNoted, 1, skein.Noted{Name: "a"}), skein.Facts{}},
		{toolState("c", skein.Failed), skein.Facts{Tool: &skein.ToolState{Call: "c", State: skein.Failed}, Failed: true}},
		{
			skein.NewEvent(skein.KindTitled, 1, skein.Titled{Title: "T", By: skein.ByPerson}),
			skein.Facts{Titled: &skein.Titled{Title: "T", By: skein.ByPerson}, Text: "T", Spans: []skein.Span{{Kind: skein.PartText, End: 1}}},
		},
		{compacted(3, "S"), skein.Facts{Compacted: &skein.Compacted{To: 3, Summary: "S"}, Text: "S", Spans: []skein.Span{{Kind: skein.PartSummary, End: 1}}}},
		{
			skein.NewEvent(skein.KindStep, 9, skein.Step{Phase: "finish", Request: "r", Provider: "p", Model: "m", Usage: &skein.Usage{Input: 2}, Error: &skein.ErrorInfo{}}),
			skein.Facts{Failed: true, Charge: &skein.Charge{Request: "r", Provider: "p", Model: "m", Time: 9, Usage: skein.Usage{Input: 2, Requests: 1}}},
		},
		{skein.NewEvent(skein.KindStep, 9, skein.Step{Phase: "start", Usage: &skein.Usage{}}), skein.Facts{}},
	} {
		if diff := cmp.Diff(c.want, facts(t, c.e)); diff != "" {
			t.Errorf("FactsOf(%s) (-want +got):\n%s", c.e.Kind, diff)
		}
	}
}

func TestFactsOfRefusesWhatDoesNotFitTheKind(t *testing.T) {
	raw := func(kind skein.Kind, payload string) skein.Event {
		return skein.Event{Kind: kind, Payload: []byte(payload)}
	}
	long := "k" + strings.Repeat("e", 200)
	for _, c := range []struct {
		e    skein.Event
		want string // in the error
	}{
		{raw("", "{}"), "kind"},
		{raw(skein.Kind(long), "{}"), "kind"},
		{raw("x", ""), "JSON object"},
		{raw("x", "[]"), "JSON object"},
		{raw("x", " {}"), "JSON object"},
		{raw("x", "{} {}"), "JSON object"},
		{raw("x", strings.Repeat(`{"a":`, 20000)+"1"+strings.Repeat("}", 20000)), "JSON object"},
		{skein.Event{Kind: "x", Payload: make([]byte, skein.MaxPayload+1)}, "bytes"},
		{skein.Event{Kind: "x", Payload: []byte("{}"), ClientID: skein.ClientID(long)}, "client ID"},
		{raw(skein.KindSaid, `{"role":""}`), "no role"},
		{raw(skein.KindSaid, `{"role":"user","parts":[{}]}`), "part 0 has no kind"},
		{raw(skein.KindSaid, `{"role":"user","parts":[{"kind":"call"}]}`), `part 0 of kind "call"`},
		{raw(skein.KindSaid, `{"role":"user","parts":[{"kind":"result"}]}`), "result"},
		{raw(skein.KindSaid, `{"role":"user","parts":[{"kind":"file"}]}`), "file"},
		{raw(skein.KindSaid, `{"role":"user","parts":"text"}`), "payload"},
		{raw(skein.KindTool, `{"state":"running"}`), "no call"},
		{raw(skein.KindChanged, `{"key":"a\u0007"}`), "key"},
		{raw(skein.KindRewound, `{"to":"x"}`), "payload"},
	} {
		if _, err := skein.FactsOf(c.e); !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("FactsOf(%.20q %.60q) = %.300v, want an error wrapping ErrInvalid with %q in it", c.e.Kind, c.e.Payload, err, c.want)
		}
	}
}

// Twice the parts take about twice the memory: the text is put together once.
func TestFactsOfManyPartsIsNotQuadratic(t *testing.T) {
	cost := func(parts int) uint64 {
		m := skein.Message{Role: skein.RoleUser}
		for range parts {
			m.Parts = append(m.Parts, skein.TextPart(strings.Repeat("x", 100)))
		}
		e := skein.Say(1, m)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		facts(t, e)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, big := cost(500), cost(8000); big > 32*small {
		t.Errorf("facts of 500 parts take %d bytes, of 8000 parts %d: more than 32 times as many", small, big)
	}
}

func TestAPayloadThatIsNoJSONIsInvalidInEveryKind(t *testing.T) {
	kinds := []skein.Kind{
		skein.KindCreated, skein.KindSaid, skein.KindTool, skein.KindStep, skein.KindTitled, skein.KindChanged, skein.KindCompacted, skein.KindRewound, skein.KindResumed, skein.KindEnded, skein.KindAmended, skein.KindNoted, "of tomorrow",
	}
	for _, k := range kinds {
		for _, payload := range []string{``, `[]`, `null`, `{`, `{"seq":1,}`, `{"a":1}{}`, `{"a":1} x`, "{\"a\":\"\x01\"}"} {
			if _, err := skein.FactsOf(skein.Event{Kind: k, Payload: []byte(payload)}); !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), "not a JSON object") {
				t.Errorf("FactsOf(%s %q) = %v, want ErrInvalid: not a JSON object", k, payload, err)
			}
		}
	}
}
