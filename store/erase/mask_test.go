package erase_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skein-dev/skein/store/erase"
)

func TestMask(t *testing.T) {
	for _, c := range []struct{ name, in, secret, want string }{
		{"text", "key=sk-1234 sk-1234\n", "sk-1234", "key=******* *******\n"},
		{"not there", `{"a":"b"}`, "sk-1234", `{"a":"b"}`},
		{"JSON", `{"a":"x sk-1234","b":[1, 2]}` + "\n", "sk-1234", `{"a":"x *******","b":[1, 2]}` + "\n"},
		{"escaped JSON", `{"a":"\u0073k-\"4é"}`, `sk-"4é`, `{"a":"*************"}`},
		{"slashes", `{"a":"a\/b\/c"}`, "a/b/c", `{"a":"*******"}`},
		{"JSON in JSON", `{"a":"{\"k\":\"p\\\"ss\"}"}`, `p"ss`, `{"a":"{\"k\":\"*******\"}"}`},
		{"JSON in text", `torn {"a":"p\"ss`, `p"ss`, `torn {"a":"*****`},
		{"HTML escapes", `{"a":"{\"k\":\"p\\u003css\"}"}`, `p<ss`, `{"a":"{\"k\":\"**********\"}"}`},
		{"field name", `{"sk-1234":1}`, "sk-1234", `{"*******":1}`},
		{"number", `{"a":12345.6e7,"b":true}`, "2345", `{"a":11111.6e7,"b":true}`},
		{"zeros", `[0.5000,"x"]`, "0.50", `[1.1100,"x"]`},
		{"no literal", `{"a":true}`, "true", `{"a":true}`},
		{"no structure", `{"a":"b","c":"d"}`, `b","c`, `{"a":"b","c":"d"}`},
		{"quotes around", `{"a":"pass"}`, `"pass"`, `{"a":"pass"}`},
		{"overlap", "aabaabaab", "aabaab", "*********"},
		{"lone surrogate", `{"a":"\ud800pass\ud800"}`, "pass", `{"a":"\ud800****\ud800"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, found := erase.Mask([]byte(c.in), []string{"", c.secret})
			if string(got) != c.want || found != (c.in != c.want) {
				t.Errorf("Mask(%s, %q) = %s, %v, want %s", c.in, c.secret, got, found, c.want)
			}
		})
	}
}

// Masked bytes keep their length, stay JSON if they were, and have no secret.
func FuzzMask(f *testing.F) {
	f.Add([]byte(`{"a":"se\u0063ret \\\\\"","n":-1.5e10}`), "secret")
	f.Add([]byte("\"\\ud83d\\ude00pass\""), "\U0001f600pa")
	f.Add([]byte("se\x00\xffcret"), "\xff")
	f.Fuzz(func(t *testing.T, b []byte, secret string) {
		before := string(b)
		out, found := erase.Mask(b, []string{secret})
		if string(b) != before {
			t.Errorf("Mask changed its argument from %q to %q", before, b)
		}
		if len(out) != len(b) || json.Valid(b) && !json.Valid(out) {
			t.Errorf("Mask(%q, %q) = %q, %v", b, secret, out, found)
		}
		if !json.Valid(b) && secret != "" && !strings.Contains(secret, "*") && strings.Contains(string(out), secret) {
			t.Errorf("Mask(%q, %q) = %q", b, secret, out)
		}
	})
}
