package read

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/activity"
	"github.com/skein-dev/skein/store/lookup"
)

type nowOptions struct {
	since, project, agent       string
	states                      []string
	children, once, watch, json bool
	secrets                     sessions.Secrets
}

// refresh is how often the live view is brought up to date.
const refresh = time.Second

// NewNow returns the command now.
func NewNow(f *job.Frame) *cobra.Command {
	var o nowOptions
	c := &cobra.Command{
		Use:   "now [flags]",
		Short: "show what each session is doing: working, waiting for you, idle",
		Long: `Show what the sessions of the last 12 hours are doing: those that wait for you
first, then those that work, then the others. On a terminal, the view stays and
is brought up to date until Ctrl-C; in a pipe, or with --once, it is printed once.

A session is working while its agent answers or runs a tool; waiting while it
asks you for a permission or an answer; idle when the agent has answered, or was
interrupted; failed if its last request ended with an error, or its program died
in the middle of a turn; ended when its program has ended. This follows from what
is stored and, for another agent's session, from what the agent's hooks say and
whether its file still grows: skein setup enters the hooks, and keeps what is stored
up to date. Without hooks, most agents that ask for a permission look as if the tool
were running.`,
		Example: `skein now
	skein now --state waiting --json
	skein now --watch --json | jq -r .text`,
		Args: job.Words(0, 0, ""),
		RunE: f.WithStore(o.run),

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	g := c.Flags()
	g.StringVar(&o.since, "since", "12h", "the sessions active since `when`: 3h, 2d, yesterday, 2026-11-21")
	g.StringVar(&o.project, "project", "", "only those of the project at this `path`, in all clones")
	g.StringVar(&o.agent, "agent", "", "only those of the agent with this `name`")
	g.StringSliceVar(&o.states, "state", nil, "only those in these `states`: working, waiting, idle, failed, ended")
	g.BoolVar(&o.children, "children", false, "include sessions that agents started for a part of their work")
	g.BoolVar(&o.once, "once", false, "print the list once, also on a terminal")
	g.BoolVar(&o.watch, "watch", false, "in a pipe: keep running, and print each session again when its state changes")
	f.WideFlag(c)
	sessions.SecretsFlag(c, &o.secrets)
	job.JSONFlag(c, &o.json)
	return c
}

func workStates() []skein.WorkState {
	return []skein.WorkState{skein.StateWorking, skein.StateWaiting, skein.StateIdle, skein.StateFailed, skein.StateEnded}
}

func (o *nowOptions) run(ctx context.Context, j *job.Job, _ []string) error {
	for _, s := range o.states {
		if !slices.Contains(workStates(), skein.WorkState(s)) {
			return fault.Usage("--state %q: want working, waiting, idle, failed or ended", s)
		}
	}
	if o.once && o.watch {
		return fault.Usage("--once and --watch: want one of them")
	}
	switch {
	case o.watch:
		return o.changes(ctx, j)
	case j.Terminal.Out && !o.json && !o.once:
		return o.live(ctx, j)
	}
	lines, err := o.lines(ctx, j)
	if err != nil {
		return err
	}
	if o.json {
		for _, l := range lines {
			if err := job.WriteJSON(j.Stdout, l); err != nil {
				return err
			}
		}
		return budgetLines(ctx, j)
	}
	if len(lines) == 0 {
		j.Say("no session was active in this time; --since 7d looks further back")
		return nil
	}
	if err := j.Table(j.Stdout, nowTable(j, lines)); err != nil {
		return err
	}
	notes, err := sessions.NearBudgets(ctx, j)
	for _, n := range notes {
		j.Say("budget: %s", n)
	}
	return err
}

// budgetLines prints how much of each budget is used, as JSON.
func budgetLines(ctx context.Context, j *job.Job) error {
	all, err := sessions.Budgets(ctx, j, nil)
	for _, b := range all {
		if err := job.WriteJSON(j.Stdout, map[string]price.Spent{"budget": b}); err != nil {
			return err
		}
	}
	return err
}

// lines asks the store.
func (o *nowOptions) lines(ctx context.Context, j *job.Job) (lines []activity.Line, err error) {
	f := skein.Filter{Agent: o.agent, NoChildren: !o.children}
	if f.Since, _, err = terminal.Span(o.since, "", j.Now()); err != nil {
		return nil, err
	}
	if o.project != "" {
		if f.Project, err = j.ProjectOf(o.project); err != nil {
			return nil, err
		}
		x, _ := j.Checkout(f.Project)
		f.Repository = x.Repository
	}
	all, err := activity.All(ctx, j.Store, f, skein.At(j.Now()), sessions.Probes(j))
	hide := o.secrets.Mask()
	for i := range all {
		n := &all[i]
		if len(o.states) > 0 && !slices.Contains(o.states, string(n.State)) {
			continue
		}
		n.Session, n.Text = hide.Session(n.Session), hide.Text(n.Text)
		lines = append(lines, n.Line())
	}
	return lines, err
}

// live shows the list until ctx ends.
func (o *nowOptions) live(ctx context.Context, j *job.Job) (err error) {
	fmt.Fprint(j.Stdout, "\x1b[?1049h\x1b[?25l") // the screen that is there stays as it is
	defer fmt.Fprint(j.Stdout, "\x1b[?25h\x1b[?1049l")
	shown := ""
	for ctx.Err() == nil {
		lines, err := o.lines(ctx, j)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // Ctrl-C ends the view
		}
		if err != nil {
			return err
		}
		notes, err := sessions.NearBudgets(ctx, j)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // Ctrl-C ends the view
		}
		if err != nil {
			return err
		}
		view, err := nowView(j, lines, notes)
		if err != nil {
			return err
		}
		if view != shown {
			fmt.Fprint(j.Stdout, "\x1b[H"+strings.ReplaceAll(view, "\n", "\x1b[K\n")+"\x1b[J")
			shown = view
		}
		_ = sleep.For(ctx, refresh) //nolint:errcheck // the loop ends with ctx
	}
	return nil
}

