package talk

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/thread"
	"github.com/skein-dev/skein/cli/trace"
	"github.com/skein-dev/skein/cli/write"
)

// beginFresh is /new.
func beginFresh(ctx context.Context, c *chat, _ string) error {
	if !c.thread.Begun() {
		c.done("this session is already new")
		return nil
	}
	at, err := c.options.Fresh(ctx, c.Job)
	if err != nil {
		return err
	}
	old := c.thread.ID()
	if err := moveTo(ctx, c, at); err != nil {
		return err
	}
	c.done("a new session; to go back to the old one: /resume %s", sessions.ShortID(old))
	return nil
}

// resumeOther is /resume NAME.
func resumeOther(ctx context.Context, c *chat, name string) error {
	if name == "" {
		return fault.Advise(fault.Usage("/resume needs the name of a session"), "see: /sessions")
	}
	s, err := sessions.Live(ctx, c.Job, name)
	if err != nil {
		return err
	}
	if s.ID == c.thread.ID() {
		c.done("you are in that session already")
		return nil
	}
	if err := moveTo(ctx, c, thread.Selection{Session: s}); err != nil {
		return err
	}
	c.banner()
	return c.messages(ctx, s, resumed)
}

// moveTo continues the conversation in another session. It releases the current one
// only after the other one has been opened.
func moveTo(ctx context.Context, c *chat, at thread.Selection) error {
	o := c.options
	o.Fork, o.TakeOver, o.Newest, o.Name, o.Key = false, false, false, "", ""
	if at.IsNew() { // keep the agent of this conversation
		o.Agent = c.thread.Agent().Profile
		o.Model = c.thread.Agent().Model.About().String()
	} else {
		o.Agent, o.Model = "", ""
	}
	next, err := o.OpenAt(ctx, c.Job, at, c.face())
	if err != nil {
		return err
	}
	old := c.thread
	c.options, c.thread = o, next
	hint := *old.Options
	hint.NoHint = true
	old.Options = &hint
	return old.End(ctx, string(agent.Done))
}

// forkHere is /fork [TURN] [TITLE].
func forkHere(ctx context.Context, c *chat, args string) error {
	s, err := begun(ctx, c, "fork")
	if err != nil {
		return err
	}
	at := s.Last
	word, title, _ := strings.Cut(args, " ")
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		o := write.ForkOptions{Turn: n, Given: func(flag string) bool { return flag == "turn" }}
		if at, err = o.Place(ctx, c.Job, s); err != nil {
			return err
		}
	} else {
		title = args
	}
	title = strings.Join(strings.Fields(title), " ")
	id := skein.NewSessionID(c.Now())
	if _, err := c.thread.Store.Append(ctx, skein.Batch{Session: id, After: skein.Fresh, Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, skein.At(c.Now()), sessions.ForkOf(s, at, title, c.Version)),
	}}); err != nil {
		return err
	}
	f, err := c.thread.Store.Session(ctx, id)
	if err != nil {
		return err
	}
	if err := moveTo(ctx, c, thread.Selection{Session: f}); err != nil {
		return err
	}
	c.done("this is now the fork %s; back to the other session: /resume %s", sessions.ShortID(id), sessions.ShortID(s.ID))
	return nil
}

// begun returns the session. The error says that the session has not begun, which
// the command what needs.
func begun(ctx context.Context, c *chat, what string) (skein.Session, error) {
	if !c.thread.Begun() {
		return skein.Session{}, fault.Advise(fault.Usage("/%s: this session has no messages yet", what), "say something first")
	}
	return c.thread.Session(ctx)
}

// undoTurns is /undo [N] [--files] [--whole].
func undoTurns(ctx context.Context, c *chat, args string) error {
	u, err := trace.ParseUndo(args)
	if err != nil {
		return err
	}
	s, err := begun(ctx, c, "undo")
	if err != nil {
		return err
	}
	if u.Files {
		turn, err := c.thread.UndoneTurn(ctx, u.Turns)
		if err != nil {
			return err
		}
		done, err := trace.RewindFiles(ctx, c.Job, &s, trace.FileRewind{Turn: turn, Whole: u.Whole, Agree: func(question string) (bool, error) {
			d, err := c.ask(ctx, job.Question{Text: question})
			return d == job.Yes, err
		}})
		if err != nil || !done {
			if err == nil {
				c.done("nothing was taken back")
			}
			return err
		}
	}
	text, err := c.thread.Undo(ctx, u.Turns)
	if err != nil {
		return err
	}
	c.done("%s taken back; /redo brings it back", turnsWere(u.Turns))
	c.screen.Prefill(text)
	return nil
}

func turnsWere(n int) string {
	if n == 1 {
		return "the last turn was"
	}
	return "the last " + strconv.Itoa(n) + " turns were"
}

// redoTurns is /redo.
func redoTurns(ctx context.Context, c *chat, _ string) error {
	s, err := begun(ctx, c, "redo")
	if err != nil {
		return err
	}
	if err := c.thread.Redo(ctx); err != nil {
		return err
	}
	c.done("brought back what was taken away")
	if c.width() == 0 {
		return nil
	}
	c.screen.Prefill("")
	return c.messages(ctx, s, 2)
}

// askAgain is /retry.
func askAgain(ctx context.Context, c *chat, _ string) error {
	if _, err := begun(ctx, c, "retry"); err != nil {
		return err
	}
	waits, err := c.thread.Pending(ctx)
	if err != nil {
		return err
	}
	if !waits {
		return fault.Advise(fault.Usage("/retry: the last prompt has its answer"), "/undo takes the prompt back, so that you can say it again")
	}
	return c.turn(ctx, c.thread.AskAgain)
}

// clearThread is /clear.
func clearThread(ctx context.Context, c *chat, _ string) error {
	if _, err := begun(ctx, c, "clear"); err != nil {
		return err
	}
	if err := c.thread.Clear(ctx); err != nil {
		return err
	}
	c.done("cleared the context: the model no longer sees what was said; /redo brings it back")
	return nil
}

// compactThread is /compact.
func compactThread(ctx context.Context, c *chat, _ string) error {
	if _, err := begun(ctx, c, "compact"); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c.screen.Begin(stop)
	err := c.thread.Compact(ctx)
	if c.screen.End() {
		return errors.Join(err, errLeave)
	}
	return err
}

// renameThread is /rename TITLE.
func renameThread(ctx context.Context, c *chat, args string) error {
	title := strings.Join(strings.Fields(args), " ")
	if title == "" {
		return fault.Usage("/rename needs a title")
	}
	if _, err := begun(ctx, c, "rename"); err != nil {
		return err
	}
	if err := c.thread.Rename(ctx, title); err != nil {
		return err
	}
	c.done("this session is now %q", title)
	return nil
}
