package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lenient"
)

type forkOptions struct {
	turn, seq int64
	title     string
	json      bool
	given     func(flag string) bool // whether a flag was on the command line
}

func newFork(f *frame) *cobra.Command {
	var o forkOptions
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
		Args: words(1, 1, "the NAME of a session"),
		RunE: f.withStore(o.run),
	}
	c.Flags().Int64Var(&o.turn, "turn", 0, "fork after turn `N`; -1 is the last turn")
	c.Flags().Int64Var(&o.seq, "seq", 0, "fork after the event with seq `N`")
	c.Flags().StringVar(&o.title, "title", "", "title of the new session: `T`")
	f.wideFlag(c)
	jsonFlag(c, &o.json)
	flagWords(c, map[string]string{"name": "title", "at-turn": "turn"})
	o.given = c.Flags().Changed
	return c
}

func (o *forkOptions) run(ctx context.Context, j *job, args []string) error {
	if o.given("turn") && o.given("seq") {
		return usagef("--turn and --seq: want one of them")
	}
	s, err := j.session(ctx, args[0])
	if err != nil {
		return err
	}
	if !o.given("turn") && !o.given("seq") {
		if o.title != "" {
			return advise(usagef("--title %q: where does the fork begin?", o.title), "see the turns: skein fork %s", shortID(s.ID))
		}
		return o.offer(ctx, j, s)
	}
	at, err := o.place(ctx, j, s)
	if err != nil {
		return err
	}
	id := skein.NewSessionID(j.Now())
	_, err = j.store.Append(ctx, skein.Batch{Session: id, After: skein.Fresh, Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, skein.At(j.Now()), forkOf(s, at, o.title, j.Version)),
	}})
	if err != nil {
		return err
	}
	j.say("%s begins with %q up to seq %d; read it: skein show %s", shortID(id), called(s), at, shortID(id))
	if o.json {
		return writeJSON(j.Stdout, map[string]any{"id": id, "parent": s.ID, "seq": at})
	}
	_, err = fmt.Fprintln(j.Stdout, id)
	return err
}

// forkOf returns the creation of a session that shows s up to a seq and goes on
// independently, with the current agent and model of s.
func forkOf(s skein.Session, at skein.Seq, title, version string) skein.Created {
	return skein.Created{
		Title: skein.ShortTitle(title), User: s.User, Surface: "cli", Program: "skein", Version: version,
		Profile: s.Profile, Provider: s.Provider, Project: s.Project, Cwd: s.Cwd,
		Parent: &skein.Parent{Session: s.ID, Seq: at, Why: skein.Fork},
	}
}

// place returns the last seq that the fork shows.
func (o *forkOptions) place(ctx context.Context, j *job, s skein.Session) (skein.Seq, error) {
	if o.given("seq") {
		if o.seq < 1 || o.seq > int64(s.Last) {
			return 0, usagef("--seq %d: session %s has the events 1 to %d", o.seq, shortID(s.ID), s.Last)
		}
		return skein.Seq(o.seq), nil
	}
	turn := o.turn
	if turn < 0 {
		turn += int64(s.Ever().Turns) + 1
	}
	if turn < 1 || turn > int64(s.Ever().Turns) {
		return 0, o.noTurn(s)
	}
	next, err := reader{ctx, lenient.Store(j.store, nil), s}.begin(int(turn) + 1)
	return next - 1, err
}

func (o *forkOptions) noTurn(s skein.Session) error {
	has := fmt.Sprintf("the turns 1 to %d", s.Ever().Turns)
	switch s.Ever().Turns {
	case 0:
		has = "no turns yet"
	case 1:
		has = "only turn 1"
	}
	return advise(usagef("--turn %d: session %s has %s", o.turn, shortID(s.ID), has), "see where it can be forked: skein fork %s", shortID(s.ID))
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
func (o *forkOptions) offer(ctx context.Context, j *job, s skein.Session) (err error) {
	told := j.goAround()
	defer func() { err = told(err) }()
	var turns []turnLine
	theirs := turnsOf(&s)
	for e, err := range (reader{ctx, j.store, s}).entries(0) {
		if err != nil {
			return err
		}
		theirs.take(&e)
		if e.Message.Typed() && (len(turns) == 0 || turns[len(turns)-1].Turn != e.Turn) {
			typed, _ := skein.Unwrap(e.Message.Words())
			turns = append(turns, turnLine{e.Turn, e.Seq, e.Time, typed, theirs.turn})
		}
	}
	if o.json {
		for _, t := range turns {
			if err := writeJSON(j.Stdout, t); err != nil {
				return err
			}
		}
		return nil
	}
	if len(turns) == 0 {
		j.say("session %s has no turns yet; --seq forks at any event", shortID(s.ID))
		return nil
	}
	j.say("fork from which turn? skein fork %s --turn N", shortID(s.ID))
	t := turnTable(turns, j, theirs.program)
	return j.page(ctx, func(w io.Writer) error { return j.table(w, t) })
}

func turnTable(turns []turnLine, j *job, theirs string) *table {
	t := &table{columns: []column{
		{title: "TURN", rank: 0, right: true, paint: j.paint.Cyan},
		{title: "SEQ", rank: 3, right: true},
		{title: "WHEN", rank: 2, paint: j.paint.Dim},
		{title: "PROMPT", rank: 1, min: 16, piped: pipedTitle},
	}}
	if theirs != "" {
		t.columns = slices.Insert(t.columns, 1, column{title: strings.ToUpper(theirs), rank: 4, right: true})
	}
	for _, l := range turns {
		row := []string{strconv.Itoa(l.Turn), strconv.FormatInt(int64(l.Seq), 10), stamp(l.Time, j.Now()), render.Line(l.Prompt)}
		if theirs != "" {
			row = slices.Insert(row, 1, strconv.Itoa(l.Theirs))
		}
		t.rows = append(t.rows, row)
	}
	return t
}
