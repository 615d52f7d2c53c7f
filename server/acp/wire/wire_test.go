package wire_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein/server/acp/wire"
)

// found is what a test compares of a message.
type found struct{ ID, Method, Update, Sessions string }

func look(line string) (all []found, whole bool) {
	ms, whole := wire.Scan([]byte(line))
	for _, m := range ms {
		var ids []string
		for _, s := range m.Sessions {
			ids = append(ids, string(s.Of([]byte(line))))
		}
		all = append(all, found{m.ID, m.Method, m.Update, strings.Join(ids, " ")})
	}
	return all, whole
}

func TestScanFindsMessagesAndTheirSessions(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       []found
		cut        bool
	}{
		{"a request", `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"\"sessionId\":\"x\""}]}}` + "\n", []found{{"1", "session/prompt", "", `"s"`}}, false},
		{"its members in another order", ` {"params" : {"a":[1,{"sessionId":"x"}],"sessionId" : "s"}, "method":"m" , "id" : "a\u0022b" }`, []found{{`"a\u0022b"`, "m", "", `"s"`}}, false},
		{"an update", `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"subagent_update","sessionId":"t","rawInput":{"sessionId":"x"}},"_meta":{"sessionId":"x"}}}`, []found{{"", "session/update", "subagent_update", `"s" "t"`}}, false},
		{"a message between agents", `{"method":"session/update","params":{"update":{"senderSessionId":"a","recipientSessionId":"b","sessionUpdate":"session_message"}}}`, []found{{"", "session/update", "session_message", `"a" "b"`}}, false},
		{"an answer", `{"id":null,"result":{"sessionId":"s"}}`, []found{{"", "", "", `"s"`}}, false},
		{"a list", `{"id":-1.5e3,"result":{"sessions":[{"sessionId":"s","cwd":"/"},7,[],{"sessionId":"t"}]}}`, []found{{"-1.5e3", "", "", `"s" "t"`}}, false},
		{"an ID that is no string", `{"id":2,"params":{"sessionId":7}}`, []found{{"2", "", "", ""}}, false},
		{"a batch", `[{"id":1,"method":"a"},3,{"method":"b","params":{"sessionId":"s"}}]`, []found{{"1", "a", "", ""}, {"", "b", "", `"s"`}}, false},
		{"two values", `{"id":1}{"id":2}`, []found{{"1", "", "", ""}, {"2", "", "", ""}}, false},
		{"escapes", `{"method":"session\/update","params":{"\u0073essionId":"a\\","x":"\\\""}}`, []found{{"", "session/update", "", `"a\\"`}}, false},
		{"no message", `7 "x" null []`, nil, false},
		{"nothing", " \r\n", nil, false},
		{"text", "starting up\n", nil, false}, // words, which are passed on all the same
		{"cut off", `{"id":1,"method":"m","params":{"sessionId":"s","prompt":[{"type":"te`, []found{{"1", "m", "", `"s"`}}, true},
		{"too deep", `{"id":1,"params":` + strings.Repeat("[", 1000), []found{{"1", "", "", ""}}, true},
		{"brackets that do not fit", `{"id":1}]`, []found{{"1", "", "", ""}}, true},
	} {
		got, whole := look(c.line)
		if diff := cmp.Diff(c.want, got); diff != "" || whole == c.cut {
			t.Errorf("%s: whole %t (-want +got):\n%s", c.name, whole, diff)
		}
	}
}

// Whatever a line has, only the session IDs in it are replaced.
func FuzzRename(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`))
	f.Add([]byte(`[{"id":1,"result":{"sessions":[{"sessionId":"s"}],"sessionId":"u"}},{"params":{"update":{"sessionId":"t"}}}]`))
	f.Add([]byte(`{"params":{"sessionId":"a\ud800"}} {"`))
	f.Fuzz(func(t *testing.T, line []byte) {
		all, _ := wire.Scan(line)
		if same := wire.Apply(line, wire.Rename(line, all, func(id string) string { return id })); !bytes.Equal(same, line) {
			t.Fatalf("%q became %q", line, same)
		}
		n := 0
		edits := wire.Rename(line, all, func(string) string { n++; return "other" })
		out := wire.Apply(line, edits)
		for _, e := range edits {
			if line[e.From] != '"' || line[e.To-1] != '"' {
				t.Fatalf("%q: %q is no string", line, e.Of(line))
			}
		}
		if json.Valid(line) && !json.Valid(out) {
			t.Fatalf("%q became %q, which is not JSON", line, out)
		}
	})
}

func TestScanEndsAtEveryByte(t *testing.T) {
	line := []byte(`[{"jsonrpc":"2.0","id":"\\","method":"m","params":{"sessionId":"s","update":{"sessionUpdate":"plan","x":[{"y":[1]}]}}}]`)
	for n := range line {
		if all, whole := wire.Scan(line[:n]); whole && n > 0 {
			t.Errorf("%q is whole: %v", line[:n], all)
		}
	}
}

func TestReaderReturnsEveryByte(t *testing.T) {
	text := "one\n\n" + strings.Repeat("long", 100) + "\r\nlast"
	for _, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
		r, got, pieces := wire.NewReader(in, 64), "", 0
		for {
			line, more, err := r.Next()
			if err != nil {
				break
			}
			if got += string(line); more {
				pieces++
			}
		}
		if got != text || pieces != 6 {
			t.Errorf("read %q, %d pieces that others follow; want %q, 6", got, pieces, text)
		}
	}
}

func TestWithChangesOneMember(t *testing.T) {
	for _, c := range []struct{ object, name, value, want string }{
		{`{}`, "a", "1", `{"a":1}`},
		{` { "b" : [1, {"a":2}] } `, "a", "1", ` {"a":1, "b" : [1, {"a":2}] } `},
		{`{"a": null , "b":2}`, "a", "1", `{"a": 1 , "b":2}`},
		{`{"b":{"a":1},"a":"x"}`, "a", `{"c":3}`, `{"b":{"a":1},"a":{"c":3}}`},
		{`null`, "a", "1", `{"a":1}`},
		{``, "a", "1", `{"a":1}`},
	} {
		if got := string(wire.With([]byte(c.object), c.name, []byte(c.value))); got != c.want {
			t.Errorf("With(%s, %s, %s) = %s, want %s", c.object, c.name, c.value, got, c.want)
		}
	}
}
