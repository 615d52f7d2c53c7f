package screen

import "unicode/utf8"

// A search looks for what was typed before.
type search struct {
	part   string // the text to find
	before string // what was being typed before the search
}

// seek shows the newest line that matches.
func (t *Terminal) seek() {
	t.recall.at = len(t.o.History.lines)
	if text, ok := t.recall.find(t.search.part); ok && t.search.part != "" {
		t.edit.set(text)
	}
}

// searchKey handles a key during a search. It returns false if the key ends the
// search and is to be handled as usual.
func (t *Terminal) searchKey(name string) bool {
	s := t.search
	switch name {
	case "ctrl+r":
		if text, ok := t.recall.find(s.part); ok {
			t.edit.set(text)
		}
	case "backspace", "ctrl+h":
		_, n := utf8.DecodeLastRuneInString(s.part)
		s.part = s.part[:len(s.part)-n]
		t.seek()
	case "esc", "ctrl+g":
		t.edit.set(s.before)
		t.search = nil
	case "enter", "tab":
		t.search = nil
	default:
		if utf8.RuneCountInString(name) == 1 || name == "space" {
			return false // handled by typed
		}
		t.search = nil
		return false
	}
	return true
}
