package writeback

import (
	"testing"

	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
)

func TestOnlyFilesThatSkeinWroteAreRemoved(t *testing.T) {
	was := []byte(`{"file":"session.json","text":"{}"}` + "\n" + `{"file":"notes.txt","text":"mine"}` + "\n")
	for body, want := range map[string]bool{
		`{"file":"session.json","text":"{}"}` + "\n":                                           true,
		`{"file":"session.json","text":"{}"}` + "\n" + `{"file":"notes.txt","text":""}` + "\n": false,
	} {
		text := interop.SourceText{Lines: []interop.OutLine{{Body: lines.RopeOf([]byte(body))}}}
		if got := drops(&text, lines.New(was)); got != want {
			t.Errorf("writing %s drops files: %v, want %v", body, got, want)
		}
	}
}
