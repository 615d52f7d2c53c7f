package screen

import (
	"unicode/utf8"
)

// typing is what a person is about to say. The device's mu guards it.
type typing struct {
	edit   editor
	recall recall
	list   completionList // of completions
	search *search
}

// typed inserts text at the cursor.
func (t *typing) typed(text string) {
	t.list = completionList{}
	if t.search != nil {
		t.search.part += text
		t.seek()
		return
	}
	t.edit.insert(text)
}

// editKey moves the cursor or changes the text, as in a shell.
func (t *typing) editKey(name string) {
	e := &t.edit
	switch name {
	case "alt+enter", "shift+enter", "ctrl+enter", "ctrl+j":
		e.insert("\n")
	case "left", "ctrl+b":
		e.left()
	case "right", "ctrl+f":
		e.right()
	case "alt+left", "ctrl+left", "alt+b":
		e.at = e.wordLeft()
	case "alt+right", "ctrl+right", "alt+f":
		e.at = e.wordRight()
	case "home", "ctrl+a":
		e.at = e.lineStart(e.at)
	case "end", "ctrl+e":
		e.at = e.lineEnd(e.at)
	case "ctrl+home", "alt+<":
		e.at = 0
	case "ctrl+end", "alt+>":
		e.at = len(e.text)
	case "backspace", "ctrl+h", "shift+backspace":
		e.remove(e.before(e.at), e.at)
	case "delete", "ctrl+d":
		e.remove(e.at, e.next(e.at))
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		e.kill(e.wordLeft(), e.at)
	case "alt+d", "ctrl+delete":
		e.kill(e.at, e.wordRight())
	case "ctrl+u":
		e.kill(e.lineStart(e.at), e.at)
	case "ctrl+k":
		e.kill(e.at, e.lineEnd(e.at))
	case "ctrl+y":
		e.insert(e.cut)
	case "up":
		if !e.up() {
			t.older()
		}
	case "down":
		if !e.down() {
			t.newer()
		}
	case "ctrl+p":
		t.older()
	case "ctrl+n":
		t.newer()
	case "ctrl+r":
		t.search = &search{before: e.text}
	}
}

func (t *typing) older() {
	if text, ok := t.recall.older(t.edit.text); ok {
		t.edit.set(text)
	}
}

func (t *typing) newer() {
	if text, ok := t.recall.newer(); ok {
		t.edit.set(text)
	}
}

// A search looks for what was typed before.
type search struct {
	part   string // the text to find
	before string // what was being typed before the search
}

// seek shows the newest line that matches.
func (t *typing) seek() {
	t.recall.at = len(t.recall.h.lines)
	if text, ok := t.recall.find(t.search.part); ok && t.search.part != "" {
		t.edit.set(text)
	}
}

// searchKey handles a key during a search. It returns false if the key ends the
// search and is to be handled as usual.
func (t *typing) searchKey(name string) bool {
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
