package terminal

import (
	"slices"
	"strings"
	"testing"
)

func TestATableFitsItsTerminal(t *testing.T) {
	tab := Table{
		Columns: []Column{{Title: "ID", Rank: 1}, {Title: "TITLE", Min: 8}, {Title: "N", Rank: 2, Right: true}, {Title: "PATH", Rank: 3, Min: 6, Left: true}},
		Rows:    [][]string{{"abcd", "a title of some length", "7", "/a/path/to/see"}, {"efgh", "東京のタイトル", "12", "/b"}},
	}
	for width, want := range map[int]string{
		0:  "ID    TITLE                    N  PATH\nabcd  a title of some length   7  /a/path/to/see\nefgh  東京のタイトル          12  /b\n",
		30: "ID    TITLE          N  PATH\nabcd  a title of …   7  …o/see\nefgh  東京のタイ…   12  /b\n",
		18: "ID    TITLE      N\nabcd  a title…   7\nefgh  東京の…   12\n",
		9:  "TITLE\na title …\n東京のタ…\n",
	} {
		var b strings.Builder
		if err := tab.Write(&b, tab.Fit(tab.Natural(), width), nil); err != nil || b.String() != want {
			t.Errorf("in %d columns:\n%swant\n%s(%v)", width, b.String(), want, err)
		}
	}
}

// What is said nowhere else goes on in the next line of a narrow terminal, if nothing
// comes after it.
func TestATableCutsNoReason(t *testing.T) {
	tab := &Table{
		Columns: []Column{{Title: "WHAT"}, {Title: "WHERE", Rank: 1, Min: 12, Whole: true}, {Title: "LAST", Rank: 2}},
		Rows:    [][]string{{"hooks", "~/a.json: line 1 is no JSON", ""}, {"skill", "~/b", ""}},
	}
	const want = "WHAT   WHERE\nhooks  ~/a.json: line 1\n       is no JSON\nskill  ~/b\n"
	var b strings.Builder
	if err := tab.Write(&b, tab.Fit(tab.Natural(), 24), nil); err != nil || b.String() != want {
		t.Errorf("in 24 columns:\n%swant\n%s(%v)", b.String(), want, err)
	}
}

// In a pipe there is room for Piped columns; what is said nowhere else stays whole.
func TestATableInAPipe(t *testing.T) {
	long := strings.Repeat("x", Piped)
	tab := &Table{Columns: []Column{{Title: "A", Min: 4}, {Title: "B", Rank: 1, Min: 4, Whole: true}}, Rows: [][]string{{long, long}}}
	if got := tab.Fit(tab.Natural(), 0); !slices.Equal(got, []int{4, Piped}) {
		t.Errorf("with a whole column the widths are %v, want 4 and %d", got, Piped)
	}
	if tab.Columns[1].Whole = false; !slices.Equal(tab.Fit(tab.Natural(), 0), []int{Piped - gap - 4, 4}) {
		t.Errorf("without one the widths are %v, want %d and 4", tab.Fit(tab.Natural(), 0), Piped-gap-4)
	}
}
