package lines_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/skein-dev/skein/internal/lines"
)

func TestWhatIsUnquotedInPiecesIsTheSameAsAtOnce(t *testing.T) {
	for _, one := range []string{`a`, `\n`, `\\`, `\u00e9`, `é`, `ab\"`, `\u000a\\n`, `\/日本\t`} {
		for before := range 8 { // so that a piece would end anywhere in one
			text := []byte(strings.Repeat("x", before) + strings.Repeat(one, 1<<15))
			want, ok := lines.Unquote(text)
			var got bytes.Buffer
			if err := lines.WriteUnquoted(&got, text); !ok || err != nil || got.String() != want {
				t.Errorf("WriteUnquoted of %d bytes and %q again and again gives %d bytes, %v, want %d", before, one, got.Len(), err, len(want))
			}
		}
	}
	for _, bad := range []string{`\`, `"`, `\u00`, `\ud800`, "\n", `\x`} {
		if err := lines.WriteUnquoted(&bytes.Buffer{}, []byte(strings.Repeat("x", 1<<17)+bad)); !errors.Is(err, lines.ErrQuoted) {
			t.Errorf("WriteUnquoted of what ends in %q = %v, want ErrQuoted", bad, err)
		}
	}
}
