package agent

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
)

// A running is a call whose tool is running.
type running struct {
	call  *skein.Call
	state skein.ToolState
	out   tool.Output
	err   error
	ended chan struct{} // closed when the tool has ended
}

// A crew is a set of calls that run side by side. Their goroutines pass what
// touches the Thread to the Thread's own goroutine.
type crew struct {
	*turn
	ctx  context.Context //nolint:containedctx // of the tools; it ends with the turn, or with the lease
	stop context.CancelFunc
	do   chan func()
	done chan *running
	runs int // number that have not ended
	err  error
}

// together runs calls, concurrently if there are several, and waits for all of
// them. It returns how many it has started.
func (u *turn) together(calls []*skein.Call) (begun int, err error) {
	ctx, stop := context.WithCancel(u.ctx)
	defer stop()
	w := &crew{turn: u, ctx: ctx, stop: stop, do: make(chan func()), done: make(chan *running)}
	for _, c := range calls {
		for w.runs == sideBySide {
			w.next()
		}
		if w.err == nil {
			w.fail(u.ctx.Err())
		}
		if w.err != nil {
			break
		}
		if err := w.begin(c); err != nil {
			w.fail(err)
			break
		}
		begun++
	}
	for w.runs > 0 {
		w.next()
	}
	return begun, w.err
}

// fail keeps the first error, which stops all running tools.
func (w *crew) fail(err error) {
	if err != nil && w.err == nil {
		w.err = err
		w.stop()
	}
}

// next does what a goroutine asks for, or handles the end of a tool.
func (w *crew) next() {
	select {
	case f := <-w.do:
		f()
	case r := <-w.done:
		w.runs--
		w.fail(w.end(r))
	}
}

// begin starts the tool of c after storing that it runs, or stores why it does
// not run.
func (w *crew) begin(c *skein.Call) error {
	tl, tc, no, err := w.admit(c)
	if err != nil {
		return err
	}
	r := &running{call: c, ended: make(chan struct{})}
	r.state = skein.ToolState{Call: c.ID, State: skein.Running, Title: w.agent.headline(c), Start: w.now()}
	if tl == nil {
		r.out = tool.Output{Text: no, Failed: true}
		return w.end(r)
	}
	r.state.Safe = tl.Safe
	if err := w.put(w.turn.ctx, nil, skein.NewEvent(skein.KindTool, w.now(), r.state)); err != nil {
		return err
	}
	w.o.Observe(Update{Kind: Running, Call: c, Text: r.state.Title})
	tc.Progress = func(text string) {
		w.ask(r, func() { w.o.Observe(Update{Kind: Output, Call: c, Text: text}) })
	}
	tc.Started = func(child skein.SessionID) (err error) {
		w.ask(r, func() {
			r.state.Child = child
			err = w.put(w.turn.ctx, nil, skein.NewEvent(skein.KindTool, w.now(), r.state))
		})
		return err
	}
	w.runs++
	go w.run(r, tl, tc)
	return nil
}

// run is the goroutine of a tool.
func (w *crew) run(r *running, tl *tool.Tool, tc tool.Call) {
	defer func() {
		if p := recover(); p != nil {
			r.err = fmt.Errorf("the tool crashed: %v", p)
			r.out.Meta = skein.MustJSON(map[string]string{"stack": string(debug.Stack())})
		}
		close(r.ended)
		w.done <- r
	}()
	r.out, r.err = tl.Run(context.WithValue(w.ctx, handKey{}, hand{w, r}), tc)
}

// ask has the Thread's goroutine call f, and waits until it has; if the tool of
// r has ended, it does nothing.
func (w *crew) ask(r *running, f func()) {
	did := make(chan struct{})
	select {
	case w.do <- func() { f(); close(did) }:
		<-did
	case <-r.ended:
	}
}

// end stores the outcome of a call.
func (w *crew) end(r *running) error {
	s := r.state
	s.State, s.End = skein.Completed, w.now()
	res := skein.Result{CallID: r.call.ID, Name: r.call.Name, Text: skein.Text(words(r.out.Text)), Files: files(&r.out), Failed: r.out.Failed}
	if r.err != nil {
		res.Failed = true
		res.Text = skein.Text(join(string(res.Text), words(r.err.Error())))
		if w.turn.ctx.Err() != nil {
			res.Text = skein.Text(join(string(res.Text), "[The tool was interrupted. What it did before that is not undone.]"))
			s.Meta = interruptedMeta()
		}
	}
	if res.Failed {
		s.State = skein.Failed
	}
	if len(s.Meta) == 0 {
		s.Meta = validJSON(r.out.Meta)
	}
	m := skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &res, Start: s.Start, End: s.End}}}
	err := w.keep(w.turn.ctx, r.out.Blobs, skein.NewEvent(skein.KindTool, w.now(), s), skein.Say(w.now(), m))
	if err == nil {
		took := time.Duration(s.End-s.Start) * time.Millisecond
		w.o.Observe(Update{Kind: Ran, Call: r.call, Result: &res, Wait: took})
	}
	return err
}

// words returns s as valid UTF-8.
func words(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

// files returns the files of out, and the blobs that no file names as files of
// their own: a store keeps only blobs that an event refers to.
func files(out *tool.Output) []skein.File {
	all := slices.Clone(out.Files)
	for _, b := range out.Blobs {
		if !slices.ContainsFunc(all, func(f skein.File) bool { return f.Blob == b.Hash }) {
			all = append(all, skein.File{Name: "output", Blob: b.Hash, Size: int64(len(b.Data))})
		}
	}
	return all
}
