package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skein-dev/skein/agent/tool"
)

func TestReadSaysWhatIsWrong(t *testing.T) {
	for input, want := range map[string]string{
		``:                      "",
		`{}`:                    "",
		`{"path":"a","n":2}`:    "",
		`{"file_path":"a"}`:     `unknown field "file_path"`,
		`{"path":1}`:            "path is a number, want a string",
		`{"n":"two"}`:           "n is a string, want a int",
		`{"path":`:              "unexpected EOF",
		`{"path":"a"}{}`:        "unexpected text after the object",
		`["a"]`:                 "array",
		`{"path":"a"} trailing`: "unexpected text after",
	} {
		var in struct {
			Path string `json:"path"`
			N    int    `json:"n"`
		}
		err := tool.Read(json.RawMessage(input), &in)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%s) = %v, want %q", input, err, want)
		}
	}
}

func TestVisibleHidesNothing(t *testing.T) {
	for s, want := range map[string]string{
		"ls -l\tä\n日本":          "ls -l\tä\n日本",
		"rm \x1b[2Kx\rls":       `rm \x1b[2Kx\rls`,
		"a\u202eb\u200bc":       `a\u202eb\u200bc`,
		"\xff\x00":              `\xff\x00`,
		strings.Repeat("é", 30): strings.Repeat("é", 10) + "\n… 20 bytes are not shown …\n" + strings.Repeat("é", 10),
	} {
		if got := tool.Visible(s, 40); got != want {
			t.Errorf("Visible(%q) = %q, want %q", s, got, want)
		}
	}
	if got, want := tool.Line("\n\n  go test \x07./...\nrm"), `go test \a./...`; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
	if got := tool.Line(strings.Repeat("ö", 200)); len(got) > 130 || !strings.HasSuffix(got, "…") {
		t.Errorf("Line of a long line = %q, want the beginning", got)
	}
}

func TestALineOfWhatIsNoTextIsShown(t *testing.T) {
	if got := tool.Line(strings.Repeat("\x80", 200)); !strings.HasSuffix(got, "…") {
		t.Errorf("Line(200 bytes that begin no character) = %q, want the beginning of a line", got)
	}
}
