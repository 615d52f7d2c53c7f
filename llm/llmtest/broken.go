package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// cuts breaks an answer off after each of its bytes, alternately by a reset and
// by what looks like a normal end. The answer is whole, or what had come until
// then.
func cuts(c *check) {
	reply := Thinks("Hm, ü?", Calls(skein.Call{ID: "call_1", Name: "read_file", Input: json.RawMessage(`{"path":"ä"}`)}))
	reply.Parts = slices.Insert(reply.Parts, 1, skein.TextPart("See: 🧵."))
	whole := c.answer(c.ask(reply), hello())
	size, step := c.size(reply), 1
	if testing.Short() {
		step = 17
	}
	const workers = 4
	var broke atomic.Int64
	var wg sync.WaitGroup
	for worker := range workers {
		w := &check{T: c.T, suite: c.suite, client: c.client}
		p := w.ask()
		defer w.server.close()
		wg.Go(func() {
			for at := worker * step; at < size; at += workers * step {
				how := []Break{Cut, End}[at%2]
				w.server.Reply(Breaks(reply, how, at))
				m, err := Collect(c.T, p.Stream(c.Context(), hello()))
				if err != nil {
					broke.Add(1)
				}
				if why := broken(m, &whole, err); why != "" {
					c.Errorf("%s at byte %d of %d: Stream() = %+v, %v: %s", how, at, size, m, err, why)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := int(broke.Load()); n < size/step/2 {
		c.Errorf("%d of %d cuts were noticed, want most", n, size/step)
	}
}

// broken says why m and err are not a valid result for an answer that is cut
// off; "" if they are.
func broken(m, whole *skein.Message, err error) string {
	switch {
	case err == nil && (m.Stop != whole.Stop || len(m.Parts) != len(whole.Parts)):
		return "it is taken for whole"
	case err != nil && !errors.Is(err, llm.ErrCut):
		return "want " + llm.ErrCut.Error()
	}
	return beginning(m, whole)
}

// size returns the length of the body of an answer with rp, in bytes.
func (c *check) size(rp Reply) (n int) {
	for _, e := range c.server.wire.events(&Request{Model: c.suite.Model}, &rp, "req_0001") {
		n += len(e.bytes())
	}
	return n
}

// beginning says why m is not a beginning of whole; "" if it is one.
func beginning(m, whole *skein.Message) string {
	if m == nil {
		return ""
	}
	if len(m.Parts) == 0 && m.Usage == nil || len(m.Parts) > len(whole.Parts) {
		return "it has no parts, or too many"
	}
	for i, p := range m.Parts {
		w := whole.Parts[i]
		switch {
		case p.Kind != w.Kind || !strings.HasPrefix(string(w.Text), string(p.Text)):
			return "a part is another one"
		case p.Call != nil && !cmp.Equal(p.Call, w.Call):
			return "a call is not whole"
		case len(p.Raw) > 0 && len(p.Raw) != len(w.Raw): // IDs in it differ
			return "what the provider wants back is not whole"
		}
	}
	return ""
}

func garbage(c *check) {
	reply := Says("This goes on for some time, and then it does not.")
	for _, at := range []int{0, 300, c.sizeOf(reply) / 2} {
		m, e := c.fails(c.ask(Breaks(reply, Garbage, at)))
		if !errors.Is(e, llm.ErrCut) {
			c.Errorf("no JSON after byte %d: Stream() = %v, message %+v, want %v", at, e, m, llm.ErrCut)
		}
	}
}

func (c *check) sizeOf(rp Reply) int {
	c.ask()
	return c.size(rp)
}

func nobody(c *check) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.Fatal(err)
	}
	at := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		c.Fatal(err)
	}
	m, e := c.fails(c.open(llm.Options{Key: Key, BaseURL: at + "/v1?key=" + Key, Model: c.suite.Model, Client: c.client}))
	if !errors.Is(e, llm.ErrNoWay) || m != nil || !strings.HasPrefix(e.Message, at+": ") || strings.Contains(e.Error(), Key) {
		c.Errorf("Stream() with nobody at %s = %v, message %+v, want %v, where and why", at, e, m, llm.ErrNoWay)
	}
	if _, again := llm.Again(e); again && runtime.GOOS != "windows" { // where the error number is another one
		c.Errorf("Again(%v) = true, want false", e)
	}
	if _, e := c.fails(c.ask(Reply{Break: Drop})); !errors.Is(e, llm.ErrCut) {
		c.Errorf("Stream() from who hangs up = %v, want %v", e, llm.ErrCut)
	}
}

func leave(c *check) {
	reply := Says("This takes for ever, and nobody waits for it.")
	for _, at := range []int{0, 40, c.sizeOf(reply) / 2} {
		ctx, cancel := context.WithTimeout(c.Context(), 50*time.Millisecond)
		_, err := Collect(c.T, c.ask(Breaks(reply, Hang, at)).Stream(ctx, hello()))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			c.Errorf("silent after byte %d: Stream() = %v, want the context's error", at, err)
		}
	}
	slow := reply
	slow.Pace = 20 * time.Millisecond
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	for _, err := range c.ask(slow).Stream(ctx, hello()) {
		if cancel(); err == nil {
			continue
		}
		if !errors.Is(err, context.Canceled) {
			c.Errorf("Stream() of a slow answer that is cancelled = %v, want the context's error", err)
		}
	}
	ctx, cancel = context.WithCancel(c.Context())
	defer cancel()
	p := c.ask(Breaks(reply, Hang, c.size(reply)-10))
	var last llm.Delta
	var err error
	for last, err = range p.Stream(ctx, hello()) {
		cancel()
	}
	if !errors.Is(err, context.Canceled) && (err != nil || last.Message == nil) {
		c.Errorf("Stream() that is cancelled = %v, want the context's error", err)
	}
	if _, err := Collect(c.T, p.Stream(ctx, hello())); !errors.Is(err, context.Canceled) {
		c.Errorf("Stream() of a context that has ended = %v, want its error", err)
	}
	for _, err := range c.ask(Breaks(reply, Hang, c.size(reply)-10)).Stream(c.Context(), hello()) {
		if err != nil {
			c.Errorf("Stream() = %v before its caller left", err)
		}
		break // a server that still waited for its client would not close
	}
}

func many(c *check) {
	p := c.ask()
	c.server.Otherwise(Says("To everybody."))
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if m, err := Collect(c.T, p.Stream(c.Context(), hello())); err != nil || m.Words() != "To everybody." {
				c.Errorf("Stream() beside others = %+v, %v", m, err)
			}
		})
	}
	wg.Wait()
}

