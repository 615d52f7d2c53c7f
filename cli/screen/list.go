package screen

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/skein-dev/skein/cli/prose"
	"github.com/skein-dev/skein/render"
)

// A completionList is the completions that Tab offers. Its zero value offers none.
type completionList struct {
	words []Word
	from  int // byte offset in the text at which the words are inserted
	at    int // index of the word inserted; -1 for none yet
}

// listed is how many words are shown at once.
const listed = 8

// lines returns the list as it is shown.
func (l *completionList) lines(p prose.Paint, width int) (lines []string) {
	if len(l.words) == 0 {
		return nil
	}
	first := min(max(l.at-listed/2, 0), max(len(l.words)-listed, 0))
	shown := l.words[first:min(first+listed, len(l.words))]
	wide := 0
	for _, w := range shown {
		wide = max(wide, ansi.StringWidth(render.Line(w.Text)))
	}
	wide = min(wide, max(width/2, 10))
	for i, w := range shown {
		text := ansi.Truncate(render.Line(w.Text), wide, "…")
		pad := strings.Repeat(" ", wide-ansi.StringWidth(text))
		mark := "  "
		if first+i == l.at {
			mark, text = "› ", p.Bold(text)
		}
		line := mark + p.Cyan(text) + pad
		if w.About != "" {
			line += "  " + p.Dim(render.Line(w.About))
		}
		lines = append(lines, ansi.Truncate(line, width-1, "…"))
	}
	if more := len(l.words) - len(shown); more > 0 {
		lines = append(lines, p.Dim("  "+count(int64(more))+" more"))
	}
	return lines
}

// complete handles Tab: it inserts what all words have in common; then it goes
// through the words, by step.
func (t *Terminal) complete(step int) {
	if len(t.list.words) > 0 {
		n := len(t.list.words)
		if t.list.at < 0 && step < 0 {
			t.list.at = 0
		}
		t.list.at = (t.list.at + step + n) % n
		t.edit.replace(t.list.from, t.list.words[t.list.at].Text)
		return
	}
	if t.o.Complete == nil || !t.reading { // Complete may use data of the caller of Read
		return
	}
	c := t.o.Complete(t.edit.text, t.edit.at)
	switch len(c.Words) {
	case 0:
		return
	case 1:
		t.edit.replace(c.From, c.Words[0].Text)
		if !strings.HasSuffix(c.Words[0].Text, "/") {
			t.edit.insert(" ")
		}
		return
	}
	if all := common(c.Words); len(all) > t.edit.at-c.From {
		t.edit.replace(c.From, all)
	}
	t.list = completionList{words: c.Words, from: c.From, at: -1}
}

// common returns the common prefix of words.
func common(words []Word) string {
	all := words[0].Text
	for _, w := range words[1:] {
		for !strings.HasPrefix(w.Text, all) {
			all = all[:len(all)-1]
		}
	}
	return strings.ToValidUTF8(all, "")
}
