package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
)

// ShowOptions are the flags of show; a transcript follows those about messages.
type ShowOptions struct {
	events, tools, Thinking, raw, rewound, json bool
	last, first, offset, turn                   int
	hidden                                      int // messages left out because they were taken back
	theirs                                      sessions.TheirTurns
	curtain                                     sessions.Mask
	commits                                     CommitShower
	given                                       func(flag string) bool // nil if there are no flags
}

// A CommitShower prints the sessions of the commit or branch that a word names, as text or
// json, and reports whether it names one.
type CommitShower func(ctx context.Context, j *job.Job, word, format string, hide sessions.Mask) (is bool, err error)

// NewShow returns the command show. A word that no session is called may name a commit.
func NewShow(f *job.Frame, commits CommitShower) *cobra.Command {
	o := ShowOptions{commits: commits}
	c := &cobra.Command{
		Use:   "show NAME [flags]",
		Short: "read a session",
		Long: `Read a session: a header with its title, ID, folder, agent and cost, then what
was said, with one line for each thing that the agent did. If you ask for a part
of the session, the header is left out. On a terminal, Markdown is rendered and
long output goes through the pager; in a pipe, the output is plain text. Each
secret is replaced by its kind; --raw shows the secrets. NAME is the ID of a
session or the end of its ID, its key, its title or a part of the title, or -
for the newest session of this project. If no session has that name, it may be
a commit or a branch of the repository here: then its sessions are shown with
their share.`,
		Example: `skein show -
	skein show 4f1d22a0 --last 5 --tools
	skein show "flaky test" --turn 3
	skein show - --json | jq -r .message.role`,
		Args: job.Words(1, 1, "the NAME of a session"),
		RunE: f.WithStore(o.run),
	}
	g := c.Flags()
	o.given = g.Changed
	g.IntVar(&o.last, "last", 0, "show only the newest `N` messages")
	g.IntVar(&o.first, "first", 0, "show only the first `N` messages")
	g.IntVar(&o.offset, "offset", 0, "skip `N` messages at that end")
	g.IntVar(&o.turn, "turn", 0, "show only turn `N`")
	g.BoolVar(&o.tools, "tools", false, "show the whole input and output of tools")
	g.BoolVar(&o.Thinking, "thinking", false, "show the models' reasoning")
	g.BoolVar(&o.rewound, "rewound", false, "include messages that were taken back")
	g.BoolVar(&o.events, "events", false, "show the session's events instead")
	g.BoolVar(&o.raw, "raw", false, "show the text unchanged: with secrets, Markdown not rendered and, in a pipe, with control characters")
	job.JSONFlag(c, &o.json)
	return c
}

func (o *ShowOptions) run(ctx context.Context, j *job.Job, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	s, err := sessions.Named(ctx, j, args[0])
	if errors.Is(err, skein.ErrNotFound) {
		return o.showCommit(ctx, j, args[0], err)
	}
	if err != nil {
		return err
	}
	told := sessions.AroundDamage(j)
	r := sessions.Reader{Ctx: ctx, Store: j.Store, Session: s}
	o.curtain, o.theirs = sessions.Secrets(o.raw).Mask(), sessions.TurnsOf(&s)
	if o.turn > 0 && o.turn > s.Ever().Turns {
		return fault.Advise(fault.Missing("no turn %d: session %s has %s", o.turn, sessions.ShortID(s.ID), terminal.Count(s.Ever().Turns, "turn")), "see its turns: skein fork %s", sessions.ShortID(s.ID))
	}
	if o.events {
		err = o.writeEvents(j, r)
	} else {
		err = o.writeMessages(j, r)
	}
	if err == nil && o.hidden > 0 {
		j.Say("%d messages were taken back; --rewound shows them", o.hidden)
	}
	if turns := o.theirs.Say(s.Turns); err == nil && o.whole() {
		j.Say("%s", turns)
	}
	if state := sessions.StateOf(&s); err == nil && state != "" {
		j.Say("%s", state)
	}
	return told(err)
}

// showCommit shows the sessions of the commit that a word names. If it names none, the
// error is why no session is called that.
func (o *ShowOptions) showCommit(ctx context.Context, j *job.Job, word string, unknown error) error {
	format := "text"
	if o.json {
		format = "json"
	}
	if is, err := o.commits(ctx, j, word, format, sessions.Secrets(o.raw).Mask()); is {
		return err
	}
	return unknown
}

