package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
)

// fresh is /new.
func (c *chat) fresh(ctx context.Context, _ string) error {
	if !c.thread.Begun() {
		c.done("this session is new already")
		return nil
	}
	at, err := c.options.fresh(ctx, c.job)
	if err != nil {
		return err
	}
	old := c.thread.ID()
	if err := c.moveTo(ctx, at); err != nil {
		return err
	}
	c.done("a fresh session; the old one is there: /resume %s", shortID(old))
	return nil
}

// resume is /resume NAME.
func (c *chat) resume(ctx context.Context, name string) error {
	if name == "" {
		return advise(usagef("/resume needs the name of a session"), "see: /sessions")
	}
	s, err := c.session(ctx, name)
	if err != nil {
		return err
	}
	if s.ID == c.thread.ID() {
		c.done("this is that session")
		return nil
	}
	if err := c.moveTo(ctx, spot{session: s}); err != nil {
		return err
	}
	c.banner()
	return c.messages(ctx, s, resumed)
}

// moveTo continues the conversation in another session. It releases the current one
// only after the other one has been opened.
func (c *chat) moveTo(ctx context.Context, at spot) error {
	o := c.options
	o.fork, o.takeOver, o.newest, o.name, o.key = false, false, false, "", ""
	if at.isNew() { // keep the agent of this conversation
		o.agent = c.thread.Agent().Profile
		o.model = c.thread.Agent().Model.About().String()
	} else {
		o.agent, o.model = "", ""
	}
	next, err := o.openAt(ctx, c.job, at, c.face())
	if err != nil {
		return err
	}
	old := c.thread
	c.options, c.thread = o, next
	hint := *old.options
	hint.noHint = true
	old.options = &hint
	return old.close(ctx, string(agent.Done))
}

// fork is /fork [TURN] [TITLE].
func (c *chat) fork(ctx context.Context, args string) error {
	s, err := c.begun(ctx, "fork")
	if err != nil {
		return err
	}
	at := s.Last
	word, title, _ := strings.Cut(args, " ")
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		o := forkOptions{turn: n, given: func(flag string) bool { return flag == "turn" }}
		if at, err = o.place(ctx, c.job, s); err != nil {
			return err
		}
	} else {
		title = args
	}
	title = strings.Join(strings.Fields(title), " ")
	id := skein.NewSessionID(c.Now())
	if _, err := c.thread.store.Append(ctx, skein.Batch{Session: id, After: skein.Fresh, Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, skein.At(c.Now()), forkOf(s, at, title, c.Version)),
	}}); err != nil {
		return err
	}
	f, err := c.thread.store.Session(ctx, id)
	if err != nil {
		return err
	}
	if err := c.moveTo(ctx, spot{session: f}); err != nil {
		return err
	}
	c.done("a fork: session %s; the other one is there: /resume %s", shortID(id), shortID(s.ID))
	return nil
}

// begun returns the session. The error says that the session has not begun, which
// the command what needs.
func (c *chat) begun(ctx context.Context, what string) (skein.Session, error) {
	if !c.thread.Begun() {
		return skein.Session{}, advise(usagef("/%s: nothing was said in this session yet", what), "say something first")
	}
	return c.thread.Session(ctx)
}

// undo is /undo [N].
func (c *chat) undo(ctx context.Context, args string) error {
	n := 1
	if args != "" {
		var err error
		if n, err = strconv.Atoi(args); err != nil || n < 1 {
			return usagef("/undo %q: want how many turns, 1 or more", args)
		}
	}
	if _, err := c.begun(ctx, "undo"); err != nil {
		return err
	}
	text, err := c.thread.Undo(ctx, n)
	if err != nil {
		return err
	}
	c.done("%s taken back; /redo brings it back", turnsWere(n))
	c.screen.Prefill(text)
	return nil
}

func turnsWere(n int) string {
	if n == 1 {
		return "the last turn was"
	}
	return "the last " + strconv.Itoa(n) + " turns were"
}

// redo is /redo.
func (c *chat) redo(ctx context.Context, _ string) error {
	s, err := c.begun(ctx, "redo")
	if err != nil {
		return err
	}
	if err := c.thread.Redo(ctx); err != nil {
		return err
	}
	c.done("it is back")
	if c.width() == 0 {
		return nil
	}
	c.screen.Prefill("")
	return c.messages(ctx, s, 2)
}

// retry is /retry.
func (c *chat) retry(ctx context.Context, _ string) error {
	if _, err := c.begun(ctx, "retry"); err != nil {
		return err
	}
	waits, err := c.thread.Pending(ctx)
	if err != nil {
		return err
	}
	if !waits {
		return advise(usagef("/retry: the last prompt has its answer"), "/undo takes it back, to say it anew")
	}
	return c.turn(ctx, c.thread.retry)
}

// clear is /clear.
func (c *chat) clear(ctx context.Context, _ string) error {
	if _, err := c.begun(ctx, "clear"); err != nil {
		return err
	}
	if err := c.thread.Clear(ctx); err != nil {
		return err
	}
	c.done("the model has forgotten what was said; /redo takes that back")
	return nil
}

// compact is /compact.
func (c *chat) compact(ctx context.Context, _ string) error {
	if _, err := c.begun(ctx, "compact"); err != nil {
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

// rename is /rename TITLE.
func (c *chat) rename(ctx context.Context, args string) error {
	title := strings.Join(strings.Fields(args), " ")
	if title == "" {
		return usagef("/rename needs a title")
	}
	if _, err := c.begun(ctx, "rename"); err != nil {
		return err
	}
	if err := c.thread.Rename(ctx, title); err != nil {
		return err
	}
	c.done("this session is now %q", title)
	return nil
}
