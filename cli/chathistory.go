package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lenient"
)

// resumed is how many messages are shown when a session is resumed.
const resumed = 10

// greet says which thread this is, and shows its earlier messages.
func (c *chat) greet(ctx context.Context) error {
	c.banner()
	if at := c.thread.at; at.forked && !c.thread.Begun() {
		return c.past(ctx, at.session) // the fork itself is not stored yet
	}
	if !c.thread.Begun() {
		return nil
	}
	s, err := c.thread.Session(ctx)
	if err != nil {
		return err
	}
	if err := c.past(ctx, s); err != nil {
		return err
	}
	if s.Uncertain > 0 {
		c.tell("%s in this session may have run, or not: its program ended before it was known. It is not run again by itself.", count(s.Uncertain, "tool call"))
	}
	waits, err := c.thread.Pending(ctx)
	switch {
	case err != nil || !waits:
	case c.options.takeUp:
		c.tell("the last prompt has no answer yet: it is taken up")
		return c.turn(ctx, c.thread.retry)
	default:
		c.tell("the last prompt has no answer yet: /retry asks again")
	}
	return err
}

// banner says in one line which session this is.
func (c *chat) banner() {
	t := c.thread
	about := []string{t.Agent().Model.About().String(), c.tilde(t.cwd())}
	if name := t.Agent().Name; name != "" {
		about = append([]string{name}, about...)
	}
	title := "new session"
	if !t.at.isNew() {
		title = t.at.session.Name()
	}
	c.tell("%s · %s · /help", cut(strings.Join(strings.Fields(title), " "), 40), strings.Join(about, " · "))
}

// past shows the earlier messages of s, as the flags ask.
func (c *chat) past(ctx context.Context, s skein.Session) error {
	switch {
	case c.options.none:
		return nil
	case c.options.replay:
		return c.again(ctx, s)
	case c.options.full:
		return c.everything(ctx, s)
	}
	return c.messages(ctx, s, resumed)
}

// everything shows all messages of s that were not taken back while it reads them:
// they may not all fit in memory.
func (c *chat) everything(ctx context.Context, s skein.Session) error {
	c.gap("past")
	t := c.transcript(printer{c.screen})
	for e, err := range (reader{ctx, c.thread.store, s}).entries(0) {
		if err != nil {
			return err
		}
		if e.Rewound {
			continue
		}
		if err := t.entry(&e); err != nil {
			return err
		}
	}
	return nil
}

// messages shows the newest n messages of s that were not taken back, and says how
// many earlier ones there are.
func (c *chat) messages(ctx context.Context, s skein.Session, n int) error {
	j := *c.job
	j.store = c.thread.store
	shown, earlier, err := j.newestShown(ctx, s, n)
	if err != nil {
		return err
	}
	if earlier > 0 {
		c.gap("note")
		c.screen.Note(c.paint.Dim(fmt.Sprintf("(%s; /history all shows them)", count(earlier, "earlier message"))))
	}
	var b bytes.Buffer
	w := c.transcript(&b)
	for i := range shown {
		if err := w.entry(&shown[i]); err != nil {
			return err
		}
	}
	if b.Len() > 0 {
		c.gap("past")
		c.screen.Print(b.String())
	}
	return nil
}

// newestShown returns the newest n messages of s that were not taken back, and how
// many earlier ones there are.
func (j *job) newestShown(ctx context.Context, s skein.Session, n int) (shown []skein.Entry, earlier int, err error) {
	store := lenient.Store(j.store, nil)
	for ask := n; ; ask *= 4 {
		found, err := store.Newest(ctx, s.ID, ask, 0)
		if err != nil {
			return nil, 0, err
		}
		shown = shown[:0]
		for _, e := range found {
			if !e.Rewound {
				shown = append(shown, e)
			}
		}
		if len(shown) >= n || len(found) < ask {
			over := max(len(shown)-n, 0)
			return shown[over:], max(s.Messages-len(shown[over:]), 0), nil
		}
	}
}

// transcript returns a writer of messages in the style of this chat.
func (c *chat) transcript(w io.Writer) *transcript {
	j := *c.job
	env := *c.Env
	j.Env = &env
	if width := c.width(); width > 0 {
		env.Terminal.Out, env.Terminal.Width = true, width-1
	} else {
		env.Terminal.Out = false
	}
	return newTranscript(w, &j, &showOptions{thinking: c.options.thinking})
}
