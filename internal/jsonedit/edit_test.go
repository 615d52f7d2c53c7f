package jsonedit_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/skein-dev/skein/internal/jsonedit"
)

var documents = []string{
	"",
	"{}",
	"{}\n",
	"{ }\n",
	"{\n}\n",
	"{\n  // nothing yet\n}\n",
	"{\"a\":1}",
	"{\"a\": 1, \"b\": [1, 2]}\n",
	"{\n  \"a\": 1\n}\n",
	"{\n  \"a\": 1,\n}\n",
	"{\n\t\"a\": 1, // one\n\t\"b\": {\n\t\t\"c\": 2 // two\n\t} // the end\n\t// really\n}\n",
	"// head\n{\n    \"z\": {},\n    \"mcp\": {\"other\": {\"command\": \"x\"}},\n    \"list\": [\n        1,\n        2, // two\n    ],\n}\n// tail",
	"{\n  \"mcp\": {},\n  \"list\": []\n}",
	"{\r\n  \"a\": 1\r\n}\r\n",
	"{\n  \"mcp\": {\n    \"one\": 1\n  },\n  \"list\": [{\"x\": 1}]\n}\n",
	"{\n  \"mcp\": {\n    \"one\": 1 /* first */\n  }\n}\n",
}

func additions() []jsonedit.Addition {
	return []jsonedit.Addition{
		{Path: []string{"skein"}, Value: json.RawMessage(`true`)},
		{Path: []string{"mcp", "skein"}, Value: json.RawMessage(`{"command":"skein","args":["mcp"]}`)},
		{Path: []string{"x", "y", "skein"}, Value: json.RawMessage(`[1,{"a":2}]`)},
		{Path: []string{"list"}, Element: true, Value: json.RawMessage(`{"hooks":[{"type":"command"}]}`)},
		{Path: []string{"x", "list"}, Element: true, Value: json.RawMessage(`"v"`)},
	}
}

// What is added is in the document, and once it is removed, every byte is as it
// was.
func TestWhatIsAddedCanBeRemovedWithoutATrace(t *testing.T) {
	for _, doc := range documents {
		for _, a := range additions() {
			out, err := jsonedit.Add([]byte(doc), &a)
			if err != nil {
				t.Errorf("Add(%q, %v): %v", doc, a.Path, err)
				continue
			}
			b := a
			if again, err := jsonedit.Add(out, &b); err != nil || string(again) != string(out) || !b.Was {
				t.Errorf("Add(%q, %v) twice = %q, %v (was %t), want %q", doc, a.Path, again, err, b.Was, out)
			}
			back, found, err := jsonedit.Remove(out, a)
			want := doc
			if doc == "" {
				want = "{\n}\n"
			}
			if err != nil || !found || string(back) != want {
				t.Errorf("Add(%q, %v) = %q\nand without it: %q, %t, %v", doc, a.Path, out, back, found, err)
			}
		}
	}
}

// Several programs add to a file and leave it in any order.
func TestAdditionsAreRemovedInAnyOrder(t *testing.T) {
	for _, doc := range documents[1:] {
		one, two := additions()[1], jsonedit.Addition{Path: []string{"mcp", "other2"}, Value: json.RawMessage(`1`)}
		first, err := jsonedit.Add([]byte(doc), &one)
		if err != nil {
			t.Fatal(err)
		}
		both, err := jsonedit.Add(first, &two)
		if err != nil {
			t.Fatal(err)
		}
		left, found, err := jsonedit.Remove(both, one)
		if err != nil || !found {
			t.Fatal(found, err)
		}
		var v struct {
			MCP map[string]json.RawMessage `json:"mcp"`
		}
		if err := json.Unmarshal(plain(t, left), &v); err != nil || string(v.MCP["other2"]) != "1" || v.MCP["skein"] != nil {
			t.Errorf("%q with two and without the first: %q, %v", doc, left, err)
		}
	}
}

func TestAValueOfSomebodyElseStays(t *testing.T) {
	a := jsonedit.Addition{Path: []string{"mcp", "skein"}, Value: json.RawMessage(`1`)}
	if _, err := jsonedit.Add([]byte(`{"mcp": {"skein": 2}}`), &a); !errors.Is(err, jsonedit.ErrTaken) {
		t.Errorf("Add over another value = %v, want %v", err, jsonedit.ErrTaken)
	}
	if _, err := jsonedit.Add([]byte(`{"mcp": []}`), &a); !errors.Is(err, jsonedit.ErrTaken) {
		t.Errorf("Add below an array = %v, want %v", err, jsonedit.ErrTaken)
	}
	changed := `{"mcp": {"skein": 3}}`
	if out, found, err := jsonedit.Remove([]byte(changed), a); err != nil || found || string(out) != changed {
		t.Errorf("Remove of a changed value = %q, %t, %v", out, found, err)
	}
	if _, err := jsonedit.Add([]byte(`{"mcp": `), &a); err == nil {
		t.Error("Add to half a document succeeds")
	}
}

func plain(t *testing.T, doc []byte) []byte {
	t.Helper()
	b, err := hujson.Standardize(append(doc, "\n"...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
