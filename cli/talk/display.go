package talk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/screen"
	"github.com/skein-dev/skein/render"
)

// A display is where a conversation is shown.
type display struct {
	*job.Job
	screen screen.Screen // nil if closed
	above  string        // the kind of the last thing shown: see gap
}

func (c *display) closeScreen() error {
	if c.screen == nil {
		return nil
	}
	for _, text := range c.screen.Unread() {
		c.screen.Note("not stored: " + cleanText(text))
	}
	err := c.screen.Close() // until it is closed, a key may still use it
	c.screen = nil
	return err
}

// tell prints a note that is not part of an answer.
func (c *display) tell(format string, args ...any) {
	text := cleanText(fmt.Sprintf(format, args...))
	if c.screen == nil || !c.Terminal.Err {
		c.Say("%s", text)
		return
	}
	c.gap("note")
	c.screen.Note(c.Paint.Dim(c.fitted(text)))
}

// fitted wraps text to the width of the terminal.
func (c *display) fitted(text string) string {
	if width := c.width(); width > 0 {
		return ansi.Wrap(text, width-1, "")
	}
	return text
}

// ask asks the person a question. At the end of a pipe the answer is no.
func (c *display) ask(ctx context.Context, q job.Question) (job.Decision, error) {
	c.screen.Said()
	choices := []screen.Choice{
		{Key: 'y', Label: "yes", Value: string(job.Yes)},
		{Key: 'n', Label: "no", Value: string(job.No)},
	}
	if q.Always != "" {
		choices = append(choices, screen.Choice{Key: 'a', Label: "always " + q.Always, Value: string(job.Always)})
	}
	c.gap("question")
	answer, err := c.screen.Ask(ctx, screen.Question{Text: c.Paint.Yellow("? ") + cleanText(q.Text), Choices: choices})
	if errors.Is(err, io.EOF) || errors.Is(err, screen.ErrLeft) {
		return job.No, nil
	}
	return job.Decision(answer), err
}

// gap prints a blank line between things of different kinds, except in a pipe.
func (c *display) gap(kind string) {
	if _, ok := c.screen.(*screen.Terminal); ok && c.above != "" && c.above != kind {
		c.screen.Note("")
	}
	c.above = kind
}

// width returns the width of the terminal; 0 without a terminal.
func (c *display) width() int {
	if t, ok := c.screen.(*screen.Terminal); ok {
		return t.Width()
	}
	return 0
}

// pairs returns rows of names and descriptions, aligned and wrapped.
func (c *display) pairs(rows [][2]string) string {
	wide := 0
	for _, r := range rows {
		wide = max(wide, ansi.StringWidth(r[0]))
	}
	room := 0
	if width := c.width(); width > 0 {
		room = max(width-wide-3, 20)
	}
	var b strings.Builder
	for _, r := range rows {
		doc := r[1]
		if room > 0 {
			doc = ansi.Wrap(doc, room, "")
		}
		pad := strings.Repeat(" ", wide-ansi.StringWidth(r[0])+2)
		b.WriteString(c.Paint.Cyan(r[0]) + pad + strings.ReplaceAll(doc, "\n", "\n"+strings.Repeat(" ", wide+2)) + "\n")
	}
	return b.String()
}

// print shows the output of a command.
func (c *display) print(text string) {
	if text = strings.Trim(text, "\n"); text != "" {
		c.gap("command")
		c.screen.Print(text)
	}
}

// done says what a command did.
func (c *display) done(format string, args ...any) {
	c.gap("note")
	c.screen.Note(c.Paint.Dim(c.fitted(cleanText(fmt.Sprintf(format, args...)))))
}

// cleanText returns untrusted text made safe for a terminal.
func cleanText(text string) string { return render.Clean(text) }
