package screen

import (
	"context"
	"strings"
)

// Read implements [Screen].
func (t *Terminal) Read(ctx context.Context) (string, error) {
	for {
		text, err, ok := t.entered()
		if ok {
			return text, err
		}
		select {
		case <-t.wake:
		case <-ctx.Done():
			t.mu.Lock()
			defer t.mu.Unlock()
			t.reading = false
			t.show("")
			return "", ctx.Err()
		}
	}
}

// entered returns what the person has entered, if they have.
func (t *Terminal) entered() (text string, err error, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reading, t.ready = true, true
	switch {
	case t.err != nil:
		err = t.err
	case len(t.said) > 0:
		text, t.said = t.said[0], t.said[1:]
	case t.left:
		err = ErrLeft
	default:
		t.show("")
		return "", nil, false
	}
	t.reading = false
	t.show(t.echo(text))
	return text, err, true
}

// echo formats what a person has said for the scrollback.
func (t *Terminal) echo(text string) string {
	if text == "" {
		return ""
	}
	lines := strings.Split(visible(text), "\n")
	for i, l := range lines {
		if i == 0 {
			lines[i] = t.o.Paint.Bold(t.o.Paint.Green(prompt)) + l
		} else {
			lines[i] = strings.Repeat(" ", len([]rune(prompt))) + l
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// enter takes the text in the editor as entered.
func (t *Terminal) enter() {
	text := strings.TrimSpace(t.edit.text)
	if text == "" {
		return
	}
	t.edit = editor{cut: t.edit.cut}
	if err := t.o.History.Add(text); err != nil && t.err == nil {
		t.notice = "not in the history: " + err.Error()
	}
	t.recall = newRecall(t.o.History)
	t.said = append(t.said, text)
	t.nudge()
}

// Prefill implements [Screen].
func (t *Terminal) Prefill(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.edit.set(text)
	t.show("")
}
