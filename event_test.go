package skein_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/eventtest"
	"github.com/skein-dev/skein/llm/window"
)

func TestEventJSONKeepsThePayload(t *testing.T) {
	e := skein.Event{
		Seq: 7, Time: 1795235760123, Kind: "unheard of", ClientID: "c",
		Payload: []byte("{\"z\":1e400,\"a\":\"<\\ud800\u2028&\",\"n\":12345678901234567890}"),
	}
	want := `{"seq":7,"time":"2026-11-21T04:36:00.123Z","kind":"unheard of","client_id":"c","payload":` + string(e.Payload) + `}`
	got, err := e.MarshalJSON()
	if err != nil || string(got) != want {
		t.Errorf("MarshalJSON = %s, %v; want %s", got, err, want)
	}
	var back skein.Event
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, back); diff != "" {
		t.Errorf("event back from JSON (-want +got):\n%s", diff)
	}
	if _, err := json.Marshal(skein.Event{Kind: "x", Payload: []byte("{")}); err == nil {
		t.Error("an event with half an object as its payload became JSON")
	}
}

func TestDecodeNamesTheEvent(t *testing.T) {
	_, err := skein.Decode[skein.Message](skein.Event{Seq: 3, Kind: skein.KindSaid, Payload: []byte(`[]`)})
	if !errors.Is(err, skein.ErrInvalid) || !strings.Contains(fmt.Sprint(err), `event 3 of kind "said"`) {
		t.Errorf("Decode([]) = %v, want an error wrapping ErrInvalid that names event 3 and its kind", err)
	}
}

func TestMessageTyped(t *testing.T) {
	text, fromProgram := skein.TextPart("a"), skein.Part{Kind: skein.PartText, Text: "a", Synthetic: true}
	for _, c := range []struct {
		m    skein.Message
		want bool
	}{
		{skein.UserSays("a"), true},
		{skein.Message{Role: skein.RoleUser, Parts: []skein.Part{eventtest.Result("a", "x")}}, false},
		{skein.Message{Role: skein.RoleUser, Parts: []skein.Part{eventtest.Result("a", "x"), text}}, true},
		{skein.Message{Role: skein.RoleUser, Parts: []skein.Part{fromProgram}}, false},
		{skein.Message{Role: skein.RoleUser, Parts: []skein.Part{text}, Synthetic: true}, false},
		{skein.Message{Role: skein.RoleSteer, Parts: []skein.Part{text}}, false},
		{skein.Message{Role: skein.RoleUser}, false},
	} {
		if got := c.m.Typed(); got != c.want {
			t.Errorf("Typed of %s is %v, want %v", strings.TrimSpace(eventtest.ShowMessage(c.m)), got, c.want)
		}
	}
	m := skein.Message{Parts: []skein.Part{text, fromProgram, {Kind: skein.PartReasoning, Text: "r"}, eventtest.Call("c"), {Kind: skein.PartSummary, Text: "s"}}}
	if got := m.Words(); got != "a\n\ns" {
		t.Errorf("Words() = %q, want %q", got, "a\n\ns")
	}
}

