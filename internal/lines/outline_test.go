package lines_test

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein/internal/lines"
)

// TestAnOutlineReadsBackWhatWasQuoted quotes a long text twice and takes the outer string
// apart again, without its bytes.
func TestAnOutlineReadsBackWhatWasQuoted(t *testing.T) {
	for _, text := range []string{strings.Repeat("\x01", 200_000), strings.Repeat("a\u00e9\u20ac\U0001f600\"\n", 50_000), "short"} {
		var inner, line lines.Rope
		inner.Append([]byte(`{"a":"é\n","b":`))
		inner.AppendQuoted(lines.RopeOfText(text), quote)
		inner.Append([]byte(`,"c":`))
		inner.AppendQuoted(lines.RopeOfText("x"+text), quote)
		inner.Append([]byte("}"))
		line.Append([]byte(`{"text":`))
		line.AppendQuoted(inner, quote)
		line.Append([]byte("}\n"))
		outline, texts, ok := line.Outline()
		if long := text != "short"; !ok || long && (len(texts) != 2 || len(outline) > 1000) || !long && len(texts) > 0 {
			t.Fatalf("Outline of a line of %d bytes = %d bytes, %d texts, %t", line.Len(), len(outline), len(texts), ok)
		}
		got, rest, ok := lines.UnquoteOutline(outline[len(`{"text":"`):len(outline)-len("\"}\n")], texts)
		if !ok || len(rest) > 0 || string(got.Bytes()) != string(inner.Bytes()) {
			t.Errorf("UnquoteOutline = %d bytes, %t, %d texts left, want %d", got.Len(), ok, len(rest), inner.Len())
		}
		all := lines.OfRopes(line, lines.RopeOf([]byte("one\ntwo\n")), line)
		var read []string
		for next, ok := all.NextRope(); ok; next, ok = all.NextRope() {
			read = append(read, string(next.Bytes()))
		}
		if want := []string{string(line.Bytes()), "one\n", "two\n", string(line.Bytes())}; strings.Join(read, "|") != strings.Join(want, "|") {
			t.Errorf("NextRope gives %d lines of %d bytes, want %d of %d", len(read), len(strings.Join(read, "")), len(want), len(strings.Join(want, "")))
		}
		if whole := string(line.Bytes()) + "one\ntwo\n" + string(line.Bytes()); !all.Equal([]byte(whole)) || all.Equal([]byte(whole+"x")) || all.Equal([]byte(whole[1:])) {
			t.Error("Equal does not tell the text from another")
		}
	}
	withNUL := lines.RopeOf([]byte("{\x00}"))
	if _, _, ok := withNUL.Outline(); ok {
		t.Error("Outline of bytes with a NUL is true")
	}
}
