package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/store/memory"
)

// A rig is a thread and everything that it works with.
type rig struct {
	*agent.Thread
	t       *testing.T
	store   skein.Store
	model   *model
	options agent.Options
	waits   []time.Duration
	mu      sync.Mutex
	seen    []agent.Update
}

func (g *rig) observe(u agent.Update) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = append(g.seen, u)
}

// heard returns the number of updates of a kind.
func (g *rig) heard(k agent.UpdateKind) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, u := range g.seen {
		if u.Kind == k {
			n++
		}
	}
	return n
}

// open opens a new thread whose model gives these answers.
func open(t *testing.T, answers ...answer) *rig {
	t.Helper()
	return openWith(t, func(*agent.Options) {}, answers...)
}

func openWith(t *testing.T, change func(*agent.Options), answers ...answer) *rig {
	t.Helper()
	g := &rig{t: t, store: memory.New(), model: newModel(answers...)}
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	g.options = agent.Options{
		Store: g.store, Program: "test", Agent: agent.Agent{Name: "tester", System: "be good", Model: g.model, Tools: tools()},
		Created: skein.Created{Key: "cli:test", Project: "/p", Cwd: "/p/sub", Surface: "cli"},
		Now:     func() time.Time { now = now.Add(time.Second); return now },
		Wait: func(ctx context.Context, d time.Duration) error {
			g.waits = append(g.waits, d)
			return ctx.Err()
		},
		Observe: g.observe,
	}
	change(&g.options)
	g.store = g.options.Store
	g.open()
	t.Cleanup(func() {
		for _, err := range g.model.broken {
			t.Errorf("a request breaks the provider's rules: %v", err)
		}
	})
	return g
}

func (g *rig) open() {
	g.t.Helper()
	th, err := agent.Open(g.t.Context(), g.options)
	if err != nil {
		g.t.Fatalf("Open = %v", err)
	}
	g.Thread = th
}

// again closes the thread and reopens its session, with these answers.
func (g *rig) again(answers ...answer) {
	g.t.Helper()
	if err := g.Close(g.t.Context(), "done"); err != nil {
		g.t.Fatalf("Close = %v", err)
	}
	g.reopen(answers...)
}

func (g *rig) reopen(answers ...answer) {
	g.t.Helper()
	g.options.Session = g.ID()
	g.model.answers = answers
	g.open()
}

// say runs a turn that must succeed and end with want.
func (g *rig) say(text, want string) agent.Outcome {
	g.t.Helper()
	out, err := g.Turn(g.t.Context(), skein.UserSays(text))
	if err != nil || out.Stop != agent.Done || out.Text != want {
		g.t.Fatalf("Turn(%q) = %+v, %v, want the answer %q", text, out, err, want)
	}
	return out
}

func (g *rig) events() (all []skein.Event) {
	g.t.Helper()
	for e, err := range g.store.Events(context.Background(), g.ID(), 0) {
		if err != nil {
			g.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// log formats the session's events, one per line.
func (g *rig) log() string {
	g.t.Helper()
	return logOf(g.t, g.events())
}

func logOf(t *testing.T, events []skein.Event) string {
	t.Helper()
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%d %s", e.Seq, e.Kind)
		switch e.Kind {
		case skein.KindSaid:
			b.WriteString(" " + showMessage(decode[skein.Message](t, e)))
		case skein.KindTool:
			s := decode[skein.ToolState](t, e)
			fmt.Fprintf(&b, " %s %s", s.Call, s.State)
			if s.Child != "" {
				b.WriteString(" child")
			}
		case skein.KindStep:
			s := decode[skein.Step](t, e)
			fmt.Fprintf(&b, " %s", s.Phase)
			if s.Mode != "turn" {
				b.WriteString(" " + s.Mode)
			}
			if s.Attempt > 1 {
				fmt.Fprintf(&b, " %d", s.Attempt)
			}
			if s.Error != nil {
				fmt.Fprintf(&b, " %s", s.Error.Kind)
			}
		case skein.KindRewound:
			fmt.Fprintf(&b, " to %d", decode[skein.Rewound](t, e).To)
		case skein.KindCompacted:
			c := decode[skein.Compacted](t, e)
			fmt.Fprintf(&b, " to %d %s", c.To, c.Trigger)
			if c.Failed {
				b.WriteString(" failed")
			}
		case skein.KindTitled:
			fmt.Fprintf(&b, " %q", decode[skein.Titled](t, e).Title)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func decode[T any](t *testing.T, e skein.Event) T {
	t.Helper()
	v, err := skein.Decode[T](e)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// showMessage formats m on one line.
func showMessage(m skein.Message) string {
	s := string(m.Role)
	if m.Interrupted {
		s += " (interrupted)"
	}
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			s += fmt.Sprintf(" call(%s %s %s)", p.Call.ID, p.Call.Name, p.Call.Input)
		case p.Result != nil:
			s += fmt.Sprintf(" result(%s %q", p.Result.CallID, p.Result.Text)
			if p.Result.Failed {
				s += " failed"
			}
			s += ")"
		default:
			s += fmt.Sprintf(" %q", p.Text)
		}
	}
	return s
}

func (g *rig) wantLog(want string) {
	g.t.Helper()
	if diff := cmp.Diff(strings.ReplaceAll(want, "\t", ""), g.log()); diff != "" {
		g.t.Errorf("the session's events (-want +got):\n%s", diff)
	}
}

// wantShown checks that the last request showed these messages.
func (g *rig) wantShown(want ...string) {
	g.t.Helper()
	var got []string
	for _, m := range g.model.requests[len(g.model.requests)-1].Messages {
		got = append(got, showMessage(m))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		g.t.Errorf("what the model was shown (-want +got):\n%s", diff)
	}
}

// tools returns a few tools for tests: look and note do as instructed, and look
// is harmless; bad fails.
func tools() []tool.Tool {
	run := func(_ context.Context, c tool.Call) (tool.Output, error) {
		return tool.Output{Text: "ran " + string(c.Input)}, nil
	}
	return []tool.Tool{
		{Spec: spec("look"), Safe: true, Run: run},
		{Spec: spec("note"), Run: run},
		{Spec: spec("bad"), Run: func(context.Context, tool.Call) (tool.Output, error) { return tool.Output{Text: "half"}, errGone }},
		{Spec: spec("panics"), Run: func(context.Context, tool.Call) (tool.Output, error) { panic("oh") }},
	}
}