func TestUsage(t *testing.T) {
	u := skein.Usage{Input: 1, Output: 2, Reasoning: 3, CacheRead: 4, CacheWrite: 5, CacheHour: 3, Requests: 6, Reported: 7}
	v := skein.Usage{Input: 10, Output: 20, Reasoning: 30, CacheRead: 40, CacheWrite: 50, CacheHour: 30, Requests: 60, Reported: 70}
	sum := skein.Usage{Input: 11, Output: 22, Reasoning: 33, CacheRead: 44, CacheWrite: 55, CacheHour: 33, Requests: 66, Reported: 77}
	if got := u.Plus(v); got != sum {
		t.Errorf("%+v plus %+v is %+v, want %+v", u, v, got, sum)
	}
	if got := sum.Minus(v); got != u {
		t.Errorf("%+v minus %+v is %+v, want %+v", sum, v, got, u)
	}
	if got := u.Tokens(); got != 1+2+4+5 {
		t.Errorf("%+v has %d tokens, want 12", u, got)
	}
	for _, c := range []struct{ first, then, want skein.Usage }{
		{u, skein.Usage{}, u},
		{skein.Usage{}, u, u},
		{v, u, skein.Usage{Input: 1, Output: 20, Reasoning: 30, CacheRead: 4, CacheWrite: 5, CacheHour: 3, Requests: 60, Reported: 70}},
		{skein.Usage{CacheWrite: 9, CacheHour: 8}, skein.Usage{CacheWrite: 5}, skein.Usage{CacheWrite: 5, CacheHour: 5}},
	} {
		if got := c.first.Merge(c.then); got != c.want {
			t.Errorf("%+v.Merge(%+v) = %+v, want %+v", c.first, c.then, got, c.want)
		}
	}
}

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
	f := eventtest.Facts(t, skein.Say(5, m))
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
		{eventtest.ToolState("c", skein.Failed), skein.Facts{Tool: &skein.ToolState{Call: "c", State: skein.Failed}, Failed: true}},
		{
			skein.NewEvent(skein.KindTitled, 1, skein.Titled{Title: "T", By: skein.ByPerson}),
			skein.Facts{Titled: &skein.Titled{Title: "T", By: skein.ByPerson}, Text: "T", Spans: []skein.Span{{Kind: skein.PartText, End: 1}}},
		},
		{eventtest.Compacted(3, "S"), skein.Facts{Compacted: &skein.Compacted{To: 3, Summary: "S"}, Text: "S", Spans: []skein.Span{{Kind: skein.PartSummary, End: 1}}}},
		{
			skein.NewEvent(skein.KindStep, 9, skein.Step{Phase: "finish", Request: "r", Provider: "p", Model: "m", Usage: &skein.Usage{Input: 2}, Error: &skein.ErrorInfo{}}),
			skein.Facts{
				Step:   &skein.Step{Phase: "finish", Request: "r", Provider: "p", Model: "m", Usage: &skein.Usage{Input: 2}, Error: &skein.ErrorInfo{}},
				Failed: true, Charge: &skein.Charge{Request: "r", Provider: "p", Model: "m", Time: 9, Usage: skein.Usage{Input: 2, Requests: 1}},
			},
		},
		{skein.NewEvent(skein.KindStep, 9, skein.Step{Phase: "start", Usage: &skein.Usage{}}), skein.Facts{Step: &skein.Step{Phase: "start", Usage: &skein.Usage{}}}},
	} {
		if diff := cmp.Diff(c.want, eventtest.Facts(t, c.e)); diff != "" {
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
		return allocated(func() { eventtest.Facts(t, e) })
	}
	if small, big := cost(500), cost(8000); big > 32*small {
		t.Errorf("facts of 500 parts take %d bytes, of 8000 parts %d: more than 32 times as many", small, big)
	}
}

func TestThePayloadOfALongMessageTakesOneCopyOfIt(t *testing.T) {
	for name, text := range map[string]string{
		"without a space":  strings.Repeat("x", 1<<20),
		"all escapes":      strings.Repeat("\"", 1<<20),
		"control":          strings.Repeat("\x01", 1<<20),
		"Chinese":          strings.Repeat("\u6587", 1<<19),
		"lone surrogates":  strings.Repeat("a\xed\xa0\xbd", 1<<18),
		"what is no WTF-8": strings.Repeat("\xff", 1<<20),
	} {
		m := skein.Message{Role: skein.RoleUser, Stop: "end", Parts: []skein.Part{
			skein.TextPart("short"), skein.TextPart(text), {Kind: skein.PartResult, Result: &skein.Result{CallID: "c", Text: skein.Text(text)}},
		}}
		type plain skein.Message // which is written as any other value
		want := skein.MustJSON(plain(m))
		var got skein.Event
		cost := allocated(func() { got = skein.Say(1, m) })
		if string(got.Payload) != string(want) {
			t.Errorf("%s: the payload of a long message is not its JSON", name)
		}
		if most := uint64(len(want) + len(want)/8); cost > most {
			t.Errorf("%s: a payload of %d bytes takes %d bytes, want at most %d", name, len(want), cost, most)
		}
		if len(m.Parts[1].Text) != len(text) || len(m.Parts[2].Result.Text) != len(text) {
			t.Errorf("%s: the message was changed", name)
		}
		quoted := skein.AppendQuoted(nil, text)
		if cost := allocated(func() { skein.Unquote(quoted) }); skein.Text(text).Valid() && cost > uint64(3*len(text)) { // 3: \u0001 may have been \uffff
			t.Errorf("%s: a text of %d bytes takes %d bytes", name, len(text), cost)
		}
	}
}

