package interop

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

func TestJSONIsThatOfMustJSON(t *testing.T) {
	type inner struct {
		Text  skein.Text      `json:"text"`
		Empty skein.Text      `json:"empty,omitempty"`
		Raw   json.RawMessage `json:"raw"`
		None  []string        `json:"none"`
	}
	long := strings.Repeat("\"a\\b\"\n\t<é&日>\x01 ", longMessage/8)
	for _, text := range []string{"", "\"\\\n\x00<&>é\u2028\ud7ff", "\xed\xa0\x80", long, long + "\xed\xa0\x80", strings.Repeat("x", longMessage+1)} {
		v := map[string]any{
			"a": inner{Text: skein.Text(text), Raw: json.RawMessage(`{"b": [1, 2]}`)}, "n": nil, "f": 1.5, "empty": "",
			"list": []any{strings.ToValidUTF8(text, "?"), skein.Text(text), inner{Text: skein.Text(text)}}, "z": strings.ToValidUTF8(text, "?"),
		}
		got, want := JSON(v), skein.MustJSON(v)
		if len(text) <= longMessage {
			if string(got.Bytes()) != string(want) {
				t.Errorf("JSON = %s, want %s", got.Bytes(), want)
			}
			continue
		}
		var is, should any
		if err := json.Unmarshal(got.Bytes(), &is); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(want, &should); err != nil {
			t.Fatal(err)
		}
		if string(skein.MustJSON(is)) != string(skein.MustJSON(should)) {
			t.Errorf("JSON of a text of %d bytes says something else than MustJSON", len(text))
		}
	}
}

func TestOfALongTextJSONMakesNoCopy(t *testing.T) {
	v := struct{ A, B any }{skein.Text(strings.Repeat("a long text\n", 1<<19)), "b"}
	if got, most := allocated(func() { _ = JSONLine(v) }), uint64(1<<20); got > most {
		t.Errorf("JSON of a text of %d bytes allocates %d, want at most %d", len(v.A.(skein.Text)), got, most)
	}
}

func TestADraftHoldsALongMessageOnce(t *testing.T) {
	said := skein.Message{ID: "m", Role: skein.RoleAssistant, Model: "large", Request: "r", Usage: &skein.Usage{Output: 7}, Parts: []skein.Part{
		skein.TextPart(strings.Repeat("long ", longMessage)),
		{Kind: skein.PartCall, Call: &skein.Call{ID: "c", Name: "read", Input: json.RawMessage(`{"path":"a"}`)}},
	}}
	var d Draft
	for i, e := range []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{}), skein.Say(2, skein.UserSays("short")), skein.Say(3, said)} {
		e.Seq = skein.Seq(i + 1)
		d.Append(e)
	}
	if n := len(d.Events[2].Payload); n > 1<<10 {
		t.Errorf("the event of a long message has %d bytes beside the message", n)
	}
	about, err := skein.Decode[skein.Message](d.Events[2])
	if err != nil || about.Request != "r" || about.Usage == nil || len(about.Parts) != 2 || about.Parts[1].Call.ID != "c" {
		t.Errorf("the event says %+v, %v, want all but the words", about, err)
	}
	entries, err := d.Entries()
	if err != nil || len(entries) != 2 || string(skein.MustJSON(entries[1].Message)) != string(skein.MustJSON(said)) {
		t.Errorf("Entries() = %d messages, %v, want both as they were said", len(entries), err)
	}
	if entries, err = d.EntriesOf(2); err != nil || len(entries) != 1 {
		t.Errorf("EntriesOf(2) = %d messages, %v, want the first", len(entries), err)
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
