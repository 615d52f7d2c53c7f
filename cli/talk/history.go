package talk

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/read"
	"github.com/skein-dev/skein/cli/screen"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/store/lenient"
)

// resumed is how many messages are shown when a session is resumed.
const resumed = 10

// greet says which thread this is, and shows its earlier messages.
func (c *chat) greet(ctx context.Context) error {
	c.banner()
	if at := c.thread.At; at.Forked && !c.thread.Begun() {
		return c.past(ctx, at.Session) // the fork itself is not stored yet
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
		c.tell("%s in this session may or may not have run: the program ended before the result was known. skein does not repeat such calls.", terminal.Count(s.Uncertain, "tool call"))
	}
	waits, err := c.thread.Pending(ctx)
	switch {
	case err != nil || !waits:
	case c.options.TakeUp:
		c.tell("the last prompt has no answer yet: asking again")
		return c.turn(ctx, c.thread.AskAgain)
	default:
		c.tell("the last prompt has no answer yet: /retry asks again")
	}
	return err
}

// banner says in one line which session this is.
func (c *chat) banner() {
	t := c.thread
	about := []string{t.Agent().Model.About().String(), c.Tilde(t.Cwd())}
	if name := t.Agent().Name; name != "" {
		about = append([]string{name}, about...)
	}
	title := "new session"
	if !t.At.IsNew() {
		title = sessions.Called(t.At.Session)
	}
	c.tell("%s · %s · /help", terminal.Cut(strings.Join(strings.Fields(title), " "), 40), strings.Join(about, " · "))
}

// past shows the earlier messages of s, as the flags ask.
func (c *chat) past(ctx context.Context, s skein.Session) error {
	switch {
	case c.options.Show.None:
		return nil
	case c.options.Show.Replay:
		return c.again(ctx, s)
	case c.options.Show.Full:
		return c.everything(ctx, s)
	}
	return c.messages(ctx, s, resumed)
}

// everything shows all messages of s that were not taken back while it reads them:
// they may not all fit in memory.
func (c *chat) everything(ctx context.Context, s skein.Session) error {
	c.gap("past")
	t := c.transcript(printer{c.screen})
	for e, err := range (sessions.Reader{Ctx: ctx, Store: c.thread.Store, Session: s}).Entries(0) {
		if err != nil {
			return err
		}
		if e.Rewound {
			continue
		}
		if err := t.Entry(&e); err != nil {
			return err
		}
	}
	return nil
}

// messages shows the newest n messages of s that were not taken back, and says how
// many earlier ones there are.
func (c *chat) messages(ctx context.Context, s skein.Session, n int) error {
	j := *c.Job
	j.Store = c.thread.Store
	shown, earlier, err := newestShown(ctx, &j, s, n)
	if err != nil {
		return err
	}
	if earlier > 0 {
		c.gap("note")
		c.screen.Note(c.Paint.Dim(fmt.Sprintf("(%s; /history all shows them)", terminal.Count(earlier, "earlier message"))))
	}
	var b bytes.Buffer
	w := c.transcript(&b)
	for i := range shown {
		if err := w.Entry(&shown[i]); err != nil {
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
func newestShown(ctx context.Context, j *job.Job, s skein.Session, n int) (shown []skein.Entry, earlier int, err error) {
	store := lenient.Store(j.Store, nil)
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
func (c *chat) transcript(w io.Writer) *read.Transcript {
	j := *c.Job
	env := *c.Env
	j.Env = &env
	if width := c.width(); width > 0 {
		env.Terminal.Out, env.Terminal.Width = true, width-1
	} else {
		env.Terminal.Out = false
	}
	return read.NewTranscript(w, &j, &read.ShowOptions{Thinking: c.options.Show.Thinking})
}

// again shows s at the pace at which it was said.
func (c *chat) again(ctx context.Context, s skein.Session) error {
	r := &read.Replaying{Speed: c.options.Show.Speed}
	if t, ok := c.screen.(*screen.Terminal); ok {
		keys, release := t.Keys()
		defer release()
		r.Keys = keys
		c.tell("(replay: the space bar pauses, Ctrl-C shows the rest at once)")
	}
	c.gap("past")
	t := c.transcript(nil)
	t.Job.Store = c.thread.Store
	return read.Replay(ctx, t.Job, printer{c.screen}, s, r, t.Options)
}

// A printer is an io.Writer that prints on a screen. Each write must be whole
// lines.
type printer struct{ screen.Screen }

func (p printer) Write(b []byte) (int, error) {
	p.Print(string(b))
	return len(b), nil
}