// allocated returns how many bytes do allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
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

func TestNewSessionIDIsAUUIDv7(t *testing.T) {
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	at := time.UnixMilli(0x0123456789ab)
	seen := map[skein.SessionID]bool{}
	for range 1000 {
		id := skein.NewSessionID(at)
		if !uuid.MatchString(string(id)) || !strings.HasPrefix(string(id), "01234567-89ab-7") || id.Check() != nil {
			t.Fatalf("NewSessionID(%v) = %s, %v; want a UUIDv7 that begins 01234567-89ab", at, id, id.Check())
		}
		if seen[id] {
			t.Fatalf("NewSessionID gave %s twice", id)
		}
		seen[id] = true
	}
	if early, late := skein.NewSessionID(at), skein.NewSessionID(at.Add(time.Millisecond)); early >= late {
		t.Errorf("%s, made before %s, does not sort before it", early, late)
	}
}

func TestSessionIDCheck(t *testing.T) {
	for id, ok := range map[skein.SessionID]bool{
		"a": true, "ses_0123": true, "a b~12": true, "é": true, skein.SessionID(strings.Repeat("x", skein.MaxIDLen)): true,
		"": false, "a/b": false, ".": false, "..": false, "...": true, "a\nb": false, "a\x7f": false, "\xff": false, skein.SessionID(strings.Repeat("x", skein.MaxIDLen+1)): false,
	} {
		if err := id.Check(); (err == nil) != ok || err != nil && !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("SessionID(%q).Check() = %v, want ok: %v", id, err, ok)
		}
	}
}

func TestTimeHasOneShape(t *testing.T) {
	for in, want := range map[string]string{
		"2026-11-21T04:36:00.123Z": "2026-11-21T04:36:00.123Z", "2026-11-21T05:36:00.1239+01:00": "2026-11-21T04:36:00.123Z",
		"2026-11-21T04:36:00Z": "2026-11-21T04:36:00.000Z", "1969-12-31T23:59:59.999Z": "1969-12-31T23:59:59.999Z", "": "",
	} {
		got, err := skein.ParseTime(in)
		if err != nil || got.String() != want {
			t.Errorf("ParseTime(%q) = %s, %v; want %s", in, got, err, want)
		}
		b, err := json.Marshal(got)
		var back skein.Time
		if err != nil || string(b) != `"`+want+`"` || json.Unmarshal(b, &back) != nil || back != got {
			t.Errorf("%#v in JSON is %s, %v, and %#v again", got, b, err, back)
		}
	}
	for _, in := range []string{"yesterday", "2026-11-21", "1795235760"} {
		if _, err := skein.ParseTime(in); !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), in) {
			t.Errorf("ParseTime(%q): %v, want an error wrapping ErrInvalid that names it", in, err)
		}
	}
	if _, err := skein.Time(1 << 60).MarshalText(); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("a time in the year 36 million in JSON: %v, want an error wrapping ErrInvalid", err)
	}
	if skein.At(time.Time{}) != 0 || !skein.Time(0).Std().IsZero() {
		t.Error("the time that is not known is not kept")
	}
}

