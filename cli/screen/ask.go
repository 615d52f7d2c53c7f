package screen

import (
	"context"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"github.com/skein-dev/skein/cli/prose"
)

// An asked is a question that waits for its answer.
type asked struct {
	Question
	answer string // "" until it is answered
}

// lines returns the choices as they are shown while the question waits.
func (a *asked) lines(p prose.Paint, width int) []string {
	var choices []string
	for _, c := range a.Choices {
		choices = append(choices, p.Bold(p.Yellow("["+string(c.Key)+"]"))+" "+c.Label)
	}
	return strings.Split(ansi.Wrap(strings.Join(choices, "  "), width-2, ""), "\n")
}

// choose answers the question if key is one of its choices.
func (t *Terminal) choose(key uv.Key) {
	for _, c := range t.asked.Choices {
		if key.Text == string(c.Key) {
			t.asked.answer = c.Value
			t.nudge()
			return
		}
	}
}

// Ask implements [Screen].
func (t *Terminal) Ask(ctx context.Context, q Question) (string, error) {
	t.mu.Lock()
	t.flush()
	t.asked = &asked{Question: q}
	t.show(ansi.Wrap(strings.TrimRight(q.Text, "\n"), t.paint.width-1, "") + "\n")
	t.mu.Unlock()
	for {
		if answer, err := t.answered(ctx); answer != "" || err != nil {
			return answer, err
		}
		select {
		case <-t.wake:
		case <-ctx.Done():
		}
	}
}

// answered returns the answer to the question, if there is one yet.
func (t *Terminal) answered(ctx context.Context) (answer string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	answer = t.asked.answer
	switch {
	case t.err != nil:
		err = t.err
	case ctx.Err() != nil:
		err = ctx.Err()
	case answer == "" && t.left:
		err = ErrLeft
	case answer == "":
		return "", nil
	}
	label := "no answer"
	for _, c := range t.asked.Choices {
		if c.Value == answer {
			label = c.Label
		}
	}
	t.asked = nil
	if len(t.said) > 0 {
		t.nudge() // Read can return what was typed ahead
	}
	t.show(t.o.Paint.Dim("  → ") + t.o.Paint.Bold(label) + "\n")
	return answer, err
}