// whole reports whether all messages are shown.
func (o *ShowOptions) whole() bool { return o.last+o.first+o.offset+o.turn == 0 && !o.events }

func (o *ShowOptions) check() error {
	for _, f := range []struct {
		name string
		n    int
	}{{"last", o.last}, {"first", o.first}, {"offset", o.offset}, {"turn", o.turn}} {
		if f.n < 0 || f.n == 0 && f.name != "offset" && o.given != nil && o.given(f.name) {
			return fault.Usage("--%s %d: want 1 or more", f.name, f.n)
		}
	}
	if o.last > 0 && o.first > 0 || o.turn > 0 && o.last+o.first+o.offset > 0 {
		return fault.Usage("--last, --first and --turn: want one of them")
	}
	return nil
}

func (o *ShowOptions) writeMessages(j *job.Job, r sessions.Reader) error {
	messages, told, err := o.tellEvents(r, o.messages(r))
	if err != nil {
		return err
	}
	var head sessionHead
	headed := o.whole() && !o.json
	if headed {
		head = o.headOf(r.Ctx, j, r.Session)
	}
	return j.Page(r.Ctx, func(w io.Writer) error {
		t := NewTranscript(w, j, o)
		if headed {
			t.begin(head)
		}
		t.told = told
		for e, err := range o.curtain.Entries(messages) {
			if err == nil {
				o.theirs.Take(&e)
			}
			switch {
			case err != nil:
				return err
			case e.Rewound && !o.rewound:
				o.hidden++
			case o.json && o.whole() && o.theirs.Program != "":
				err = job.WriteJSON(w, &sessions.TheirEntry{Entry: told.Entry(e), Turn: o.theirs.Turn})
			case o.json:
				x := told.Entry(e)
				err = job.WriteJSON(w, &x)
			default:
				err = t.Entry(&e)
			}
			if err != nil {
				return err
			}
		}
		t.failed(nil)
		return t.err
	})
}

// messages yields the messages that are asked for.
func (o *ShowOptions) messages(r sessions.Reader) iter.Seq2[skein.Entry, error] {
	switch {
	case o.turn > 0:
		return r.Turn(o.turn)
	case o.last > 0:
		return r.Last(o.last, o.offset)
	}
	return sessions.Part(r.Entries(0), o.offset, o.first)
}

// A sessionHead is the heading above a whole session.
type sessionHead struct {
	title string
	about []string // ID; where, with whom and when it was, how long; cost
}

// headOf returns the heading of s. If the cost cannot be determined, it says so and
// shows the rest.
func (o *ShowOptions) headOf(ctx context.Context, j *job.Job, s skein.Session) sessionHead {
	costs, err := sessions.Costs(ctx, j, []skein.Session{s})
	if err != nil {
		j.Say("the cost is unknown: %s", fault.Sentence(err))
	}
	cost := costs[s.ID].Costs()
	if cost == "?" {
		cost = "cost not known"
	}
	created := terminal.Stamp(s.Created, j.Now())
	if created != "" {
		created = "created " + created
	}
	gone := ""
	if s.Gone != 0 {
		gone = "gone at its source, seen " + terminal.Stamp(s.Gone, j.Now())
	}
	s = o.curtain.Session(s)
	var facts []string
	for _, f := range []string{j.Tilde(cmp.Or(s.Project, s.Cwd)), s.Agent, created, terminal.Count(s.Turns, "turn"), cost, gone} {
		if f = render.Line(f); f != "" {
			facts = append(facts, f)
		}
	}
	return sessionHead{render.Line(s.Title), []string{string(s.ID), strings.Join(facts, " · ")}}
}

// begin writes the heading of a session.
func (t *Transcript) begin(h sessionHead) {
	p := t.Job.Paint
	if h.title != "" {
		t.print(p.Bold(t.wrap(h.title)) + "\n")
	}
	for _, line := range h.about {
		t.print(p.Dim(t.wrap(line)) + "\n")
	}
	t.begun = true
}

// wrap breaks a line at the width of the terminal.
func (t *Transcript) wrap(line string) string {
	if t.width == 0 {
		return line
	}
	return ansi.Wrap(line, t.width, "")
}

