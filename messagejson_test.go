package skein

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// messages are payloads that the fast way reads, and variations that it must leave to
// encoding/json or read as encoding/json does.
func messages() []string {
	whole := Message{
		ID: "m1", Role: RoleAssistant, Provider: "anthropic", Model: "größer", Agent: "a", Request: "r", Tier: "fast", Stop: "end",
		Usage: &Usage{Input: 1, Output: 1 << 50, Reported: 3}, Error: &ErrorInfo{Kind: "k", Message: "a \"quote\"\n", Status: 529},
		Synthetic: true, Interrupted: true, Meta: json.RawMessage(`{"a":[1,{"b":"}\""}]}`),
		Parts: []Part{
			TextPart("tab\tquote\" back\\ \u2028 <html> é \xed\xa0\x80 end"),
			{Kind: PartReasoning, Text: "t", Raw: json.RawMessage(`[[],{},"x",1.5e3,null]`), Start: 5, End: 1795411200123},
			{Kind: PartCall, Call: &Call{ID: "c", Name: "Bash", Input: json.RawMessage(`{"command":"ls \"a\\\\\" | wc","n":-0.5}`)}},
			{Kind: PartResult, Result: &Result{CallID: "c", Name: "Bash", Text: "out", Failed: true, Files: []File{{Name: "f", Size: 3, First: 1}}, Raw: json.RawMessage(`"s"`)}},
			{Kind: PartFile, File: &File{Blob: "00", Media: "image/png"}, Synthetic: true, Meta: json.RawMessage(`true`)},
		},
	}
	all := []string{string(MustJSON(whole)), `{"role":"user","parts":[]}`, `{"role":"user","parts":[{"kind":"text","text":""}]}`}
	return append(all, []string{
		`{}`, `{"parts":null}`, `null`, `[]`, ``, `{`, `{"role"}`, `{"role":}`, `{"role":"a",}`, `{"role":"a"} `, `{"role":"a"} x`, ` { "role" : "a" , "parts" : [ { "kind" : "text" } , { } ] } `,
		`{"Role":"A"}`, `{"ROLE":"a","role":"b"}`, `{"role":"a","role":"b"}`, `{"r\u006fle":"a"}`, `{"role":"\u0061"}`, `{"role":"a` + "\x01" + `"}`, `{"role":"` + "\xff" + `"}`, `{"role":"\ud800"}`,
		`{"parts":[{"kind":"text","text":"\ud800\udc00 \ud800"}]}`, `{"parts":[{"text":"\x"}]}`, `{"parts":[{"text":"a` + "\n" + `"}]}`, `{"parts":[{"text":null}]}`, `{"parts":[{"text":1}]}`,
		`{"parts":[{"text":"` + "\xff" + `"}]}`, `{"parts":[{"start":"2026-01-02T03:04:05.678Z"}]}`, `{"parts":[{"start":"yesterday"}]}`, `{"parts":[{"start":null}]}`, `{"parts":[{"call":null}]}`,
		`{"parts":[{"call":{"input":{"a":1}}},{"call":{"input":{"a":1]}}]}`, `{"parts":[{"call":{"input":tru}}]}`, `{"parts":[{"call":{"input":01}}]}`, `{"parts":[{"raw":"a\"b\\"},{"raw":  [ 1 ]  }]}`,
		`{"usage":{"input":1.5}}`, `{"usage":{"input":9223372036854775808}}`, `{"usage":{"INPUT":7,"other":{}}}`, `{"usage":null}`, `{"usage":{"input":1},"usage":{"output":2}}`, `{"parts":[{"call":{"id":"a"},"call":{"name":"b"}}]}`, `{"parts":[{"kind":"a","text":"b"}],"parts":[{"kind":"c"}]}`, `{"usage":{"input":01}}`, `{"usage":{"input":-1}}`, `{"usage":{"input":1e3}}`, `{"usage":{"input":}}`, `{"usage":{"input":0,"output":999999999999999999}}`, `{"error":{"message":"\ud800"}}`, `{"synthetic":trueX}`, `{"synthetic":1}`, `{"synthetic":false}`,
		`{"meta":null}`, `{"meta": {"a" : 1} }`, `{"other":1}`, `{"parts":[{"other":[]}]}`, `{"parts":{}}`, `{"parts":[,]}`, `{"parts":[{}{}]}`, `{"parts":[{},]}`, `{"parts":[1]}`,
		`{"meta":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999) + `}`, `{"meta":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `}`,
	}...)
}

