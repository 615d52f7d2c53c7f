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
	t.list = completionList{}
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
		t.edit, t.list, t.recall = editor{cut: t.edit.cut}, completionList{}, newRecall(t.o.History)
	default:
		t.warned, t.notice = now, "Ctrl-C again, or Ctrl-D, leaves"
	}
}

// forget forgets that Ctrl-C was pressed, and removes the notice about it.
func (t *answerWait) forget() { t.warned, t.notice = time.Time{}, "" }

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
