package lines_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/skein-dev/skein/internal/lines"
)

// quote is the [lines.Quote] of encoding/json.
func quote(b, text []byte) []byte {
	q, err := json.Marshal(string(text))
	if err != nil {
		panic(err)
	}
	return append(b, q[1:len(q)-1]...)
}

func TestARopeIsTheBytesThatWereQuotedAtOnce(t *testing.T) {
	for _, text := range []string{"", "short \"\\\n", strings.Repeat("\x01", 200_000), strings.Repeat("a\u00e9\u20ac\U0001f600\n", 50_000), "x" + strings.Repeat("\u20ac", 70_000)} {
		want := text
		rope := lines.RopeOfText(text)
		for range 3 {
			q, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			want = `{"a":` + string(q) + "}"
			var around lines.Rope
			around.Append([]byte(`{"a":`))
			around.AppendQuoted(rope, quote)
			around.Append([]byte("}"))
			rope = around
			if got := string(rope.Bytes()); got != want || rope.Len() != len(want) {
				t.Fatalf("a text of %d bytes: the rope has %d bytes (says %d), want %d", len(text), len(got), rope.Len(), len(want))
			}
			var joined lines.Rope
			joined.Join(rope)
			if got := string(joined.From(1).Bytes()); got != want[1:] {
				t.Errorf("a text of %d bytes: a rope joined and cut has %d bytes, want %d", len(text), len(got), len(want)-1)
			}
		}
		if gist := rope.Gist(); len(text) > 100_000 && (len(gist) > 1000 || !json.Valid(gist)) {
			t.Errorf("the gist of a rope with %d bytes of text has %d bytes: %.100s", len(text), len(gist), gist)
		}
		all := lines.OfRopes(rope, lines.RopeOf([]byte("\nend\n")))
		if got := string(all.Next()) + string(all.Next()); got != want+"\nend\n" {
			t.Errorf("a text of %d bytes: the lines have %d bytes, want %d", len(text), len(got), len(want)+5)
		}
		if read, err := io.ReadAll(all.Again()); err != nil || string(read) != want+"\nend\n" {
			t.Errorf("a text of %d bytes: reading its lines = %d bytes, %v, want %d", len(text), len(read), err, len(want)+5)
		}
	}
}
