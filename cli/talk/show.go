package talk

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/read"
	"github.com/skein-dev/skein/cli/screen"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lenient"
)

// A ran is a tool call that has ended.
type ran struct {
	title  string
	call   skein.Call
	result skein.Result
	took   time.Duration
}

// A callLog is the tool calls of a conversation. It is safe for concurrent use: a
// key press shows a call while others run.
type callLog struct {
	mu     sync.Mutex
	all    []ran
	opened int // how many of them, from the newest, were shown in full
}

// begin notes that a call has started.
func (l *callLog) begin(r ran) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all, l.opened = append(l.all, r), 0
}

// title returns what a running call is about.
func (l *callLog) title(call *skein.Call) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range slices.Backward(l.all) {
		if call != nil && r.call.ID == call.ID {
			return r.call.Name + " " + r.title
		}
	}
	return "tool"
}

// end stores the outcome of a call with the call, and returns both.
func (l *callLog) end(u agent.Update) ran {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.all) - 1; i >= 0; i-- {
		if r := &l.all[i]; r.call.ID == u.Call.ID && r.result.CallID == "" {
			r.result, r.took = resultOf(u), u.Wait
			return *r
		}
	}
	r := ran{u.Text, *u.Call, resultOf(u), u.Wait}
	l.all = append(l.all, r)
	return r
}

// newest returns the n-th newest call; 1 is the newest.
func (l *callLog) newest(n int) (ran, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n < 1 || n > len(l.all) {
		return ran{}, false
	}
	l.opened = n
	return l.all[len(l.all)-n], true
}

// next returns the newest call that has not been shown since the last one began.
func (l *callLog) next() (ran, bool) {
	l.mu.Lock()
	n := l.opened + 1
	l.mu.Unlock()
	return l.newest(n)
}

// watchTool shows a tool at work.
func (c *chat) watchTool(u agent.Update) {
	switch u.Kind {
	case agent.Running:
		c.screen.Said()
		c.screen.Work(screen.Work{Doing: "→ " + u.Call.Name + " " + u.Text, Tokens: c.tokens})
		c.calls.begin(ran{title: u.Text, call: *u.Call})
	case agent.Output:
		c.screen.Work(screen.Work{Doing: "→ " + c.calls.title(u.Call), Detail: lastLine(u.Text), Tokens: c.tokens})
	case agent.Ran:
		r := c.calls.end(u)
		c.gap("tool")
		c.screen.Note(c.toolLine(r))
	}
}

// watchChild shows, more briefly, what happens in a session that was delegated to
// another agent.
func (c *chat) watchChild(u agent.Update) {
	switch u.Kind {
	case agent.Running:
		c.screen.Work(screen.Work{Doing: "↳ " + u.Call.Name + " " + u.Text, Tokens: c.tokens})
	case agent.Text, agent.Reasoning:
		c.reckon(u.Text)
		c.screen.Work(screen.Work{Doing: "↳ working", Detail: lastLine(u.Text), Tokens: c.tokens})
	case agent.Ran:
		c.gap("tool")
		c.screen.Note("  " + c.toolLine(ran{title: u.Text, call: *u.Call, result: resultOf(u), took: u.Wait}))
	}
}

func resultOf(u agent.Update) skein.Result {
	if u.Result == nil {
		return skein.Result{}
	}
	return *u.Result
}

// toolLine returns one line about a call that has ended.
func (c *chat) toolLine(r ran) string {
	p, mark := c.Paint, c.Paint.Green("✓")
	if r.result.Failed {
		mark = p.Red("✗")
	}
	about := render.Line(r.title)
	if about == "" {
		about = read.Gist(r.call.Input)
	}
	var tail string
	if r.took >= time.Second {
		tail = " · " + terminal.Seconds(r.took)
	}
	if r.result.Failed {
		tail += " · " + render.Line(lastLine(r.result.Text.UTF8()))
	}
	name := render.Line(r.call.Name)
	if width := c.width(); width > 0 {
		room := width - 6 - len(name)
		tail = terminal.Cut(tail, max(room/2, 8))
		about = terminal.Cut(about, max(room-len([]rune(tail)), 8))
	}
	return "  " + mark + " " + p.Yellow(name) + " " + about + p.Dim(tail)
}

// width returns the width of the terminal; 0 without a terminal.
func (c *chat) width() int {
	if t, ok := c.screen.(*screen.Terminal); ok {
		return t.Width()
	}
	return 0
}

// openCall shows in full the newest call that was not shown yet.
func (c *chat) openCall() {
	r, ok := c.calls.next()
	if !ok {
		c.screen.Note(c.Paint.Dim("(no more tool calls in this conversation; skein show NAME --tools has all)"))
		return
	}
	c.showCall(r)
}

// showCall shows a call in full: its input and its output.
func (c *chat) showCall(r ran) {
	p := c.Paint
	var b strings.Builder
	b.WriteString(p.Dim("┌ ") + p.Yellow(render.Line(r.call.Name)) + " " + render.Line(r.title) + "\n")
	for _, text := range []string{read.InputText(r.call.Input), r.result.Text.UTF8()} {
		if text = strings.TrimRight(cleanText(text), "\n"); text == "" {
			text = "(nothing)"
		}
		for l := range strings.SplitSeq(text, "\n") {
			b.WriteString(p.Dim("│ ") + l + "\n")
		}
		b.WriteString(p.Dim("├╴") + "\n")
	}
	text := b.String()
	text = strings.TrimSuffix(text, p.Dim("├╴")+"\n") + p.Dim("└")
	c.screen.Note(text)
}

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
		c.tell("%s in this session may have run, or not: its program ended before it was known. It is not run again by itself.", terminal.Count(s.Uncertain, "tool call"))
	}
	waits, err := c.thread.Pending(ctx)
	switch {
	case err != nil || !waits:
	case c.options.TakeUp:
		c.tell("the last prompt has no answer yet: it is taken up")
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
		title = t.At.Session.Name()
	}
	c.tell("%s · %s · /help", terminal.Cut(strings.Join(strings.Fields(title), " "), 40), strings.Join(about, " · "))
}

// past shows the earlier messages of s, as the flags ask.
func (c *chat) past(ctx context.Context, s skein.Session) error {
	switch {
	case c.options.None:
		return nil
	case c.options.Replay:
		return c.again(ctx, s)
	case c.options.Full:
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
	return read.NewTranscript(w, &j, &read.ShowOptions{Thinking: c.options.Thinking})
}

// again shows s at the pace at which it was said.
func (c *chat) again(ctx context.Context, s skein.Session) error {
	r := &read.Replaying{Speed: c.options.Speed}
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
