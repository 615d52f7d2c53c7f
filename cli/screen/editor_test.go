package screen

import (
	"strings"
	"testing"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// at returns an editor with text without its |, and the cursor there.
func at(text string) editor {
	before, after, _ := strings.Cut(text, "|")
	return editor{text: before + after, at: len(before)}
}

func (e *editor) String() string { return e.text[:e.at] + "|" + e.text[e.at:] }

func TestKeysEditAsInAShell(t *testing.T) {
	for _, c := range []struct{ before, key, after string }{
		{"ab|c", "left", "a|bc"},
		{"|abc", "left", "|abc"},
		{"ab|c", "right", "abc|"},
		{"e\u0301|x", "left", "|e\u0301x"}, // a combining accent
		{"x|👩‍👩‍👧y", "right", "x👩‍👩‍👧|y"},
		{"x👩‍👩‍👧|", "backspace", "x|"},
		{"東京|", "backspace", "東|"},
		{"a|東", "delete", "a|"},
		{"a\n|b", "backspace", "a|b"},
		{"one two.three|", "alt+left", "one two.|three"},
		{"one two  |", "alt+left", "one |two  "},
		{"|one two", "alt+right", "one| two"},
		{"one two|", "ctrl+w", "one |"},
		{"one |two", "alt+d", "one |"},
		{"a\nbc|d", "ctrl+a", "a\n|bcd"},
		{"a\nb|cd\ne", "ctrl+e", "a\nbcd|\ne"},
		{"a\nbc|d\ne", "ctrl+u", "a\n|d\ne"},
		{"a\nbc|d\ne", "ctrl+k", "a\nbc|\ne"},
		{"a|b", "alt+enter", "a\n|b"},
		{"a|b", "ctrl+j", "a\n|b"},
		{"abc\nde|f", "up", "ab|c\ndef"},
		{"ab|c\ndef", "down", "abc\nde|f"},
		{"東京\nab|", "up", "東|京\nab"},
		{"abc|\nd", "down", "abc\nd|"},
		{"ab|c", "ctrl+home", "|abc"},
	} {
		term := unconnected(Options{History: &History{}})
		term.edit = at(c.before)
		term.recall = newRecall(term.o.History)
		term.editKey(c.key)
		if got := term.edit.String(); got != c.after {
			t.Errorf("%s in %q = %q, want %q", c.key, c.before, got, c.after)
		}
	}
}

func TestWhatWasCutComesBack(t *testing.T) {
	term := unconnected(Options{History: &History{}})
	term.edit = at("one two|")
	for _, k := range []string{"ctrl+w", "ctrl+a", "ctrl+y"} {
		term.editKey(k)
	}
	if got, want := term.edit.String(), "two|one "; got != want {
		t.Errorf("after ctrl+w, ctrl+a, ctrl+y: %q, want %q", got, want)
	}
}

func TestTheEditorsRowsFitAndHoldTheCursor(t *testing.T) {
	for _, c := range []struct {
		text     string
		width    int
		rows     string
		row, col int
	}{
		{"|", 10, "", 0, 0},
		{"abc|", 10, "abc", 0, 3},
		{"abcdef|", 3, "abc/def/", 2, 0},
		{"ab|cdef", 3, "abc/def", 0, 2},
		{"a\n|b", 10, "a/b", 1, 0},
		{"a|\nb", 10, "a/b", 0, 1},
		{"a\n|", 10, "a/", 1, 0},
		{"東京東|京", 5, "東京/東京", 1, 2},
		{"\t|x", 10, "    x", 0, 4},
	} {
		e := at(c.text)
		rows, row, col := e.rows(c.width)
		if got := strings.Join(rows, "/"); got != c.rows || row != c.row || col != c.col {
			t.Errorf("rows(%d) of %q = %q, %d, %d; want %q, %d, %d", c.width, c.text, got, row, col, c.rows, c.row, c.col)
		}
	}
}

func TestNoKeyBreaksTheText(t *testing.T) {
	keys := []string{
		"left", "right", "up", "down", "home", "end", "backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k", "ctrl+y",
		"alt+left", "alt+right", "alt+d", "alt+enter", "ctrl+p", "ctrl+n", "alt+<",
	}
	texts := []string{"a", " ", "東", "é", "👩‍👩‍👧", "\n", "\t", "one two", "🇩🇪"}
	rapid.Check(t, func(t *rapid.T) {
		h := &History{lines: []string{"one", "two\nlines"}}
		term := unconnected(Options{History: h})
		term.recall = newRecall(h)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "type") {
				term.edit.insert(rapid.SampledFrom(texts).Draw(t, "text"))
			} else {
				term.editKey(rapid.SampledFrom(keys).Draw(t, "key"))
			}
			e := &term.edit
			if e.at < 0 || e.at > len(e.text) || !utf8.ValidString(e.text) || !utf8.ValidString(e.text[:e.at]) {
				t.Fatalf("the editor has %q with the cursor at byte %d", e.text, e.at)
			}
			width := rapid.IntRange(4, 30).Draw(t, "width")
			rows, row, col := e.rows(width)
			if row >= len(rows) || col > width {
				t.Fatalf("rows(%d) of %q: the cursor is at %d, %d of %d rows", width, e, row, col, len(rows))
			}
			for _, r := range rows {
				if ansi.StringWidth(r) > width {
					t.Fatalf("rows(%d) of %q has %q", width, e, r)
				}
			}
		}
	})
}

// press presses keys: names such as enter, or text.
func press(t *Terminal, keys ...string) {
	for _, k := range keys {
		key := uv.Key{Text: k}
		switch k {
		case "enter":
			key = uv.Key{Code: uv.KeyEnter}
		case "tab":
			key = uv.Key{Code: uv.KeyTab}
		case "esc":
			key = uv.Key{Code: uv.KeyEscape}
		case "up":
			key = uv.Key{Code: uv.KeyUp}
		case "down":
			key = uv.Key{Code: uv.KeyDown}
		case "ctrl+c", "ctrl+d", "ctrl+r", "ctrl+g":
			key = uv.Key{Code: rune(k[5]), Mod: uv.ModCtrl}
		default:
			key.Code, _ = utf8.DecodeRuneInString(k)
		}
		t.event(uv.KeyPressEvent(key))
	}
}
