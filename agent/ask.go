package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/window"
)

// The purposes of a request, as step events store them.
const (
	modeTurn    = "turn"
	modeCompact = "compact"
	modeTitle   = "title"
)

// ask sends the model the context and returns its answer, which is stored. It
// retries if a retry may succeed.
func (u *turn) ask() (*skein.Message, error) {
	for try := 1; ; {
		if err := u.compactIfDue(); err != nil {
			return nil, err
		}
		r, err := u.request()
		if err != nil {
			return nil, err
		}
		m, err := u.attempt(r, try)
		if err == nil {
			return m, nil
		}
		if errors.Is(err, llm.ErrTooLong) && u.ctx.Err() == nil {
			if done, cerr := u.shrink(); cerr != nil {
				return nil, cerr
			} else if done {
				continue
			}
			err = u.tooLong(r, err)
			failed := skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{}, Error: errorInfo(err)}
			if kerr := u.keep(u.ctx, nil, skein.Say(u.now(), failed)); kerr != nil {
				return nil, kerr
			}
			return nil, err
		}
		if err := u.waitAfter(err, try); err != nil {
			return nil, err
		}
		try++
	}
}

// tooLong returns the error for a request r that the model rejects as too long
// and that cannot be shortened any more.
func (v *modelView) tooLong(r llm.Request, err error) error {
	said := 0
	for _, e := range slices.Backward(v.window) { // in r, it may be merged with other messages
		if m, err := skein.Decode[skein.Message](e); e.Kind == skein.KindSaid && err == nil && m.Typed() {
			said = len(m.Words())
			break
		}
	}
	takes := ""
	if v.agent.Window > 0 {
		takes = fmt.Sprintf(", which reads %d tokens at most", v.agent.Window)
	}
	return fmt.Errorf("the message of %d bytes, with a system prompt of %d and tools of %d bytes, is too long for %s%s: %w",
		said, len(r.System), len(toolList(r.Tools)), v.agent.Model.About(), takes, err)
}

// request returns the next request to the model.
func (u *turn) request() (llm.Request, error) {
	v, err := u.view(u.ctx)
	if err != nil {
		return llm.Request{}, err
	}
	r := llm.Request{System: u.agent.System, Messages: v.Messages, Opaque: v.Opaque, Blob: u.blob}
	for _, tool := range u.agent.Tools {
		r.Tools = append(r.Tools, tool.Spec)
	}
	return r, nil
}

// view returns the current context. The turn under way is shown whole, no
// matter how many messages it has.
func (v *modelView) view(ctx context.Context) (window.ContextView, error) {
	events, err := v.events(ctx)
	if err != nil {
		return window.ContextView{}, err
	}
	rules := v.agent.Model.About().Rules
	said := 0
	for _, e := range slices.Backward(events) {
		if e.Kind != skein.KindSaid {
			continue
		}
		if said++; prompts(e) {
			break
		}
	}
	rules.Newest, rules.Room = max(v.agent.newest(), 2*said), v.room // a call's message and its result may be one event
	return window.Context(events, rules)
}

// prompts reports whether e is a user message that has more than tool results.
func prompts(e skein.Event) bool {
	if e.Kind != skein.KindSaid {
		return false
	}
	m, err := skein.Decode[skein.Message](e)
	return err == nil && asks(&m)
}

func (w *sessionWriter) blob(ctx context.Context, h skein.Hash) ([]byte, error) {
	return w.o.Store.Blob(ctx, w.id, h)
}

// attempt makes the request r for the try-th time and stores the result.
func (u *turn) attempt(r llm.Request, try int) (*skein.Message, error) {
	s, err := u.start(modeTurn, r, try)
	if err != nil {
		return nil, err
	}
	from := u.last
	u.o.Observe(Update{Kind: Asking, Attempt: try})
	m, err := stream(u.ctx, u.agent.Model, r, u.now, u.show)
	if m != nil {
		m = u.filled(m, &s, r.Messages)
		u.count(m)
	}
	if err == nil {
		if err := u.keep(u.ctx, nil, u.finish(s, m, nil), skein.Say(u.now(), *m)); err != nil {
			return nil, err
		}
		u.o.Observe(Update{Kind: Answered, Message: m})
		return m, nil
	}
	events := []skein.Event{u.finish(s, m, err)}
	_, again := u.again(err, try)
	if !again && u.ctx.Err() == nil && !errors.Is(err, llm.ErrTooLong) { // a shorter request may be tried instead
		if m == nil {
			m = &skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{}}
		}
		m.Error = errorInfo(err)
	}
	if m != nil && (len(m.Parts) > 0 || m.Error != nil) {
		events = append(events, skein.Say(u.now(), *m))
		if again { // the model must not continue from there
			events = append(events, skein.NewEvent(skein.KindRewound, u.now(), skein.Rewound{To: from}))
		}
	}
	if perr := u.keep(u.ctx, nil, events...); perr != nil {
		return nil, perr
	}
	return nil, err
}