func TestSlotIsTheQuarterOfAnHour(t *testing.T) {
	for in, want := range map[string]string{
		"2026-11-21T04:36:00.123Z": "2026-11-21T04:30:00.000Z", "2026-11-21T04:30:00Z": "2026-11-21T04:30:00.000Z",
		"1969-12-31T23:59:59Z": "1969-12-31T23:45:00.000Z",
	} {
		at, err := skein.ParseTime(in)
		if got := at.Slot().String(); err != nil || got != want {
			t.Errorf("Slot of %s is %s, want %s", in, got, want)
		}
	}
}

func TestUnquote(t *testing.T) {
	for _, c := range []struct {
		in, want string
		ok       bool
	}{
		{`""`, "", true},
		{`"a\"\\\/\b\f\n\r\té\u00e9\u0000"`, "a\"\\/\b\f\n\r\téé\x00", true},
		{`"\ud83d\ude00"`, "😀", true},
		{`"\ud83d"`, "\xed\xa0\xbd", true},
		{`"\ude00\ud83d"`, "\xed\xb8\x80\xed\xa0\xbd", true},
		{`"\ud83d\ud83d\ude00x"`, "\xed\xa0\xbd😀x", true},
		{"\"\u2028<\"", "\u2028<", true},
		{"\"\xff\"", "\ufffd", true},
		{`"`, "", false},
		{`a`, "", false},
		{`"a"b"`, "", false},
		{`"\x"`, "", false},
		{`"\u12"`, "", false},
		{`"\u+123"`, "", false},
		{`"\`, "", false},
		{`"\"`, "", false},
		{"\"\n\"", "", false},
	} {
		got, ok := skein.Unquote([]byte(c.in))
		if got != c.want || ok != c.ok {
			t.Errorf("Unquote(%s) = %q, %v; want %q, %v", c.in, got, ok, c.want, c.ok)
		}
	}
}

func TestTextKeepsWhatJSONHolds(t *testing.T) {
	for _, c := range []struct{ text, json, utf8 string }{
		{"<b>&\u2028\u2029", "\"<b>&\u2028\u2029\"", "<b>&\u2028\u2029"},
		{"a\"\\\n\r\t\x00\x7f", `"a\"\\\n\r\t\u0000` + "\x7f\"", "a\"\\\n\r\t\x00\x7f"},
		{"x\xed\xa0\xbdy", `"x\ud83dy"`, "x\ufffdy"},
		{"\ufffd", "\"\ufffd\"", "\ufffd"},
	} {
		b, err := json.Marshal(map[string]skein.Text{"k": skein.Text(c.text)})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(skein.AppendQuoted(nil, c.text)); got != c.json {
			t.Errorf("AppendQuoted(%q) = %s, want %s", c.text, got, c.json)
		}
		var back map[string]skein.Text
		if err := json.Unmarshal(b, &back); err != nil || string(back["k"]) != c.text {
			t.Errorf("%q comes back from JSON as %q, %v", c.text, back["k"], err)
		}
		if got := skein.Text(c.text).UTF8(); got != c.utf8 {
			t.Errorf("Text(%q).UTF8() = %q, want %q", c.text, got, c.utf8)
		}
		if !skein.Text(c.text).Valid() {
			t.Errorf("Text(%q).Valid() = false, want true", c.text)
		}
	}
	if skein.Text("a\xff").Valid() {
		t.Error(`Text("a\xff").Valid() = true, want false`)
	}
	var text skein.Text
	if err := json.Unmarshal([]byte("3"), &text); err == nil {
		t.Errorf("Text from 3 = %q, want an error", text)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain", "a\xed\xa0\xbdb", `"\ud83d\ude00"`, `\ud800`, "\x00\"\\\u2028", "\xff\xed\xa0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		roundTrip(t, s)
		// s is what is between the quotes of a JSON string.
		in := `"` + s + `"`
		got, ok := skein.Unquote([]byte(in))
		var want string
		if err := json.Unmarshal([]byte(in), &want); (err == nil) != ok && strings.TrimSpace(in) == in {
			t.Fatalf("Unquote(%q) = %q, %v; encoding/json says %v", in, got, ok, err)
		} else if err == nil && skein.Text(got).UTF8() != want {
			t.Fatalf("Unquote(%q) = %q, encoding/json says %q", in, got, want)
		}
		if ok {
			roundTrip(t, got)
		}
	})
}

