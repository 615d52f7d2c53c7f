package skein_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

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
		// s as what stands between quotes in somebody's JSON.
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