// tellEvents returns the messages again, and the progress that the events report besides
// them. It reads only the events for the part of the session that is shown.
func (o *ShowOptions) tellEvents(r sessions.Reader, messages iter.Seq2[skein.Entry, error]) (iter.Seq2[skein.Entry, error], *render.Outcomes, error) {
	from, to := skein.Seq(0), r.Session.Last
	if o.last+o.first+o.turn > 0 {
		var part []skein.Entry
		for e, err := range messages {
			if err != nil {
				return nil, nil, err
			}
			part = append(part, e)
		}
		messages = func(yield func(skein.Entry, error) bool) {
			for _, e := range part {
				if !yield(e, nil) {
					return
				}
			}
		}
		if len(part) == 0 {
			return messages, nil, nil
		}
		from = part[0].Seq - 1
		switch {
		case o.turn > 0:
			next, err := r.Begin(o.turn + 1)
			if err != nil {
				return nil, nil, err
			}
			to = next - 1
		case o.first > 0 || o.offset > 0:
			to = part[len(part)-1].End
		}
	}
	events := r.Store.Events(r.Ctx, r.Session.ID, from)
	if o.json {
		told, err := render.ProgressOfCalls(&r.Session, events, to)
		return messages, told, err
	}
	told, err := render.ProgressOf(&r.Session, events, to, o.curtain.Text)
	if !o.rewound {
		told = told.Live()
	}
	return messages, told, err
}

func (o *ShowOptions) writeEvents(j *job.Job, r sessions.Reader) error {
	return j.Page(r.Ctx, func(w io.Writer) error {
		for e, err := range o.eventsOf(r) {
			if err == nil {
				e = o.curtain.Event(e)
			}
			if err == nil && o.json {
				err = job.WriteJSON(w, e)
			} else if err == nil {
				err = o.writeEvent(w, j, e)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// eventsOf yields the events that are asked for; --last, --first and --offset count
// events.
func (o *ShowOptions) eventsOf(r sessions.Reader) iter.Seq2[skein.Event, error] {
	events := func(after skein.Seq, n int) iter.Seq2[skein.Event, error] {
		return sessions.Part(r.Store.Events(r.Ctx, r.Session.ID, after), 0, n)
	}
	switch {
	case o.turn > 0:
		return func(yield func(skein.Event, error) bool) {
			from, err := r.Begin(o.turn)
			to := from
			if err == nil {
				to, err = r.Begin(o.turn + 1)
			}
			if err != nil {
				yield(skein.Event{}, err)
				return
			}
			for e, err := range events(from-1, int(to-from)) {
				if !yield(e, err) {
					return
				}
			}
		}
	case o.last > 0:
		end := max(r.Session.Last-skein.Seq(o.offset), 0)
		from := max(end-skein.Seq(o.last), 0)
		if from == end {
			return func(func(skein.Event, error) bool) {}
		}
		return events(from, int(end-from))
	}
	return events(skein.Seq(o.offset), o.first)
}

// writeEvent prints e on one line: its seq, time, kind and payload, cut to the
// width of the terminal.
func (o *ShowOptions) writeEvent(w io.Writer, j *job.Job, e skein.Event) error {
	p, at := j.Paint, e.Time.String()
	if at == "" {
		at = strings.Repeat("-", 24)
	}
	head := fmt.Sprintf("%6d  %s  %-9s  ", e.Seq, at, render.Line(string(e.Kind)))
	if _, err := io.WriteString(w, p.Dim(head[:34])+p.Cyan(head[34:])); err != nil {
		return err
	}
	for payload := []byte(e.Payload); len(payload) > 0; { // piece by piece: it may be most of the memory in use
		end := min(len(payload), longestPiece)
		for end < len(payload) && end > longestPiece/2 && (!utf8.RuneStart(payload[end]) || payload[end] <= ' ' || payload[end-1] <= ' ') {
			end-- // within a word, because Line trims
		}
		text := string(payload[:end])
		payload = payload[end:]
		if !o.raw || j.Terminal.Out {
			text = render.Line(text)
		}
		if width := j.Terminal.Columns(); width > 0 {
			text, payload = terminal.Cut(text, max(width-len(head), 20)), nil
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// longestPiece is how many bytes of a payload are copied at once.
const longestPiece = 1 << 20
