package talk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/screen"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/cli/thread"
	"github.com/skein-dev/skein/internal/repository"
)

// NewChat returns the command chat.
func NewChat(f *job.Frame) *cobra.Command {
	var o thread.Options
	c := &cobra.Command{
		Use:   "chat [flags]",
		Short: "talk to a model in this project's thread",
		Long: `Talk to a model. Without a flag, chat continues the project's own thread, which
begins with your first message and is there again tomorrow. The project is the
git root, so its subfolders share the thread, and so do the clones of a
repository: in another clone, chat goes on in the thread that was used last, and
its tools work in that clone. --here keeps to the folder. --continue and --resume continue
other sessions.

/help lists the commands of a chat. Ctrl-C stops an answer and keeps what is
complete; pressed twice, it leaves the chat, as Ctrl-D does. Alt-Enter, Ctrl-J,
or a backslash at the end of a line begins a new line. Tab completes commands,
names and @paths, Ctrl-R searches earlier prompts, and Ctrl-O shows all of the
last tool call. In a pipe, each line of stdin is a prompt, answers go to stdout,
and everything else goes to stderr; the exit code is 1 if any turn failed.`,
		Example: `skein chat
	skein chat -c
	skein chat -r 4f1d22a0 --full-history
	skein chat --model echo`,
		Args: job.Words(0, 0, ""),
		RunE: f.WithStore(func(ctx context.Context, j *job.Job, _ []string) error { return converse(ctx, &o, j) }),
	}
	o.PickFlags(c)
	o.Flags(c)
	o.ShowFlags(c)
	return c
}

// A chat is a conversation of a person with a thread.
type chat struct {
	observer
	options thread.Options
	thread  *thread.Thread
	failed  bool // something that was said was not done
}

func chatOf(j *job.Job, o thread.Options) *chat {
	return &chat{options: o, observer: observer{thinking: o.Show.Thinking, display: display{Job: j}}}
}

// converse runs the conversation that the flags ask for.
func converse(ctx context.Context, o *thread.Options, j *job.Job) (err error) {
	c := chatOf(j, *o)
	if err := c.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.closeScreen()) }()
	if c.thread, err = c.options.Open(ctx, j, thread.ProjectThread, c.face()); err != nil {
		return err
	}
	how := agent.Done
	defer func() {
		err = errors.Join(err, c.closeScreen(), c.thread.End(ctx, string(how)))
	}()
	if err = c.greet(ctx); err == nil {
		err = c.talk(ctx)
	}
	if errors.Is(err, errLeave) {
		err = nil
	}
	if err == nil && c.failed && !c.Terminal.In { // nobody is watching: the program that wrote the lines needs the exit code
		err = fault.ErrSilent
	}
	if err != nil {
		how = agent.Error
		if errors.Is(err, context.Canceled) {
			how = agent.Interrupted
		}
	}
	return err
}

// talk reads what the person says until they leave.
func (c *chat) talk(ctx context.Context) error {
	for {
		c.gap("prompt")
		text, err := c.screen.Read(ctx)
		if errors.Is(err, screen.ErrLeft) || errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = c.obey(ctx, text)
		switch {
		case errors.Is(err, errLeave):
			return nil
		case ctx.Err() != nil:
			return context.Canceled
		case errors.Is(err, skein.ErrFenced), errors.Is(err, skein.ErrClosed):
			return err
		case err != nil:
			c.complain(err)
		}
	}
}

// errLeave ends the conversation at the person's request.
var errLeave = errors.New("the person leaves")

// obey does what text asks for: it runs a command, or sends a prompt to the model.
func (c *chat) obey(ctx context.Context, text string) error {
	if name, args, ok := slashed(text); ok {
		return c.command(ctx, name, args)
	}
	c.kept = false
	err := c.turn(ctx, func(ctx context.Context) (agent.Outcome, error) { return c.thread.Say(ctx, text) })
	switch {
	case c.kept:
	case errors.Is(err, skein.ErrFenced): // the session cannot continue here, so there is no next prompt
		c.screen.Note("not stored: " + cleanText(text))
	default:
		c.screen.Prefill(text)
	}
	return err
}

// complain shows an error that does not end the conversation, and what to do about
// it.
func (c *chat) complain(err error) {
	c.failed = true
	err = thread.NoModel(err)
	text, hint := fault.Sentence(err), ""
	if _, after, ok := strings.Cut(text, skein.ErrInvalid.Error()+" "); ok && errors.Is(err, skein.ErrInvalid) {
		text = after // the call path in the error means nothing to a person
	} else if _, hint = fault.Outcome(err, "skein chat"); !isAdvised(err) && errors.Is(err, fault.ErrUsage) {
		hint = "see: /help"
	}
	c.gap("error")
	c.screen.Note(c.Paint.Red("✗ ") + c.fitted(cleanText(text)))
	if a := (*skein.AmbiguousError)(nil); errors.As(err, &a) {
		c.screen.Note(sessions.Candidates(a.Candidates, c.Now()))
	}
	if hint != "" {
		c.screen.Note(c.Paint.Dim(c.fitted(cleanText(hint))))
	}
	if c.Verbose {
		c.screen.Note(c.Paint.Dim(c.fitted(cleanText("the error's path: " + err.Error()))))
	}
}

func isAdvised(err error) bool {
	a := (*fault.AdvisedError)(nil)
	return errors.As(err, &a)
}

// turn lets the model answer, and if the turn was not completed, says why.
func (c *chat) turn(ctx context.Context, do func(context.Context) (agent.Outcome, error)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c.tokens, c.thought = 0, ""
	c.screen.Begin(stop)
	out, err := do(ctx)
	left := c.screen.End()
	c.ponder()
	if err != nil {
		if !errors.Is(err, skein.ErrFenced) {
			c.complain(err)
			err = nil
		}
	} else if why := c.why(out); why != "" {
		c.failed = true
		c.gap("stop")
		c.screen.Note(c.Paint.Dim(why))
	}
	if left && err == nil {
		err = errLeave
	}
	return err
}

// why says why a turn ended before the model was done; "" if it was done.
func (c *chat) why(out agent.Outcome) string {
	switch out.Stop {
	case agent.Interrupted:
		return "(stopped; what was complete is kept; /retry asks for the rest)"
	case agent.MaxSteps:
		return fmt.Sprintf("(stopped after %s, before the model was done; to continue, say \"go on\")", terminal.Count(out.Steps, "request"))
	case agent.Timeout:
		return "(stopped: the turn took longer than its agent allows; to continue, say \"go on\")"
	}
	return ""
}

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
		c.Say("the history of prompts cannot be read: %v", err)
	}
	c.screen, err = screen.Open(in, out, screen.Options{
		Paint: c.Paint, History: h, Complete: c.complete, Open: c.openCall,
	})
	return err
}

// typed returns the history of what was typed in this project.
func (c *chat) typed() (*screen.History, error) {
	cwd, err := c.Getwd()
	if err != nil {
		return &screen.History{}, err
	}
	return screen.OpenHistory(filepath.Join(c.Dirs.State, "history", projectFile(repository.Project(cwd))+".jsonl"))
}

// face returns the callbacks by which the thread talks to the conversation.
func (c *chat) face() thread.Face {
	return thread.Face{Program: "skein chat", Observe: c.observe, Ask: c.ask, Tell: c.tell}
}

// projectFile returns a file name for data about a project: the name of its folder,
// and a hash of its path.
func projectFile(project string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, filepath.Base(project))
	sum := sha256.Sum256([]byte(project))
	return name[:min(len(name), 40)] + "-" + hex.EncodeToString(sum[:6])
}