func roundTrip(t *testing.T, s string) {
	t.Helper()
	quoted := skein.AppendQuoted(nil, s)
	if !json.Valid(quoted) || !utf8.Valid(quoted) {
		t.Fatalf("AppendQuoted(%q) = %s, which is no JSON", s, quoted)
	}
	back, ok := skein.Unquote(quoted)
	if !ok || skein.Text(s).Valid() && back != s && !strings.Contains(skein.Text(s).UTF8(), "\ufffd\ufffd") {
		t.Fatalf("Unquote(AppendQuoted(%q)) = %q, %v", s, back, ok)
	}
	var std string
	if err := json.Unmarshal(quoted, &std); err != nil || utf8.ValidString(s) && std != s {
		t.Fatalf("encoding/json reads AppendQuoted(%q) as %q, %v", s, std, err)
	}
}

func TestPathsOfAPatchAreFound(t *testing.T) {
	const patch = "*** Begin Patch\n*** Update File: a/b.go\n*** Move to: a/c.go\r\n@@\n-x\n+*** Add File: no\n*** Delete File: d.go\n*** Add File: \n*** End Patch\n"
	for name, c := range map[string]struct {
		input json.RawMessage
		want  []string
	}{
		"text":      {skein.MustJSON(patch), []string{"a/b.go", "a/c.go", "d.go"}},
		"a command": {skein.MustJSON(map[string]any{"command": []string{"apply_patch", patch}}), []string{"a/b.go", "a/c.go", "d.go"}},
		"no patch":  {skein.MustJSON("*** Add File: x\n"), nil},
	} {
		f := eventtest.Facts(t, eventtest.Assistant("", skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: "c", Name: "apply_patch", Input: c.input}}))
		if !slices.Equal(f.Paths, c.want) {
			t.Errorf("FactsOf(%s) finds the paths %q, want %q", name, f.Paths, c.want)
		}
	}
}