// A requester stores the requests to the model and the answers.
type requester struct {
	modelView
	charged map[string]bool // IDs that requests had: they may come twice
	called  map[string]bool // IDs that calls had, likewise
}

// again reports whether the request that failed with err on the try-th attempt
// is to be retried, after at least the returned wait.
func (q *requester) again(err error, try int) (asked time.Duration, ok bool) {
	asked, ok = llm.Again(err)
	return asked, ok && try < q.o.Attempts && asked <= patience
}

// waitAfter waits after an attempt that failed with err. It returns err if that
// was the last attempt, or ctx's error.
func (u *turn) waitAfter(err error, try int) error {
	if cerr := u.ctx.Err(); cerr != nil {
		return cerr
	}
	asked, ok := u.again(err, try)
	if !ok {
		return err
	}
	d := backoff(try, asked)
	u.o.Observe(Update{Kind: Waiting, Err: err, Attempt: try, Wait: d})
	if err := u.o.Wait(u.ctx, d); err != nil {
		if cerr := u.ctx.Err(); cerr != nil {
			return cerr
		}
		return err
	}
	return nil
}

// start stores that a request starts.
func (q *requester) start(mode string, r llm.Request, try int) (skein.Step, error) {
	about := q.agent.Model.About()
	s := skein.Step{Phase: "start", Mode: mode, Attempt: try, Provider: about.Provider, Model: about.Model, Kept: true}
	var blobs []skein.Blob
	keep := func(text []byte) string {
		if len(text) == 0 {
			return ""
		}
		b := skein.NewBlob(text)
		blobs = append(blobs, b)
		return string(b.Hash)
	}
	s.Prompt, s.Tools, s.Config = keep([]byte(r.System)), keep(toolList(r.Tools)), keep(q.agent.Config)
	return s, q.put(context.Background(), blobs, skein.NewEvent(skein.KindStep, q.now(), s))
}

// toolList returns tools as a JSON array, or nil if there are none. A schema
// from another program may not be valid JSON.
func toolList(tools []llm.ToolSpec) []byte {
	type spec struct {
		Name   string          `json:"name"`
		Doc    string          `json:"description"`
		Schema json.RawMessage `json:"input_schema"`
	}
	var list []spec
	for _, t := range tools {
		schema := t.Schema
		if !json.Valid(schema) {
			schema = skein.AppendQuoted(nil, string(schema))
		}
		list = append(list, spec{t.Name, t.Doc, schema})
	}
	if len(list) == 0 {
		return nil
	}
	return skein.MustJSON(list)
}

// finish returns the event that ends the request s, with the answer m, if any,
// or err.
func (q *requester) finish(s skein.Step, m *skein.Message, err error) skein.Event {
	s.Phase, s.Prompt, s.Tools, s.Config, s.Kept = "finish", "", "", "", false
	if m != nil {
		s.Request, s.Tier, s.Usage, s.Stop, s.Provider, s.Model = m.Request, m.Tier, m.Usage, m.Stop, m.Provider, m.Model
	}
	if err != nil {
		s.Error = errorInfo(err)
		if e := (*llm.Error)(nil); errors.As(err, &e) && s.Request == "" {
			s.Request = e.Request
		}
	}
	return skein.NewEvent(skein.KindStep, q.now(), s)
}

// errorInfo returns err in the form in which events store it.
func errorInfo(err error) *skein.ErrorInfo {
	info := skein.ErrorInfo{Kind: errorKind(err), Message: strings.ToValidUTF8(err.Error(), "\ufffd")}
	if e := (*llm.Error)(nil); errors.As(err, &e) {
		info.Status = e.Status
	}
	return &info
}

// errorKind returns the name of the kind of err, or "" if its kind has no name.
func errorKind(err error) string {
	for _, k := range []struct {
		is   error
		name string
	}{
		{context.Canceled, "interrupted"},
		{context.DeadlineExceeded, "timeout"},
		{llm.ErrBusy, "busy"},
		{llm.ErrCut, "cut"},
		{llm.ErrNoWay, "unreachable"},
		{llm.ErrTooLong, "too_long"},
		{llm.ErrDenied, "denied"},
		{llm.ErrNoKey, "no_key"},
		{llm.ErrRequest, "request"},
		{llm.ErrModel, "model"},
	} {
		if errors.Is(err, k.is) {
			return k.name
		}
	}
	return ""
}