func options(c *check) {
	good := llm.Options{Key: Key, BaseURL: "http://localhost:1/v1", Model: c.suite.Model}
	for _, tt := range []struct {
		name string
		with func(o *llm.Options)
		want error
	}{
		{"no model", func(o *llm.Options) { o.Model = "" }, llm.ErrModel},
		{"a URL without a scheme", func(o *llm.Options) { o.BaseURL = "localhost:1" }, llm.ErrRequest},
		{"a file URL", func(o *llm.Options) { o.BaseURL = "file:///etc/passwd" }, llm.ErrRequest},
		{"an unknown effort", func(o *llm.Options) { o.Effort = "extreme" }, llm.ErrRequest},
		{"no key", func(o *llm.Options) { o.Key = "" }, llm.ErrNoKey},
		{"no key, for a server that wants none", func(o *llm.Options) { o.Key, o.Keyless = "", true }, nil},
	} {
		o := good
		tt.with(&o)
		_, err := c.suite.Open(o)
		if errors.Is(tt.want, llm.ErrNoKey) && c.suite.NoKey {
			if err != nil {
				c.Errorf("New(%s) = %v, want nil", tt.name, err)
			}
			continue
		}
		var no *llm.NoKeyError
		if !errors.Is(err, tt.want) || errors.As(err, &no) && (no.Provider == "" || len(no.Variables) == 0) {
			c.Errorf("New(%s) = %v, want %v", tt.name, err, tt.want)
		}
	}
}
