package terminal

import (
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
