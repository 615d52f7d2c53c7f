package search_test

import (
	"slices"
	"testing"

	"github.com/skein-dev/skein/store/search"
)

func TestWordsAreFoldedAndStandWhereTheyAre(t *testing.T) {
	text := "Das Zürcher-Café, foo_bar 東京x2"
	var got []string
	for at, word := range search.Words(text) {
		got = append(got, text[at.Start:at.End]+"="+word)
	}
	want := []string{"Das=das", "Zürcher=zurcher", "Café=cafe", "foo=foo", "bar=bar", "東京x2=東京x2"}
	if !slices.Equal(got, want) {
		t.Errorf("Words(%q) = %q, want %q", text, got, want)
	}
	for at := range search.Words(text) {
		if at != (search.ByteRange{Start: 0, End: 3}) {
			t.Errorf("Words(%q) yields %v first, want 0 to 3", text, at)
		}
		break
	}
}