// nowView returns as many lines of the table as the terminal has, under a summary and
// the budgets that are nearly used.
func nowView(j *job.Job, lines []activity.Line, budgets []string) (string, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s  %s\n", j.Paint.Bold(summary(lines)), j.Paint.Dim("Ctrl-C ends"))
	for _, n := range budgets {
		fmt.Fprintf(&b, "%s\n", j.Paint.Yellow("budget: "+render.Line(n)))
	}
	if len(lines) > 0 {
		if err := j.Table(&b, nowTable(j, lines)); err != nil {
			return "", err
		}
	}
	rows := strings.SplitAfter(b.String(), "\n")
	if h := j.Terminal.Height; h > 2 && len(rows) > h-1 {
		rows = rows[:h-1]
	}
	return strings.Join(rows, ""), nil
}

// summary counts the states: 1 waiting, 2 working, 5 idle.
func summary(lines []activity.Line) string {
	count := map[skein.WorkState]int{}
	for _, l := range lines {
		count[l.State]++
	}
	var parts []string
	for _, s := range []skein.WorkState{skein.StateWaiting, skein.StateWorking, skein.StateFailed, skein.StateIdle, skein.StateEnded} {
		if n := count[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	if parts == nil {
		return "no session was active"
	}
	return strings.Join(parts, ", ")
}

// changes prints each session whose state changed, until ctx ends.
func (o *nowOptions) changes(ctx context.Context, j *job.Job) error {
	for seen := (activity.ReaderLines{}); ctx.Err() == nil; {
		lines, err := o.lines(ctx, j)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // Ctrl-C ends it
		}
		if err != nil {
			return err
		}
		for _, l := range seen.News(lines) {
			if err := o.change(j, l); err != nil {
				return err
			}
		}
		_ = sleep.For(ctx, refresh) //nolint:errcheck // the loop ends with ctx
	}
	return nil
}

func (o *nowOptions) change(j *job.Job, l activity.Line) error {
	if o.json {
		return job.WriteJSON(j.Stdout, l)
	}
	text := fmt.Sprintf("%s  %-7s  %s", sessions.ShortID(l.ID), l.State, render.Line(l.Name))
	if says := l.Says(); says != "" {
		text += "  " + render.Line(says)
	}
	_, err := io.WriteString(j.Stdout, text+"\n")
	return err
}

// nowTable returns lines as a table.
func nowTable(j *job.Job, lines []activity.Line) *terminal.Table {
	p, now := j.Paint, j.Now()
	t := &terminal.Table{Columns: []terminal.Column{
		{Title: "STATE", Rank: 0},
		{Title: "SINCE", Rank: 3, Paint: p.Dim},
		{Title: "ID", Rank: 1, Paint: p.Cyan},
		{Title: "TITLE", Rank: 2, Min: 16},
		{Title: "DOING", Rank: 4, Min: 32},
		{Title: "AGENT", Rank: 5, Min: 11},
		{Title: "PROJECT", Rank: 6, Min: 14, Left: true},
		{Title: "BRANCH", Rank: 7, Min: 8},
	}}
	ids := make([]skein.SessionID, len(lines))
	for i := range lines {
		ids[i] = lines[i].ID
	}
	paint := map[skein.WorkState]func(string) string{skein.StateWaiting: p.Yellow, skein.StateWorking: p.Green, skein.StateFailed: p.Red}
	for i, id := range lookup.ShortIDs(ids) {
		l := &lines[i]
		state := string(l.State)
		if f := paint[l.State]; f != nil {
			state = f(state)
		}
		t.Rows = append(t.Rows, []string{
			state, terminal.Ago(l.Since, now), id, render.Line(l.Name), render.Line(l.Says()),
			render.Line(l.Agent), render.Line(j.Tilde(l.Project)), render.Line(l.Branch),
		})
	}
	return t
}
