package loose_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein/internal/loose"
)

func TestTheLastOfTwoMembersOfANameCounts(t *testing.T) {
	o, err := loose.Parse([]byte(`{"a":1,"a":"two","A":3}`))
	if got := o.Str("a"); err != nil || got != "two" {
		t.Errorf(`Parse: a is %q, %v; want "two"`, got, err)
	}
}

func TestWhatIsOfAnotherTypeIsTheZeroValue(t *testing.T) {
	o, err := loose.Parse([]byte(`{"s":7,"n":"x","o":[],"l":{},"big":1e400,"neg":-4,"half":1.5,"whole":12.0}`))
	if err != nil {
		t.Fatal(err)
	}
	if s, c, obj, l := o.Str("s"), o.Count("n", "big", "neg", "half"), o.Obj("o"), o.List("l"); s != "" || c != 0 || obj != nil || l != nil {
		t.Errorf("Str %q, Count %d, Obj %v, List %v; want nothing of all", s, c, obj, l)
	}
	if c := o.Count("whole"); c != 12 {
		t.Errorf("Count of 12.0: %d, want 12", c)
	}
	if ms := loose.Millis(o.Get("big")); ms != 0 {
		t.Errorf("Millis(1e400): %d, want 0", ms)
	}
}

func TestParseSaysWhatIsNoObject(t *testing.T) {
	for _, text := range []string{``, `[]`, `"{}"`, `{"a":}`, `{"a":1`} {
		if o, err := loose.Parse([]byte(text)); err == nil {
			t.Errorf("Parse(%s) = %v, want an error", text, o)
		}
	}
}

func TestWithoutLeavesTheOtherBytesAsTheyAre(t *testing.T) {
	o, _ := loose.Parse([]byte(`{"a": 1e2, "b":"\u00e4<", "c":null}`))
	if got := string(o.Without("c")); got != `{"a":1e2,"b":"\u00e4<"}` {
		t.Errorf("Without: %s", got)
	}
}

func TestValuesReadsWhatStandsOnOneLine(t *testing.T) {
	all, err := loose.Values([]byte(` {"a":"}{"}{"b":NaN} [-Infinity]` + "\n"))
	if got := join(all); err != nil || got != `{"a":"}{"}|{"b":"NaN"}|["-Infinity"]` {
		t.Errorf("Values: %s, %v", got, err)
	}
	all, err = loose.Values([]byte(`{"a":1}{"b":`))
	if got := join(all); err == nil || got != `{"a":1}` {
		t.Errorf("Values of a torn line: %s, %v; want the first and an error", got, err)
	}
}

func join(all []jsontext.Value) string {
	var texts []string
	for _, v := range all {
		texts = append(texts, string(v))
	}
	return strings.Join(texts, "|")
}

func TestInnerIsTheJSONOfAString(t *testing.T) {
	deep := `"` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `"`
	for _, c := range []struct{ v, want string }{
		{`"{\"a\":1}"`, `{"a":1}`}, {`"no"`, `"no"`}, {`{"b":2}`, `{"b":2}`}, {`null`, ``}, {deep, deep},
	} {
		if got := string(loose.Inner(jsontext.Value(c.v))); got != c.want {
			t.Errorf("Inner(%.20s) = %.20s, want %.20s", c.v, got, c.want)
		}
	}
}

func TestCutGivesPiecesThatAreTheDocument(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		whole            bool
	}{
		{"m", `{"id":1, "m":[ {"a":[1]} , "x"], "z":2}` + "\n", `{"id":1, "m":[ |{"a":[1]}| , "x"|], "z":2}` + "\n", true},
		{"", `[1,2]`, `[|1|,2|]`, true},
		{"m", `{"m":[]}`, `{"m":[|]}`, true},
		{"m", "\xef\xbb\xbf" + `{"m":[1]}`, "\xef\xbb\xbf" + `{"m":[|1|]}`, true},
		{"m", `{"n":[1]}`, `{"n":[1]}`, true},
		{"m", `{"m":{"m":[1]}}`, `{"m":{"m":[1]}}`, true},
		{"m", `{"m":[1,2`, `{"m":[|1|,2`, false},
		{"m", `{"m":[1,{"a":`, `{"m":[|1|,{"a":`, false},
		{"m", `{"m":[1]} trailing`, `{"m":[|1|]} trailing`, false},
		{"m", `{"m":[1]`, `{"m":[|1|]`, false},
		{"m", ``, ``, false},
	} {
		pieces, whole := loose.Cut([]byte(c.text), c.name)
		if got := string(bytes.Join(pieces, []byte("|"))); got != c.want || whole != c.whole {
			t.Errorf("Cut(%q, %q) = %q, %v; want %q, %v", c.text, c.name, got, whole, c.want, c.whole)
		}
	}
}

func TestAttachTakesBase64AndAddresses(t *testing.T) {
	for _, c := range []struct {
		media, data string
		size        int64
		url         string
		file        bool
	}{
		{"image/png", "aGk=", 2, "", true},
		{"image/png", "aGk", 2, "", true},
		{"", "data:text/plain;base64,aGk=", 2, "", true},
		{"", "https://example.org/a.png", 0, "https://example.org/a.png", true},
		{"image/png", "not base64!", 0, "", false},
		{"", "", 0, "", false},
	} {
		f, blob := loose.Attach("a", c.media, c.data)
		if (f != nil) != c.file || f != nil && (f.Size != c.size || f.URL != c.url || (blob != nil) != (c.url == "")) {
			t.Errorf("Attach(%q, %q) = %+v, %v", c.media, c.data, f, blob)
		}
	}
}

func TestElementIsWithoutWhatSeparatesIt(t *testing.T) {
	for _, piece := range []string{`{"a":[1,2]}`, ` , {"a":[1,2]}`, ",\n  {\"a\":[1,2]}\n"} {
		if got := string(loose.Element([]byte(piece))); got != `{"a":[1,2]}` {
			t.Errorf("Element(%q) = %s", piece, got)
		}
	}
}

func TestARequestsNameIsUnique(t *testing.T) {
	for id, want := range map[string]string{
		"chatcmpl-86":                      "chatcmpl-86/7",
		"chatcmpl-1767000000":              "chatcmpl-1767000000/7",
		"resp_123456":                      "resp_123456/7",
		"msg_01":                           "msg_01",
		"chatcmpl-17670000001":             "chatcmpl-17670000001",
		"chatcmpl-9f2b":                    "chatcmpl-9f2b",
		"msg_011CXr9TMpqZdTGUCaL6Mfwj":     "msg_011CXr9TMpqZdTGUCaL6Mfwj",
		"":                                 "",
		"gen-1767000000-AbCdEfGhIjKlMnOpQ": "gen-1767000000-AbCdEfGhIjKlMnOpQ",
	} {
		if got := loose.Request(id, "7"); got != want {
			t.Errorf("Request(%q) = %q, want %q", id, got, want)
		}
	}
}