// The person took back a question while a tool ran for it. The log keeps all
// of it; the entries say what was rewound; the context leaves it out and has a
// result for the call that never got one.
func ExampleContext() {
	at := skein.Time(1795235760123)
	answer := skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{
		{Kind: skein.PartCall, Call: &skein.Call{ID: "c1", Name: "bash", Input: []byte(`{"command":"make"}`)}},
	}}
	events := []skein.Event{
		skein.NewEvent(skein.KindCreated, at, skein.Created{Key: "cli:api"}),
		skein.Say(at, skein.UserSays("Build it.")),
		skein.Say(at, answer),
		skein.Say(at, skein.UserSays("And paint it blue.")),
		skein.NewEvent(skein.KindRewound, at, skein.Rewound{To: 3}),
		skein.Say(at, skein.UserSays("And test it.")),
	}
	for i := range events {
		events[i].Seq = skein.Seq(i + 1) // a Store does this
	}
	entries, err := skein.Entries(events)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range entries {
		fmt.Println(e.Turn, e.Message.Role, e.Message.Words(), e.Rewound)
	}
	view, err := window.Context(events, window.AnthropicRules("some-model"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range view.Messages {
		fmt.Printf("%s: %d parts\n", m.Role, len(m.Parts))
	}
	fmt.Println(view.Repairs)
	// Output:
	// 1 user Build it. false
	// 1 assistant  false
	// 2 user And paint it blue. true
	// 3 user And test it. false
	// user: 1 parts
	// assistant: 1 parts
	// user: 2 parts
	// [{3 answered call c1}]
}

func TestWhatProgramsWrapIsTakenApart(t *testing.T) {
	for text, want := range map[string]string{
		"fix it":                    "fix it []",
		"":                          " []",
		"<b>bold</b> is no agent's": "<b>bold</b> is no agent's []",
		"<local-command-caveat>Do not answer.</local-command-caveat>":                                                              " [about commands: Do not answer.]",
		"Caveat: The messages below were generated by the user while running local commands. DO NOT respond":                       " [about commands: Caveat: The messages below were generated by the user while running local commands. DO NOT respond]",
		"<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the parser</command-args>": " [command: /review the parser]",
		"<command-name>/clear</command-name>\n <command-message>clear</command-message>\n <command-args></command-args>":           " [command: /clear]",
		"<local-command-stdout></local-command-stdout>":                                                                            " [output of a command]",
		"<environment_context>\n<cwd>/x</cwd>\n</environment_context>":                                                             " [environment: cwd: /x]",
		"<system-reminder>Be brief.</system-reminder>\nfix it":                                                                     "fix it [system reminder: Be brief.]",
		"fix it\n<system-reminder>Be\nbrief.</system-reminder>":                                                                    "fix it [system reminder: Be brief.]",
		"<system-reminder>a</system-reminder> fix <b>it</b>\n<environment_details>\nb\n</environment_details>\n":                   "fix <b>it</b> [system reminder: a|environment: b]",
		"<user_query>fix it</user_query>":                                                                                          "fix it []",
		"<system-reminder> is in my prompt: why?":                                                                                  "<system-reminder> is in my prompt: why? []",
		"<system-reminder>a</system-reminder> what does <skill> do?":                                                               "what does <skill> do? [system reminder: a]",
		"<task-notification>\n<status>completed</status>\n</task-notification>\nRead the output file: /tmp/x":                      " [notification: status: completed; Read the output file: /tmp/x]",
		"<environment_context>cut off":                                                                                             "<environment_context>cut off []",
		"# Context from my IDE setup:\n\n## Open tabs:\n- a.go\n\n## My request for Codex:\nfix it\n":                              "fix it [what the editor shows: ## Open tabs: - a.go]",
		"<bash-input>git status</bash-input>":                                                                                      " [shell command: git status]",
		"<bash-stdout>a.go</bash-stdout><bash-stderr></bash-stderr>":                                                               " [output of a command: a.go]",
		"<bash-stdout></bash-stdout><bash-stderr>no</bash-stderr>":                                                                 " [errors of a command: no]",
		"<bash-stdout></bash-stdout><bash-stderr></bash-stderr>":                                                                   " [output of a command]",
		"<session-start-hook>ready</session-start-hook>":                                                                           " [hook: ready]",
		`<hook_prompt id="1">go</hook_prompt>`:                                                                                     " [hook: go]",
		"# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>be</INSTRUCTIONS>":                                                       " [instructions: # AGENTS.md instructions for /x <INSTRUCTIONS>be</INSTRUCTIONS>]",
		"<environment_context><cwd>/x</cwd>\n<shell>zsh</shell>\n<env a=\"b\"/>\nmore</environment_context>":                       " [environment: cwd: /x; shell: zsh; <env a=\"b\"/> more]",
		"<task-notification><task-id>a</task-id><summary>It is done.</summary></task-notification>\nRead b":                        " [notification: It is done.]",
		"<app-context>a</app-context>\n\n<apps_instructions>b</apps_instructions>":                                                 " [app: a|instructions: b]",
		"<collaboration_mode>Other <collaboration_mode>...</collaboration_mode> messages change it.</collaboration_mode>\n\n<skills_instructions>b</skills_instructions>": " [mode: Other <collaboration_mode>...</collaboration_mode> messages change it.|instructions: b]",
		"<skill>It mentions <skill> once.</skill>\nuse it":                      "use it [skill: It mentions <skill> once.]",
		`<codex_internal_context source="goal">Go on.</codex_internal_context>`: " [goal: Go on.]",
		`<teammate-message teammate_id="lead">Do a.</teammate-message>`:         " [message of an agent: Do a.]",
	} {
		typed, wraps := skein.Unwrap(text)
		var lines []string
		for _, w := range wraps {
			lines = append(lines, w.Line())
		}
		if got := fmt.Sprintf("%s [%s]", typed, strings.Join(lines, "|")); got != want {
			t.Errorf("Unwrap(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestTitlesAreNotMadeOfWhatProgramsWrap(t *testing.T) {
	const caveat = "<local-command-caveat>Caveat: do not answer.</local-command-caveat>"
	s := skein.Session{ID: "s"}
	for i, e := range []skein.Event{
		skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: caveat, Origin: &skein.Origin{Format: "claude-code"}}),
		skein.Say(2, skein.UserSays(caveat)),
		skein.Say(3, skein.UserSays("<system-reminder>x</system-reminder>\nfix the till")),
		skein.Say(4, skein.UserSays("<command-name>/cost</command-name>")),
		skein.NewEvent(skein.KindTitled, 5, skein.Titled{Title: caveat, By: skein.BySource}),
	} {
		f, err := skein.FactsOf(e)
		if err == nil {
			_, err = s.Apply(&e, f, skein.Prior{})
		}
		if err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
	}
	if s.Title != "" || s.First != "fix the till" || s.LastPrompt != "fix the till" {
		t.Errorf("the session is titled %q, begins %q, and was asked last %q; want none, and twice what was typed", s.Title, s.First, s.LastPrompt)
	}
}

// A title that a person gave counts, however it looks.
func TestAPersonsTitleIsNoProgramsWrap(t *testing.T) {
	for _, title := range []string{"<skill> docs", "# AGENTS.md instructions cleanup", "<system-reminder>x</system-reminder>"} {
		for what, evs := range map[string][]skein.Event{
			"renamed by a person": {
				skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: "old", Origin: &skein.Origin{Format: "claude-code"}}),
				skein.NewEvent(skein.KindTitled, 2, skein.Titled{Title: title, By: skein.ByPerson}),
			},
			"begun with it here": {skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: title})},
		} {
			s := skein.Session{ID: "s"}
			for _, e := range evs {
				f, err := skein.FactsOf(e)
				if err == nil {
					_, err = s.Apply(&e, f, skein.Prior{})
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if s.Title != title {
				t.Errorf("%s, the session is called %q, want %q", what, s.Title, title)
			}
		}
	}
}

