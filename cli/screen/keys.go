package screen

import (
	"strings"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// event handles a key, a paste or a new size of the terminal.
func (t *Terminal) event(e uv.Event) {
	var after func() // to be called without the lock
	t.mu.Lock()
	switch e := e.(type) {
	case uv.KeyPressEvent:
		after = t.key(e.Key())
	case uv.PasteEvent:
		if t.asked == nil {
			t.typed(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(e.Content, "\ufffd")))
		}
	case uv.WindowSizeEvent:
		t.resize(e.Width, e.Height)
	default:
		t.mu.Unlock()
		return
	}
	t.show("")
	t.mu.Unlock()
	if after != nil {
		after()
	}
}

// typed inserts text at the cursor.
func (t *Terminal) typed(text string) {
	t.list = list{}
	if t.search != nil {
		t.search.part += text
		t.seek()
		return
	}
	t.edit.insert(text)
}

// key handles a key.
func (t *Terminal) key(key uv.Key) (after func()) {
	name := key.Keystroke()
	if name != "ctrl+c" {
		t.forget()
	}
	switch {
	case t.grabbed != nil:
		t.hand(key, name)
		return nil
	case name == "ctrl+c":
		t.interrupt()
		return nil
	case name == "ctrl+o" && t.ready:
		return t.o.Open
	case name == "ctrl+z":
		return t.suspend
	case name == "ctrl+l":
		t.clear()
		return nil
	case t.asked != nil:
		t.choose(key)
		return nil
	case name == "ctrl+d" && t.edit.text == "":
		t.leave()
		return nil
	case name == "tab" && t.search == nil:
		t.complete(1)
		return nil
	case name == "shift+tab" && t.search == nil:
		t.complete(-1)
		return nil
	}
	picked := len(t.list.words) > 0 && t.list.at >= 0
	t.list = list{}
	switch {
	case t.search != nil && t.searchKey(name):
	case name == "esc", name == "enter" && picked:
	case name == "enter" && strings.HasSuffix(t.edit.text[:t.edit.at], `\`):
		t.edit.replace(t.edit.at-1, "\n")
	case name == "enter":
		t.enter()
	case key.Text != "" && key.Mod&(uv.ModCtrl|uv.ModAlt|uv.ModMeta|uv.ModSuper) == 0:
		t.typed(key.Text)
	default:
		t.editKey(name)
	}
	return nil
}

// editKey moves the cursor or changes the text, as in a shell.
func (t *Terminal) editKey(name string) {
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

func (t *Terminal) older() {
	if text, ok := t.recall.older(t.edit.text); ok {
		t.edit.set(text)
	}
}

func (t *Terminal) newer() {
	if text, ok := t.recall.newer(); ok {
		t.edit.set(text)
	}
}

// again is the time within which a second Ctrl-C leaves.
const again = 3 * time.Second

// interrupt handles Ctrl-C: it stops what the person waits for, else clears the
// line; a second one leaves.
func (t *Terminal) interrupt() {
	now := t.o.Now()
	twice := !t.warned.IsZero() && now.Sub(t.warned) <= again
	switch {
	case twice:
		t.leave()
	case t.stop != nil:
		t.halt()
		t.warned, t.notice = now, "stopping; Ctrl-C again leaves"
	case t.search != nil:
		t.edit.set(t.search.before)
		t.search = nil
	case t.edit.text != "" || len(t.list.words) > 0:
		t.edit, t.list, t.recall = editor{cut: t.edit.cut}, list{}, newRecall(t.o.History)
	default:
		t.warned, t.notice = now, "Ctrl-C again, or Ctrl-D, leaves"
	}
}

// forget forgets that Ctrl-C was pressed, and removes the notice about it.
func (t *Terminal) forget() { t.warned, t.notice = time.Time{}, "" }

// clear clears the terminal but not the scrollback.
func (t *Terminal) clear() {
	t.write(strings.Repeat("\r\n", t.height) + ansi.EraseEntireScreen + ansi.CursorHomePosition)
	t.paint.live, t.paint.row, t.paint.col = nil, 0, 0
}

// suspend returns to the shell until the person resumes the program.
func (t *Terminal) suspend() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.write(ansi.ResetModeBracketedPaste + "\r\n" + ansi.EraseScreenBelow)
	t.paint.live, t.paint.row, t.paint.col = nil, 0, 0
	if err := t.console.Restore(); err == nil {
		if err := uv.Suspend(); err != nil {
			t.notice = "cannot be stopped: " + err.Error()
		}
		if _, err := t.console.MakeRaw(); err != nil && t.err == nil {
			t.err = err
		}
	}
	t.write(ansi.SetModeBracketedPaste)
	t.show("")
}
