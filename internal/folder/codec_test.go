package folder

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/skein-dev/skein/internal/lines"
)

// odd are texts that have everything that JSON escapes, or might.
var odd = []string{
	"", "a", "\"\\/\b\f\n\r\t", "\x00\x01\x1f\x7f", "<&>é\u2028\u2029日本\U0001f600", "\xff", "a\xc3", "\xed\xa0\x80", "\ufffd",
	`{"role": "user", "content": "say \"it\"\n\ttwice\\n \u00e9 \ud800"}` + "\n",
}

func TestTextIsSpelledAsJSONSpellsIt(t *testing.T) {
	for _, s := range odd {
		sameAsJSON(t, s)
	}
}

func FuzzTextIsSpelledAsJSONSpellsIt(f *testing.F) {
	for _, s := range odd {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { sameAsJSON(t, s) })
}

func sameAsJSON(t *testing.T, s string) {
	t.Helper()
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	want.Truncate(want.Len() - 1)
	if got := appendString(nil, s); !bytes.Equal(got, want.Bytes()) {
		t.Errorf("appendString(%q) = %s, want %s", s, got, &want)
	}
	if got := appendString(nil, []byte(s)); !bytes.Equal(got, want.Bytes()) {
		t.Errorf("appendString of the bytes %q = %s, want %s", s, got, &want)
	}
	line := Piece("a.jsonl", 7, []byte(s)).Append(nil)
	if got := appendPiece(nil, "a.jsonl", 7, []byte(s)); !bytes.Equal(got, line) {
		t.Errorf("appendPiece(%q) = %s, want %s", s, got, line)
	}
	sameParse(t, line)
}

// sameParse checks that parseText and encoding/json give the same result.
func sameParse(t *testing.T, line []byte) {
	t.Helper()
	got, ok := parseText(line)
	if !ok {
		return
	}
	var want Line
	if err := json.Unmarshal(line, &want); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("parseText(%s) = %+v %q, want %+v %q, %v", line, got, got.Data(), want, want.Data(), err)
	}
}

