package screen

import "unicode/utf8"

// A search is for what was typed before.
type search struct {
	part   string // that it contains
	before string // what was being typed
}

// seek shows the newest line that the search finds.
func (t *Terminal) seek() {
	t.recall.at = len(t.o.History.lines)
	if text, ok := t.recall.find(t.search.part); ok && t.search.part != "" {
		t.edit.set(text)
	}
}

// searchKey does what a key means while one searches. It reports false if the
// key ends the search and still is to do what it always does.
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
			return false // goes to typed
		}
		t.search = nil
		return false
	}
	return true
}