// sameAsJSON checks that decodeMessage reads nothing that encoding/json reads otherwise.
func sameAsJSON(t *testing.T, payload string) (fast bool) {
	t.Helper()
	got, fast := decodeMessage([]byte(payload))
	if !fast {
		return false
	}
	var want Message
	if err := json.Unmarshal([]byte(payload), &want); err != nil {
		t.Fatalf("decodeMessage(%.200q) succeeds, encoding/json says: %v", payload, err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("decodeMessage(%.200q) is not what encoding/json reads (-want +got):\n%s", payload, d)
	}
	return true
}

func TestDecodeMessageReadsWhatEncodingJSONReads(t *testing.T) {
	for i, payload := range messages() {
		if fast := sameAsJSON(t, payload); !fast && i == 1 {
			t.Errorf("decodeMessage(%q) leaves it to encoding/json", payload)
		}
	}
	// Only the error text of the first one, which has escapes, goes to encoding/json.
	whole := messages()[0]
	if !sameAsJSON(t, whole) {
		t.Errorf("decodeMessage(%q) leaves it to encoding/json", whole)
	}
	for i := range whole {
		sameAsJSON(t, whole[:i])
		sameAsJSON(t, whole[:i]+whole[i+1:])
		for _, c := range []string{" ", "\"", "\\", "}", ",", "0", "\x00"} {
			sameAsJSON(t, whole[:i]+c+whole[i:])
		}
	}
}

func TestAMessageIsWrittenAsEncodingJSONWritesIt(t *testing.T) {
	check := func(m Message) {
		t.Helper()
		if got, want := string(MustJSON(m)), string(mustJSON(m)); got != want {
			t.Fatalf("MustJSON = %q, want %q", got, want)
		}
	}
	check(Message{})
	check(Message{Parts: []Part{}})
	check(Message{Parts: []Part{{}, {Call: &Call{}, Result: &Result{Files: []File{}}, File: &File{}, Raw: json.RawMessage{}}}, Usage: &Usage{}, Error: &ErrorInfo{}})
	check(Message{Meta: json.RawMessage(" { \"a\" : [ 1 , \"<b>\u2028 c\" ] }\n"), Usage: &Usage{1, -2, 3, 4, 5, 6, 7, 8}})
	for _, payload := range messages() {
		var m Message
		if json.Unmarshal([]byte(payload), &m) == nil {
			check(m)
		}
	}
	for c := range rune(0x180) {
		s := "a" + string(c) + "\xffb\u2028\xed\xa0\x80"[:c%8]
		check(Message{ID: s, Role: Role(s), Provider: s, Model: s, Agent: s, Request: s, Tier: s, Stop: s, Parts: []Part{
			{Kind: PartKind(s), Text: Text(s), Call: &Call{ID: s, Name: s}, Result: &Result{CallID: s, Name: s, Text: Text(s), Files: []File{{Name: s}}}, Start: Time(c), End: -Time(c)},
		}})
	}
}

func FuzzDecodeMessage(f *testing.F) {
	for _, payload := range messages() {
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, payload string) { sameAsJSON(t, payload) })
}

func BenchmarkDecodeMessage(b *testing.B) {
	e := Event{Kind: KindSaid, Payload: json.RawMessage(messages()[0])}
	b.SetBytes(int64(len(e.Payload)))
	for b.Loop() {
		if _, err := Decode[Message](e); err != nil {
			b.Fatal(err)
		}
	}
}