func FuzzAPieceIsReadAsJSONReadsIt(f *testing.F) {
	for _, s := range odd {
		f.Add(Piece("a.jsonl", 0, []byte(s)).Append(nil))
	}
	for _, s := range odd {
		f.Add(Whole(File{Name: "a", Mode: 0o600, Mtime: 7}, []byte(s)).Append(nil))
	}
	for _, s := range []string{
		`{"file":"a","line":1,"mode":"0600","mtime":7,"text":"\u0041\u+041\u004"}`, `{"file":"a","mode":"0600","mtime":07,"text":""}`, `{"file":"a","mode":"","mtime":0,"text":"\u00e9"}`,
		`{"file":"a","line":01,"text":""}`, `{"file":"a","line":1,"text":"x","text":"y"}`, `{"file":"a\n","line":1,"text":"x"}`, `{"file":"","line":1,"text":"x"}`,
		`{"file":"a","line":1e3,"text":"x"}`, `{"file":"a","line":-1,"text":"x"}`, `{"file":"a","line":9999999999,"text":"x"}`, `{"file":"a","line":1,"text":"x\"}`,
		`{"file":"a","line":1,"text":"x"},"lines":2}`, "{\"file\":\"a\",\"line\":1,\"text\":\"\x01\"}", "{\"file\":\"a\",\"line\":1,\"text\":\"\xff\"}", `{"file":"a","line":1,"text":"x"} `,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(sameParse)
}

func TestMostLinesAreReadTheShortWay(t *testing.T) {
	for _, s := range []string{`{"role": "user", "content": "say \"it\"\n\ttwice\\n \u00e9 \ud800"}` + "\n", "\t\r\f\b\x01\u2028é日本\"\\"} {
		l, ok := parseText(bytes.TrimSpace(Piece("a.jsonl", 12, []byte(s)).Append(nil)))
		if !ok || string(l.Data()) != s || l.File != "a.jsonl" || *l.Line != 12 {
			t.Errorf("parseText of the piece %q = %+v, %t", s, l, ok)
		}
		if l, ok = parseText(bytes.TrimSpace(Whole(File{Name: "a", Mode: 0o600, Mtime: 7}, []byte(s)).Append(nil))); !ok || string(l.Data()) != s || l.Mtime != 7 {
			t.Errorf("parseText of the file %q = %+v, %t", s, l, ok)
		}
	}
}

func TestNextGivesTheLinesOfTheStreamOneByOne(t *testing.T) {
	root := lay(t, map[string]string{
		"a.jsonl": "{}\n{\"torn", "b.jsonl": strings.Repeat("x", 200_000) + "\n" + strings.Repeat("y", 100_000) + "\n{}\n", "c.jsonl": "", "d": "whole\nfile",
	})
	tr, err := Open(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	byLine := func(name string) bool { return strings.HasSuffix(name, ".jsonl") }
	stream, err := io.ReadAll(tr.Lines(tr.Files, byLine))
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	n := 0
	for r := tr.Lines(tr.Files, byLine); ; n++ {
		line := r.Next()
		if line == nil {
			break
		}
		if bytes.IndexByte(line, '\n') != len(line)-1 {
			t.Errorf("Next() = %.80q …, want one line", line)
		}
		got = append(got, line...)
	}
	if !bytes.Equal(got, stream) || n != 9 {
		t.Errorf("Next gives %d lines of %d bytes, want 9 lines, which are the stream of %d bytes", n, len(got), len(stream))
	}
}

func TestALongTextThatIsOnlyWrittenIsNotCopied(t *testing.T) {
	data := []byte(strings.Repeat("a long \"text\" of \\ é\n", 1<<18))
	for _, line := range [][]byte{Whole(File{Name: "a", Mode: 0o600, Mtime: 7}, data).Append(nil), Piece("a", 3, data).Append(nil)} {
		var got bytes.Buffer
		got.Grow(len(data))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		l, err := Peek(line)
		if err == nil {
			err = l.WriteData(&got)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; err != nil || !bytes.Equal(got.Bytes(), data) || n > 1<<20 {
			t.Errorf("Peek and WriteData of %d bytes give %d of %d, %v, and allocate %d", len(line), got.Len(), len(data), err, n)
		}
		if want, err := Parse(line); err != nil || !bytes.Equal(l.Data(), data) || l.File != want.File || l.Mtime != want.Mtime || !reflect.DeepEqual(l.Line, want.Line) {
			t.Errorf("Peek(%.60q) = %+v, want what Parse gives, %v", line, l, err)
		}
	}
}

func TestWhatCannotBeUnquotedInPiecesIsPeekedWhole(t *testing.T) {
	line := []byte(`{"file":"a","mode":"0600","mtime":7,"text":"` + strings.Repeat("x", 1<<17) + `\ud800"}`)
	want, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Peek(line); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Peek = %+v, %v, want what Parse gives", got, err)
	}
}

func TestOfALongTextOneCopyIsMade(t *testing.T) {
	line := Whole(File{Name: "a", Mode: 0o600, Mtime: 7}, []byte(strings.Repeat("a long text\n", 1<<19))).Append(nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l, err := Parse(line)
	if err == nil {
		err = l.WriteData(io.Discard)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; err != nil || got > uint64(len(line)*5/4) {
		t.Errorf("Parse and what it holds, of %d bytes: allocates %d, %v", len(line), got, err)
	}
}

func TestALongFileIsWrittenWithoutItsTextInMemory(t *testing.T) {
	text := strings.Repeat("\x01", 100_000)
	line := Whole(File{Name: "a.json", Mode: 0o600, Mtime: 1_790_000_000_123_456_789}, []byte(text)).Append(nil)
	l, err := Peek(line)
	if err != nil {
		t.Fatal(err)
	}
	if l.Text != nil {
		t.Error("Peek holds the text of a long file of today")
	}
	if got := string(l.Data()); got != text || l.Mtime != 1_790_000_000_123_456_789 {
		t.Errorf("Peek of a line = %d bytes of %d, want %d of 1790000000123456789", len(got), l.Mtime, len(text))
	}
}

func TestALineIsTheSameAsARope(t *testing.T) {
	text := strings.Repeat("\x01é\n", 100_000)
	for _, data := range []string{text, `{"a":` + text + `}`, "short"} {
		for _, l := range []Line{WholeRope(File{Name: "a", Mode: 0o600, Mtime: 7}, lines.RopeOfText(data)), PieceRope("a", 3, lines.RopeOfText(data))} {
			want, err := Parse(l.Append(nil))
			if err != nil {
				t.Fatal(err)
			}
			got, err := PeekRope(l.Rope())
			if err != nil || got.File != want.File || got.Mode != want.Mode || got.Mtime != want.Mtime || !reflect.DeepEqual(got.Line, want.Line) || string(got.Data()) != data {
				t.Errorf("PeekRope = %+v, %v, want what Parse gives", got, err)
			}
			if len(data) > longText && got.Text != nil {
				t.Error("PeekRope holds a long text")
			}
		}
	}
}

func TestALongTextThatIsNotOfAFolderIsNotQuoted(t *testing.T) {
	var line lines.Rope
	line.Append([]byte(`{"text":`))
	line.AppendQuoted(lines.RopeOfText(strings.Repeat("\x01", 1<<20)), quoted[[]byte])
	line.Append([]byte("}\n"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if l, err := PeekRope(line); err == nil {
		t.Errorf("PeekRope of a line without a file = %+v, want an error", l)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("PeekRope of a line without a file allocates %d bytes", got)
	}
}
