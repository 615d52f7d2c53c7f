package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein/store/search"
)

func TestPassagesHaveEveryPhraseOfALongText(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < 3*search.LongText; i++ {
		fmt.Fprintf(&b, "word%d ", i)
	}
	text := b.String()
	all := slices.Collect(search.Passages(text))
	if len(all) != 4 {
		t.Errorf("%d bytes have %d passages, want 4", len(text), len(all))
	}
	for i, p := range all {
		if p.End-p.Start > search.LongText {
			t.Errorf("passage %d has %d bytes, want at most %d", i, p.End-p.Start, search.LongText)
		}
		if i == 0 {
			continue
		}
		if before := all[i-1]; before.End-p.Start < 8<<10 || text[p.Start-1] != ' ' || text[before.End-1] != ' ' {
			t.Errorf("passages %v and %v do not overlap by 8 KB of whole words", before, p)
		}
	}
	if all[0].Start != 0 || all[len(all)-1].End != len(text) {
		t.Errorf("passages of %d bytes: from %v to %v", len(text), all[0], all[len(all)-1])
	}
}

func TestPassagesCutNoCharacter(t *testing.T) {
	text := strings.Repeat("東京都", 2*search.LongText/9)
	for p := range search.Passages(text) {
		if p.Start%3 != 0 || p.End%3 != 0 {
			t.Errorf("passage %v cuts a character of three bytes", p)
		}
	}
}

func TestATextThatIsNotLongIsOnePassage(t *testing.T) {
	for _, n := range []int{0, 1, search.LongText} {
		text := strings.Repeat("x", n)
		if got := slices.Collect(search.Passages(text)); len(got) != 1 || got[0] != (search.ByteRange{End: n}) {
			t.Errorf("%d bytes have the passages %v, want one", n, got)
		}
	}
}

func TestALongTextMatchesByWordsThatAreFarApart(t *testing.T) {
	text := "first 東京都 " + strings.Repeat("filler ", 3*search.LongText/7) + "parseConfigFile last"
	for query, want := range map[string]bool{
		"first last": true, `"parse config" first`: true, "first -last": false, "first -gone": true, "京都 last": true, `"first last"`: false,
	} {
		q, err := search.Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		if got := matcher(t, q).MatchesText(text); got != want {
			t.Errorf("MatchesText(%s) is %t", query, got)
		}
	}
}
