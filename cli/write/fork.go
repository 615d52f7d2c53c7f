package write

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lenient"
)

// ForkOptions are the flags of fork.
type ForkOptions struct {
	Turn, seq int64
	title     string
	json      bool
	Given     func(flag string) bool // whether a flag was on the command line
}

// NewFork returns the command fork.
func NewFork(f *job.Frame) *cobra.Command {
	var o ForkOptions
	c := &cobra.Command{
		Use:   "fork NAME [--turn N | --seq N] [flags]",
		Short: "begin a session with the first part of another",
		Long: `Begin a new session with the events of another session up to the end of a turn,
or up to a seq. The new session continues independently. Nothing is copied, and
the other session does not change. Without --turn and --seq, list the turns to
fork from. The new session's ID is printed on stdout.`,
		Example: `skein fork last
	skein fork last --turn -1
	skein fork last --turn 3 --title "the other way"`,
		Args: job.Words(1, 1, "the NAME of a session"),
		RunE: f.WithStore(o.run),
	}
	c.Flags().Int64Var(&o.Turn, "turn", 0, "fork after turn `N`; -1 is the last turn")
	c.Flags().Int64Var(&o.seq, "seq", 0, "fork after the event with seq `N`")
	c.Flags().StringVar(&o.title, "title", "", "title of the new session: `T`")
	f.WideFlag(c)
	job.JSONFlag(c, &o.json)
	job.FlagWords(c, map[string]string{"name": "title", "at-turn": "turn"})
	o.Given = c.Flags().Changed
	return c
}

func (o *ForkOptions) run(ctx context.Context, j *job.Job, args []string) error {
	if o.Given("turn") && o.Given("seq") {
		return fault.Usage("--turn and --seq: want one of them")
	}
	s, err := sessions.Named(ctx, j, args[0])
	if err != nil {
		return err
	}
	if !o.Given("turn") && !o.Given("seq") {
		if o.title != "" {
			return fault.Advise(fault.Usage("--title %q: say where the fork begins, with --turn or --seq", o.title), "see the turns: skein fork %s", sessions.ShortID(s.ID))
		}
		return o.offer(ctx, j, s)
	}
	at, err := o.Place(ctx, j, s)
	if err != nil {
		return err
	}
	id := skein.NewSessionID(j.Now())
	_, err = j.Store.Append(ctx, skein.Batch{Session: id, After: skein.Fresh, Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, skein.At(j.Now()), sessions.ForkOf(s, at, o.title, j.Version)),
	}})
	if err != nil {
		return err
	}
	j.Say("%s begins with %q up to seq %d; read it: skein show %s", sessions.ShortID(id), sessions.Called(s), at, sessions.ShortID(id))
	if o.json {
		return job.WriteJSON(j.Stdout, map[string]any{"id": id, "parent": s.ID, "seq": at})
	}
	_, err = fmt.Fprintln(j.Stdout, id)
	return err
}

// Place returns the last seq that the fork shows.
//
// The error wraps fault.ErrUsage if s has no such turn or seq, or is that of the
// store.
func (o *ForkOptions) Place(ctx context.Context, j *job.Job, s skein.Session) (skein.Seq, error) {
	if o.Given("seq") {
		if o.seq < 1 || o.seq > int64(s.Last) {
			return 0, fault.Usage("--seq %d: session %s has the events 1 to %d", o.seq, sessions.ShortID(s.ID), s.Last)
		}
		return skein.Seq(o.seq), nil
	}
	turn := o.Turn
	if turn < 0 {
		turn += int64(s.Ever().Turns) + 1
	}
	if turn < 1 || turn > int64(s.Ever().Turns) {
		return 0, o.noTurn(s)
	}
	next, err := sessions.Reader{Ctx: ctx, Store: lenient.Store(j.Store, nil), Session: s}.Begin(int(turn) + 1)
	return next - 1, err
}

func (o *ForkOptions) noTurn(s skein.Session) error {
	has := fmt.Sprintf("the turns 1 to %d", s.Ever().Turns)
	switch s.Ever().Turns {
	case 0:
		has = "no turns yet"
	case 1:
		has = "only turn 1"
	}
	return fault.Advise(fault.Usage("--turn %d: session %s has %s", o.Turn, sessions.ShortID(s.ID), has), "see where it can be forked: skein fork %s", sessions.ShortID(s.ID))
}

// A turnLine is a turn that a fork can begin after, in JSON.
type turnLine struct {
	Turn   int        `json:"turn"`
	Seq    skein.Seq  `json:"seq"` // of its prompt
	Time   skein.Time `json:"time,omitzero"`
	Prompt string     `json:"prompt"`
	Theirs int        `json:"amplifier_turn,omitempty"` // as Amplifier counts, for its own sessions
}

// offer lists the turns to fork from.
func (o *ForkOptions) offer(ctx context.Context, j *job.Job, s skein.Session) (err error) {
	told := sessions.AroundDamage(j)
	defer func() { err = told(err) }()
	var turns []turnLine
	theirs := sessions.TurnsOf(&s)
	for e, err := range (sessions.Reader{Ctx: ctx, Store: j.Store, Session: s}).Entries(0) {
		if err != nil {
			return err
		}
		theirs.Take(&e)
		if e.Message.Typed() && (len(turns) == 0 || turns[len(turns)-1].Turn != e.Turn) {
			typed, _ := skein.Unwrap(e.Message.Words())
			turns = append(turns, turnLine{e.Turn, e.Seq, e.Time, typed, theirs.Turn})
		}
	}
	if o.json {
		for _, t := range turns {
			if err := job.WriteJSON(j.Stdout, t); err != nil {
				return err
			}
		}
		return nil
	}
	if len(turns) == 0 {
		j.Say("session %s has no turns yet; --seq forks at any event", sessions.ShortID(s.ID))
		return nil
	}
	j.Say("fork from which turn? skein fork %s --turn N", sessions.ShortID(s.ID))
	t := turnTable(turns, j, theirs.Program)
	return j.Page(ctx, func(w io.Writer) error { return j.Table(w, t) })
}

func turnTable(turns []turnLine, j *job.Job, theirs string) *terminal.Table {
	t := &terminal.Table{Columns: []terminal.Column{
		{Title: "TURN", Rank: 0, Right: true, Paint: j.Paint.Cyan},
		{Title: "SEQ", Rank: 3, Right: true},
		{Title: "WHEN", Rank: 2, Paint: j.Paint.Dim},
		{Title: "PROMPT", Rank: 1, Min: 16},
	}}
	if theirs != "" {
		t.Columns = slices.Insert(t.Columns, 1, terminal.Column{Title: strings.ToUpper(theirs), Rank: 4, Right: true})
	}
	for _, l := range turns {
		row := []string{strconv.Itoa(l.Turn), strconv.FormatInt(int64(l.Seq), 10), terminal.Stamp(l.Time, j.Now()), render.Line(l.Prompt)}
		if theirs != "" {
			row = slices.Insert(row, 1, strconv.Itoa(l.Theirs))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