func TestATitleThatWasCutOffIsAProgramsToo(t *testing.T) {
	for title, want := range map[string]bool{
		"<local-command-caveat>Caveat: The messages below":        true,
		"<command-name>/clear</command-name> <command-mes":        true,
		"<command-name>/clear</command-name> <command-message>cl": true,
		"<task-notification> <task-id>a9cf":                       true,
		"fix the <till>":                                          false,
		"<b>bold":                                                 false,
		"<b":                                                      false,
		"":                                                        false,
	} {
		if got := skein.WrappedTitle(title); got != want {
			t.Errorf("WrappedTitle(%q) = %v, want %v", title, got, want)
		}
	}
}

// What is special is found wherever it is: text is looked through several bytes at a
// time.
func TestQuotedTextIsTheTextInJSON(t *testing.T) {
	for _, special := range []string{"", `"`, `\`, "\n", "\r", "\t", "\x00", "\x1b", "\x1f", " ", "!", "#", "[", "]", "\x7f", "é", "語", "🙂", `"\`, "\n\n", "語\n"} {
		for before := range 20 {
			for after := range 10 {
				text := strings.Repeat("a", before) + special + strings.Repeat("z", after)
				quoted := skein.AppendQuoted([]byte("x"), text)[1:]
				var back string
				if err := json.Unmarshal(quoted, &back); err != nil || back != text {
					t.Fatalf("AppendQuoted(%q) = %s, which is %q (%v)", text, quoted, back, err)
				}
				if back, ok := skein.Unquote(quoted); !ok || back != text {
					t.Fatalf("Unquote(%s) = %q, %v, want %q", quoted, back, ok, text)
				}
			}
		}
	}
	if got := string(skein.AppendQuoted(nil, "\x1b[1m\xff\xed\xa0\x80")); got != "\"\\u001b[1m\ufffd\\ud800\"" {
		t.Errorf("AppendQuoted of an escape, a stray byte and a lone surrogate = %s", got)
	}
}

