package read

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/render"
)

type tailOptions struct {
	ShowOptions
	last    int
	secrets sessions.Secrets
}

// NewTail returns the command tail.
func NewTail(f *job.Frame) *cobra.Command {
	var o tailOptions
	c := &cobra.Command{
		Use:   "tail NAME [flags]",
		Short: "watch a session live",
		Long: `Show the newest messages of a session, then each new message as it is stored, by
any program, until Ctrl-C. Other programs can write to the session meanwhile. An
answer appears when it is complete. Secrets are hidden; --raw shows them.`,
		Example: `skein tail -
	skein tail 4f1d22a0 --tools
	skein tail - --last 0 --json | jq -r .message.role`,
		Args: job.Words(1, 1, "the NAME of a session"),
		RunE: f.WithStore(o.run),
	}
	g := c.Flags()
	g.IntVarP(&o.last, "last", "n", 10, "begin with the newest `N` messages")
	g.BoolVar(&o.tools, "tools", false, "show the whole input and output of tools")
	g.BoolVar(&o.Thinking, "thinking", false, "show the models' reasoning")
	g.BoolVar(&o.events, "events", false, "show the session's events instead")
	sessions.SecretsFlag(c, &o.secrets)
	job.JSONFlag(c, &o.json)
	return c
}

func (o *tailOptions) run(ctx context.Context, j *job.Job, args []string) (err error) {
	if o.last < 0 {
		return fault.Usage("--last %d: want 0 or more", o.last)
	}
	s, err := sessions.Named(ctx, j, args[0])
	if err != nil {
		return err
	}
	told := sessions.AroundDamage(j)
	defer func() { err = told(err) }()
	o.curtain = o.secrets.Mask()
	t := tailing{o: o, j: j, turn: s.Ever().Turns, text: NewTranscript(j.Stdout, j, &o.ShowOptions)}
	if err := t.begin(sessions.Reader{Ctx: ctx, Store: j.Store, Session: s}); err != nil {
		return err
	}
	for e, err := range j.Store.Watch(ctx, s.ID, s.Last) {
		if err == nil {
			err = t.event(ctx, s.ID, e)
		}
		if errors.Is(err, skein.ErrNotFound) {
			return fault.Missing("session %s was deleted", sessions.ShortID(s.ID))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A tailing prints what happens in a session.
type tailing struct {
	o    *tailOptions
	j    *job.Job
	turn int
	text *Transcript
}

// begin prints the newest messages, or events.
func (t *tailing) begin(r sessions.Reader) error {
	if t.o.last == 0 {
		return nil
	}
	show := t.o.ShowOptions
	show.last = t.o.last
	if show.events {
		for e, err := range show.eventsOf(r) {
			if err == nil {
				err = t.raw(e)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	for e, err := range show.messages(r) {
		if err == nil {
			err = t.entry(&e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tailing) raw(e skein.Event) error {
	e = t.o.curtain.Event(e)
	if t.o.json {
		return job.WriteJSON(t.j.Stdout, e)
	}
	return t.o.writeEvent(t.j.Stdout, t.j, e)
}

func (t *tailing) entry(e *skein.Entry) error {
	shown := t.o.curtain.Entry(*e)
	if t.o.json {
		return job.WriteJSON(t.j.Stdout, &shown)
	}
	return t.text.Entry(&shown)
}

// event prints what e reports, if anything.
func (t *tailing) event(ctx context.Context, id skein.SessionID, e skein.Event) error {
	if t.o.events {
		return t.raw(e)
	}
	if e.Kind != skein.KindSaid {
		return t.note(e)
	}
	m, err := skein.Decode[skein.Message](e)
	if err != nil {
		return err
	}
	if m.Typed() { // a further piece of a message does not count a turn: ask the store
		found, err := t.j.Store.Newest(ctx, id, 1, e.Seq+1)
		if err != nil {
			return err
		}
		for _, f := range found {
			t.turn = f.Turn
		}
	}
	return t.entry(&skein.Entry{Seq: e.Seq, End: e.Seq, Time: e.Time, Turn: t.turn, Message: m})
}

// note prints one line about an event that is not a message, for people.
func (t *tailing) note(e skein.Event) error {
	text := t.o.curtain.Text(noteText(e))
	if text == "" || t.o.json {
		return nil
	}
	lead := ""
	if t.text.begun && !t.text.lined {
		lead = "\n"
	}
	t.text.begun, t.text.lined = true, true
	_, err := io.WriteString(t.j.Stdout, lead+t.j.Paint.Dim("  · "+render.Line(text))+"\n")
	return err
}

// noteText describes e; "" if e is of no interest to a person who watches.
func noteText(e skein.Event) string {
	f, err := skein.FactsOf(e)
	switch {
	case err != nil:
		return ""
	case f.Tool != nil && f.Tool.State == skein.Uncertain:
		return fmt.Sprintf("the outcome of call %s is unknown: its program died", f.Tool.Call)
	case f.Titled != nil:
		return "the title is " + f.Titled.Title
	case f.Compacted != nil && !f.Compacted.Failed:
		return "older messages were summarized for the model"
	case f.Rewound != nil && f.Rewound.To == 0:
		return "the context was cleared"
	case f.Rewound != nil:
		return fmt.Sprintf("the session was rewound to event %d", f.Rewound.To)
	case e.Kind == skein.KindResumed:
		p, _ := skein.Decode[skein.Program](e)
		return p.Program + " continues the session"
	case e.Kind == skein.KindEnded:
		p, _ := skein.Decode[skein.Program](e)
		return p.Program + " left the session"
	}
	return ""
}
