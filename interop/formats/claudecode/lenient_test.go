package claudecode

import (
	"bytes"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
)

// A line can have an image of megabytes: its values are not copied.
func TestValuesAreBytesOfTheLine(t *testing.T) {
	body := []byte(`{"toolUseResult":{"a":[1, 2]},"message":{"content":[{"text":"one"}, {"text":null}]}}`)
	was := bytes.Clone(body)
	var l line
	if err := jsonv2.Unmarshal(body, &l, options()); err != nil {
		t.Fatal(err)
	}
	within := func(what string, v raw, want string) {
		t.Helper()
		at := bytes.Index(body, []byte(want))
		if string(v) != want || at < 0 || &v[0] != &body[at] || cap(v) != len(v) {
			t.Errorf("%s is %q, want %q in the line itself, with no room to grow into it", what, v, want)
		}
	}
	within("toolUseResult", l.ToolUseResult, `{"a":[1, 2]}`)
	within("content", l.Message.Content, `[{"text":"one"}, {"text":null}]`)
	bs := blocks(l.Message.Content)
	if len(bs) != 2 {
		t.Fatalf("blocks = %d, want 2", len(bs))
	}
	within("the first block", bs[0].raw, `{"text":"one"}`)
	within("its text", bs[0].Text, `"one"`)
	within("null", bs[1].Text, `null`)
	if !bytes.Equal(body, was) {
		t.Errorf("the line is now %q", body)
	}
}
