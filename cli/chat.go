package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/cli/screen"
)

func newChat(f *frame) *cobra.Command {
	var o threadOptions
	c := &cobra.Command{
		Use:   "chat [flags]",
		Short: "talk to a model in this project's thread",
		Long: `Talk to a model. Without a flag, chat continues the project's own thread, which
begins with your first message and is there again tomorrow. The project is the
git root, so its subfolders share the thread. --continue and --resume continue
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
		Args: words(0, 0, ""),
		RunE: f.withStore(func(ctx context.Context, j *job, _ []string) error { return o.chat(ctx, j) }),
	}
	o.pickFlags(c)
	o.flags(c)
	o.showFlags(c)
	return c
}

// A chat is a conversation of a person with a thread.
type chat struct {
	*job
	options threadOptions
	screen  screen.Screen // nil if closed
	thread  *thread
	calls   callLog
	above   string // the kind of the last thing shown: see gap
	thought string // reasoning not shown yet
	tokens  int64  // received in this turn, roughly
	kept    bool   // what the person said in this turn is stored
	failed  bool   // something that was said was not done
}

// chat runs the conversation that the flags ask for.
func (o *threadOptions) chat(ctx context.Context, j *job) (err error) {
	c := &chat{job: j, options: *o}
	if err := c.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.closeScreen()) }()
	if c.thread, err = c.options.open(ctx, j, projectThread, c.face()); err != nil {
		return err
	}
	how := agent.Done
	defer func() {
		err = errors.Join(err, c.closeScreen(), c.thread.close(ctx, string(how)))
	}()
	if err = c.greet(ctx); err == nil {
		err = c.talk(ctx)
	}
	if errors.Is(err, errLeave) {
		err = nil
	}
	if err == nil && c.failed && !c.Terminal.In { // nobody is watching: the program that wrote the lines needs the exit code
		err = errSilent
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
	err := c.turn(ctx, func(ctx context.Context) (agent.Outcome, error) { return c.thread.say(ctx, text) })
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
	err = noModel(err)
	text, hint := sentence(err), ""
	if _, after, ok := strings.Cut(text, skein.ErrInvalid.Error()+" "); ok && errors.Is(err, skein.ErrInvalid) {
		text = after // the call path in the error means nothing to a person
	} else if _, hint = outcome(err, "skein chat"); !isAdvised(err) && errors.Is(err, errUsage) {
		hint = "see: /help"
	}
	c.gap("error")
	c.screen.Note(c.paint.Red("✗ ") + c.fitted(cleanText(text)))
	if a := (*skein.AmbiguousError)(nil); errors.As(err, &a) {
		c.screen.Note(candidates(a.Candidates, c.Now()))
	}
	if hint != "" {
		c.screen.Note(c.paint.Dim(c.fitted(cleanText(hint))))
	}
	if c.verbose {
		c.screen.Note(c.paint.Dim(c.fitted(cleanText("the error's path: " + err.Error()))))
	}
}

func isAdvised(err error) bool {
	a := (*advised)(nil)
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
		c.screen.Note(c.paint.Dim(why))
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
		return "(stopped; what was complete is kept, /retry takes the rest up again)"
	case agent.MaxSteps:
		return fmt.Sprintf("(stopped after %s, before the model was done; say \"go on\" to go on)", count(out.Steps, "request"))
	case agent.Timeout:
		return "(stopped: it took longer than its agent allows; say \"go on\" to go on)"
	}
	return ""
}
