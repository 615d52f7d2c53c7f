package talk

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/cli/read"
	"github.com/skein-dev/skein/cli/screen"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
)

// An observer shows what happens in a thread while a model answers.
type observer struct {
	display
	thinking bool // show the reasoning too
	calls    callLog
	thought  string // reasoning not shown yet
	tokens   int64  // received in this turn, roughly
	kept     bool   // what the person said in this turn is stored
}

// observe shows what happens in the thread.
func (c *observer) observe(u agent.Update) {
	if u.Child != "" {
		c.watchChild(u)
		return
	}
	switch u.Kind {
	case agent.Stored:
		c.kept = c.kept || slices.ContainsFunc(u.Events, func(e skein.Event) bool { return e.Kind == skein.KindSaid })
	case agent.Asking:
		c.screen.Said()
		c.screen.Work(screen.Busy{Doing: "thinking", Tokens: c.tokens})
	case agent.Reasoning:
		c.thought += u.Text
		c.reckon(u.Text)
		c.screen.Work(screen.Busy{Doing: "thinking", Detail: lastLine(c.thought), Tokens: c.tokens})
	case agent.Text:
		c.ponder()
		if c.above != "answer" {
			c.gap("answer")
		}
		c.reckon(u.Text)
		c.screen.Say(u.Text)
		c.screen.Work(screen.Busy{Doing: "answering", Tokens: c.tokens})
	case agent.Calling:
		c.screen.Work(screen.Busy{Doing: "preparing " + u.Text, Tokens: c.tokens})
	case agent.Waiting:
		c.screen.Said()
		c.tell("%v; trying again in %s", u.Err, terminal.Seconds(u.Wait))
		c.screen.Work(screen.Busy{Doing: fmt.Sprintf("waiting %s to try again", terminal.Seconds(u.Wait)), Tokens: c.tokens})
	case agent.Answered:
		c.ponder()
		c.screen.Said()
	case agent.Compacting:
		c.screen.Work(screen.Busy{Doing: "summarizing older turns", Tokens: c.tokens})
	case agent.Compacted:
		if u.Err != nil {
			c.tell("older messages were not summarized: %v", u.Err)
		} else {
			c.tell("older messages were summarized; no message is lost: skein show has them all")
		}
	default:
		c.watchTool(u)
	}
}

// reckon estimates the tokens of text that came: about four bytes each.
func (c *observer) reckon(text string) { c.tokens += int64(len(text)+3) / 4 }

// ponder shows the reasoning received so far, if the person wants to see it.
func (c *observer) ponder() {
	text := strings.TrimSpace(cleanText(c.thought))
	c.thought = ""
	if text == "" || !c.thinking || c.screen == nil {
		return
	}
	c.gap("thought")
	c.screen.Note(c.Paint.Dim("┊ " + strings.ReplaceAll(text, "\n", "\n┊ ")))
}

// lastLine returns the last line of text that is not blank.
func lastLine(text string) string {
	text = strings.TrimRight(text, "\n ")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// watchTool shows a tool at work.
func (c *observer) watchTool(u agent.Update) {
	switch u.Kind {
	case agent.Running:
		c.screen.Said()
		c.screen.Work(screen.Busy{Doing: "→ " + u.Call.Name + " " + u.Text, Tokens: c.tokens})
		c.calls.begin(ran{title: u.Text, call: *u.Call})
	case agent.Output:
		c.screen.Work(screen.Busy{Doing: "→ " + c.calls.title(u.Call), Detail: lastLine(u.Text), Tokens: c.tokens})
	case agent.Ran:
		r := c.calls.end(u)
		c.gap("tool")
		c.screen.Note(c.toolLine(r))
	}
}

// watchChild shows, more briefly, what happens in a session that was delegated to
// another agent.
func (c *observer) watchChild(u agent.Update) {
	switch u.Kind {
	case agent.Running:
		c.screen.Work(screen.Busy{Doing: "↳ " + u.Call.Name + " " + u.Text, Tokens: c.tokens})
	case agent.Text, agent.Reasoning:
		c.reckon(u.Text)
		c.screen.Work(screen.Busy{Doing: "↳ working", Detail: lastLine(u.Text), Tokens: c.tokens})
	case agent.Ran:
		c.gap("tool")
		c.screen.Note("  " + c.toolLine(ran{title: u.Text, call: *u.Call, result: resultOf(u), took: u.Wait}))
	}
}

// toolLine returns one line about a call that has ended.
func (c *observer) toolLine(r ran) string {
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

// openCall shows in full the newest call that was not shown yet.
func (c *observer) openCall() {
	r, ok := c.calls.next()
	if !ok {
		c.screen.Note(c.Paint.Dim("(there are no more tool calls in this conversation; skein show NAME --tools shows all)"))
		return
	}
	c.showCall(r)
}

// showCall shows a call in full: its input and its output.
func (c *observer) showCall(r ran) {
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

func resultOf(u agent.Update) skein.Result {
	if u.Result == nil {
		return skein.Result{}
	}
	return *u.Result
}