func TestTheTextOfACallIsItsStringsInOrder(t *testing.T) {
	for _, input := range []string{
		`{}`, `""`, `"one"`, `[]`, `null`, `["one",{"two":"three"},4]`,
		`{"a":"one","b":{"c":["two","",{"d":"three \" \\ \n"}]},"e":true,"f":1.50}`,
		`{ "a" : "one" , "b" : [ "two" , "three" ] }`, "{\n\t\"a\"\r\n:\n\"one\"\n}",
		`{"a\"b":"one","":"two","語":"語"}`, `{"a":"\ud83d\ude42 \ud800 \\"}`, `{"a":":","b":"\":"}`,
		`{"file_path":"/src/a.go","x":["/not/a/path"],"PATH":"b.go"}`,
	} {
		payload := []byte(`{"role":"assistant","parts":[{"kind":"call","call":{"id":"1","name":"","input":` + input + `}}]}`)
		f, err := skein.FactsOf(skein.Event{Kind: skein.KindSaid, Payload: payload})
		if err != nil {
			t.Fatalf("%s: %v", input, err)
		}
		if want := strings.Join(stringsOf(input), "\n"); f.Text != want {
			t.Errorf("the text of a call of %s is %q, want %q", input, f.Text, want)
		}
	}
}

// stringsOf returns the strings in a JSON text that are neither names nor empty.
func stringsOf(text string) (all []string) {
	var walk func(dec *json.Decoder)
	walk = func(dec *json.Decoder) {
		switch tok, _ := dec.Token(); tok := tok.(type) {
		case json.Delim:
			for dec.More() {
				if tok == '{' {
					_, _ = dec.Token()
				}
				walk(dec)
			}
			_, _ = dec.Token()
		case string:
			if tok != "" {
				all = append(all, tok)
			}
		}
	}
	walk(json.NewDecoder(bytes.NewReader([]byte(text))))
	return all
}

// An entry or event is the same JSON in pieces as at once, wherever its long text is
// cut, and no piece is much longer than what a text of a MiB takes.
func TestJSONPiecesAreTheJSON(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("\x01", 1<<20), strings.Repeat("aä€😀\n", 200_000), "x" + strings.Repeat("\xed\xa0\x80", 400_000), strings.Repeat("\x80", 1<<20+9)} {
		m := skein.Message{Role: skein.RoleTool, Parts: []skein.Part{skein.TextPart(text), skein.TextPart("<b>"), {Kind: skein.PartResult, Result: &skein.Result{CallID: "c", Text: skein.Text(text)}}}}
		entry := struct {
			skein.Entry
			More int `json:"more"`
		}{skein.Entry{Seq: 1, Message: m}, 7}
		for _, v := range []any{&entry, skein.Say(1, m), m, 1} {
			var got []byte
			for piece, err := range skein.JSONPieces(v) {
				if err != nil {
					t.Fatal(err)
				}
				if _, whole := v.(*struct {
					skein.Entry
					More int `json:"more"`
				}); whole && len(piece) > 7<<20 {
					t.Errorf("a piece has %d bytes", len(piece))
				}
				got = append(got, piece...)
			}
			if want := []byte(skein.MustJSON(v)); !bytes.Equal(got, want) {
				t.Errorf("%T of a text of %d bytes is %d bytes in pieces, want %d", v, len(text), len(got), len(want))
			}
		}
	}
}
