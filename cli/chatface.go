package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/cli/screen"
	"github.com/skein-dev/skein/render"
)

// open opens the screen: a full terminal if the cursor can be moved on it, else a
// plain one.
func (c *chat) open() error {
	in, inOK := c.Stdin.(*os.File)
	out, outOK := c.Stdout.(*os.File)
	dumb := c.Getenv("TERM") == "dumb"
	if !inOK || !outOK || !c.Terminal.In || !c.Terminal.Out || dumb {
		s := screen.Streams{In: c.Stdin, Out: c.Stdout, Err: c.Stderr}
		if c.Terminal.In && c.Terminal.Err {
			s.Prompt = "> "
		}
		c.screen = screen.Plain(s)
		return nil
	}
	h, err := c.typed()
	if err != nil {
		c.say("what was typed before cannot be read: %v", err)
	}
	c.screen, err = screen.Open(in, out, screen.Options{
		Paint: c.paint, History: h, Complete: c.complete, Open: c.openCall,
	})
	return err
}

// typed returns the history of what was typed in this project.
func (c *chat) typed() (*screen.History, error) {
	cwd, err := c.Getwd()
	if err != nil {
		return &screen.History{}, err
	}
	return screen.OpenHistory(filepath.Join(c.dirs.State, "history", projectFile(projectRoot(cwd))+".jsonl"))
}

func (c *chat) closeScreen() error {
	if c.screen == nil {
		return nil
	}
	err := c.screen.Close() // until it is closed, a key may still use it
	c.screen = nil
	return err
}

// face returns the callbacks by which the thread talks to the conversation.
func (c *chat) face() face {
	return face{program: "skein chat", observe: c.observe, ask: c.ask, tell: c.tell}
}

// tell prints a note that is not part of an answer.
func (c *chat) tell(format string, args ...any) {
	text := cleanText(fmt.Sprintf(format, args...))
	if c.screen == nil || !c.Terminal.Err {
		c.say("%s", text)
		return
	}
	c.gap("note")
	c.screen.Note(c.paint.Dim(c.fitted(text)))
}

// fitted wraps text to the width of the terminal.
func (c *chat) fitted(text string) string {
	if width := c.width(); width > 0 {
		return ansi.Wrap(text, width-1, "")
	}
	return text
}

// ask asks the person a question. At the end of a pipe the answer is no.
func (c *chat) ask(ctx context.Context, q question) (reply, error) {
	c.screen.Said()
	choices := []screen.Choice{
		{Key: 'y', Label: "yes", Value: string(yes)},
		{Key: 'n', Label: "no", Value: string(no)},
	}
	if q.always != "" {
		choices = append(choices, screen.Choice{Key: 'a', Label: "always " + q.always, Value: string(always)})
	}
	c.gap("question")
	answer, err := c.screen.Ask(ctx, screen.Question{Text: c.paint.Yellow("? ") + cleanText(q.text), Choices: choices})
	if errors.Is(err, io.EOF) || errors.Is(err, screen.ErrLeft) {
		return no, nil
	}
	return reply(answer), err
}

// gap prints a blank line between things of different kinds, except in a pipe.
func (c *chat) gap(kind string) {
	if _, ok := c.screen.(*screen.Terminal); ok && c.above != "" && c.above != kind {
		c.screen.Note("")
	}
	c.above = kind
}

// observe shows what happens in the thread.
func (c *chat) observe(u agent.Update) {
	if u.Child != "" {
		c.watchChild(u)
		return
	}
	switch u.Kind {
	case agent.Stored:
		c.kept = c.kept || slices.ContainsFunc(u.Events, func(e skein.Event) bool { return e.Kind == skein.KindSaid })
	case agent.Asking:
		c.screen.Said()
		c.screen.Work(screen.Work{Doing: "thinking", Tokens: c.tokens})
	case agent.Reasoning:
		c.thought += u.Text
		c.reckon(u.Text)
		c.screen.Work(screen.Work{Doing: "thinking", Detail: lastLine(c.thought), Tokens: c.tokens})
	case agent.Text:
		c.ponder()
		if c.above != "answer" {
			c.gap("answer")
		}
		c.reckon(u.Text)
		c.screen.Say(u.Text)
		c.screen.Work(screen.Work{Doing: "answering", Tokens: c.tokens})
	case agent.Calling:
		c.screen.Work(screen.Work{Doing: "preparing " + u.Text, Tokens: c.tokens})
	case agent.Waiting:
		c.screen.Said()
		c.tell("%v; again in %s", u.Err, seconds(u.Wait))
		c.screen.Work(screen.Work{Doing: fmt.Sprintf("waiting %s to try again", seconds(u.Wait)), Tokens: c.tokens})
	case agent.Answered:
		c.ponder()
		c.screen.Said()
	case agent.Compacting:
		c.screen.Work(screen.Work{Doing: "summing up what is older", Tokens: c.tokens})
	case agent.Compacted:
		if u.Err != nil {
			c.tell("what is older was not summed up: %v", u.Err)
		} else {
			c.tell("what is older was summed up; nothing is lost: skein show has all of it")
		}
	default:
		c.watchTool(u)
	}
}

// reckon estimates the tokens of text that came: about four bytes each.
func (c *chat) reckon(text string) { c.tokens += int64(len(text)+3) / 4 }

// ponder shows the reasoning received so far, if the person wants to see it.
func (c *chat) ponder() {
	text := strings.TrimSpace(cleanText(c.thought))
	c.thought = ""
	if text == "" || !c.options.thinking || c.screen == nil {
		return
	}
	c.gap("thought")
	c.screen.Note(c.paint.Dim("┊ " + strings.ReplaceAll(text, "\n", "\n┊ ")))
}

// lastLine returns the last line of text that is not blank.
func lastLine(text string) string {
	text = strings.TrimRight(text, "\n ")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// cleanText returns untrusted text made safe for a terminal.
func cleanText(text string) string { return render.Clean(text) }
