package appends

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func exactly() []harness.Check {
	return []harness.Check{
		{Name: "every kind, field for field", Run: everyKind},
		{Name: "whatever JSON can hold", Run: oddPayloads},
		{Name: "kinds and fields of the future", Run: futureKinds},
		{Name: "a message of 64 MB", Run: bigMessage},
		{Name: "parts of every size", Run: partSizes},
		{Name: "any time", Run: oddTimes},
		{Name: "more than one message can hold is refused", Run: tooLong},
	}
}

// wantBack appends evs to a new session and checks that they come back
// unchanged.
func wantBack(t *harness.Test, id skein.SessionID, evs ...skein.Event) {
	t.Helper()
	t.Add(id, fixture.Created())
	t.Add(id, evs...)
	for i, got := range t.Events(id)[1:] {
		want := evs[i]
		if got.Seq != skein.Seq(i+2) || got.Time != want.Time || got.Kind != want.Kind || got.ClientID != want.ClientID || !bytes.Equal(got.Payload, want.Payload) {
			t.Errorf("event %d came back as %d %v %s %s %.200q\nwant %v %s %s %.200q", i+2, got.Seq, got.Time, got.Kind, got.ClientID, got.Payload,
				want.Time, want.Kind, want.ClientID, want.Payload)
		}
	}
}

func everyKind(t *harness.Test) {
	evs := fixture.Everything()
	for i := range evs {
		evs[i].ClientID = skein.ClientID(fmt.Sprint("a/b ", i))
	}
	t.Add("a", evs...)
	for i, e := range t.Events("a") {
		evs[i].Seq = skein.Seq(i + 1)
		harness.Equal(t, "event", e, evs[i])
	}
}

func oddPayloads(t *harness.Test) {
	var evs []skein.Event
	for _, text := range []string{
		`"NUL \u0000 in it"`, `"lone \ud800 and \udfff"`, "\"U+2028 \u2028 U+2029 \u2029 raw\"", `"\u2028 escaped"`, `"pair \ud83d\ude00"`,
		`"\/ \b\f\n\r\t \" \\ \u0041"`, `"<script>&amp;\u003c"`, "\"bad UTF-8 \xff\xfe \xed\xa0\x80\"", `""`, `"` + strings.Repeat(" ", 100) + `"`,
		"\"\u0085 \u00a0 \ufeff \U0001f469\u200d\U0001f680\"", `"\u0001\u001f"`, "\"\x7f\"", `"a\u0000"`, `"\u0000"`,
	} {
		for _, shape := range []string{
			`{"role":"user","parts":[{"kind":"text","text":%s}]}`,
			"{ \"role\" : \"user\",\r\n\t\"parts\" : [ { \"text\" : %s , \"kind\":\"text\" } ] }\r\n",
			`{"parts":[{"kind":"result","result":{"call_id":"c","text":%s,"extra":[1,2]}}],"role":"tool"}`,
			`{"parts":[{"kind":"call","call":{"id":"c","name":"n","input":{"k":%s,"k":1}}}],"role":"assistant"}`,
			`{"role":"user","parts":[{"kind":"other","raw":%s}],"parts_of_the_future":[]}`,
		} {
			evs = append(evs, skein.Event{Kind: skein.KindSaid, Time: fixture.Noon, Payload: []byte(fmt.Sprintf(shape, text))})
		}
	}
	deep := strings.Repeat(`{"a":[`, 2000) + strings.Repeat(`]}`, 2000)
	for _, data := range []string{`1.0e+10`, `123456789012345678901234567890`, `-0`, deep, `{"a":1,"a":2,"":3}`, `null`} {
		evs = append(evs, skein.Event{Kind: skein.KindNoted, Time: fixture.Noon, Payload: []byte(`{"name":"x","data":` + data + `}`)})
	}
	wantBack(t, "a", evs...)
	if n := len(t.Newest("a", 1000, 0)); n == 0 {
		t.Error("Newest gives nothing")
	}
	t.Find("script")
}

func futureKinds(t *harness.Test) {
	wantBack(t,
		"a",
		skein.Event{Kind: "teleported", Payload: []byte(`{}`)},
		skein.Event{Kind: "x", Time: 1, Payload: []byte(`{"role":1,"parts":"not as we know them"}`)},
		skein.Event{Kind: skein.Kind(strings.Repeat("k", 64)), ClientID: "é'\"%_\\", Payload: []byte(`{"a":"\ud800"}`)},
		skein.Event{Kind: skein.KindSaid, Payload: []byte(`{"role":"oracle","parts":[{"kind":"smell","scent":"rose"}],"mood":"dark"}`)},
		skein.Event{Kind: skein.KindChanged, Payload: []byte(`{"colour":"blue"}`)},
		skein.Event{Kind: skein.KindTool, Payload: []byte(`{"call":"c","state":"dreaming"}`)},
	)
}

func bigMessage(t *harness.Test) {
	size := 64 << 20
	if testing.Short() {
		size = 4 << 20
	}
	text := []byte("begin ")
	line := []byte("a line of text, \"quoted\", \\ and so on\n")
	r := rand.New(rand.NewPCG(1, 2))
	for len(text) < size {
		text = append(text, line[:1+r.IntN(len(line))]...)
	}
	e := fixture.User(string(text))
	wantBack(t, "a", e, fixture.User("after it"))
	m := t.Newest("a", 2, 0)
	if len(m) != 2 || string(m[0].Message.Parts[0].Text) != string(text) {
		t.Error("Newest does not give the big message as it was")
	}
	t.WantFound("begin", harness.At("a", 2))
	t.WantFound("after", harness.At("a", 3))
}

func partSizes(t *harness.Test) {
	r := rand.New(rand.NewPCG(3, 4))
	var evs []skein.Event
	for _, n := range []int{0, 1, 1023, 1024, 4095, 65535, 65536, 65537, 200_000} {
		random := make([]byte, n)
		for i := range random {
			random[i] = "abcdefghijklmnop \n"[r.IntN(18)]
		}
		for _, text := range []string{strings.Repeat("z", n), string(random)} {
			evs = append(evs, fixture.User(text), skein.Say(fixture.Noon, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{
				{Kind: skein.PartResult, Result: &skein.Result{CallID: "c", Text: skein.Text(text)}},
				{Kind: skein.PartResult, Result: &skein.Result{CallID: "d", Text: skein.Text(text)}},
				skein.TextPart(text),
			}}))
		}
	}
	wantBack(t, "a", evs...)
	wantBack(t, "b", evs...)
	t.Delete("a")
	for i, e := range t.Events("b")[1:] {
		if !bytes.Equal(e.Payload, evs[i].Payload) {
			t.Errorf("event %d changed when another session was deleted", i+2)
		}
	}
}

func oddTimes(t *harness.Test) {
	var evs []skein.Event
	for _, at := range []skein.Time{0, 1, -1, -62135596800000, -62167219200000, 253402300799999, fixture.Noon + 123} {
		e := fixture.User("x")
		e.Time = at
		evs = append(evs, e)
	}
	wantBack(t, "a", evs...)
	if s := t.Session("a"); s.Updated != 253402300799999 || s.Created != fixture.Noon {
		t.Errorf("Session = created %v updated %v, want noon and the year 9999", s.Created, s.Updated)
	}
}

func tooLong(t *harness.Test) {
	t.Add("a", fixture.Created())
	if testing.Short() {
		return
	}
	long := append([]byte(`{"a":"`), bytes.Repeat([]byte("x"), skein.MaxPayload)...)
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{{Kind: "x", Payload: json.RawMessage(append(long, `"}`...))}}}, skein.ErrInvalid)
}
