package search_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

func TestWordsOfALongTextAreNotHeld(t *testing.T) {
	text := strings.Repeat("all the words of a long text ", 1<<18) + "needle"
	q, err := search.Parse(`needle "long text" -thread`)
	if err != nil {
		t.Fatalf("ParseQuery: %v", err)
	}
	m := matcher(t, q)
	for name, look := range map[string]func(){
		"MatchesText": func() {
			if !m.MatchesText(text) {
				t.Error("MatchesText(long text) is false")
			}
		},
		"Snippet": func() {
			if s := m.Snippet(text); !strings.Contains(s, skein.Mark+"long text"+skein.EndMark) {
				t.Errorf("Snippet(long text): %q", s)
			}
		},
	} {
		if got := allocated(look); got > uint64(len(text)/4) {
			t.Errorf("%s of a text of %d bytes allocates %d", name, len(text), got)
		}
	}
}

// allocated returns how many bytes do allocates in total.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
