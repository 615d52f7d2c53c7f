package skein_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

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
