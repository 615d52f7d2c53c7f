package status

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/internal/repository"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/render"
)

type options struct {
	format, project string
	refresh, json   bool
}

// usual is the format of the line.
const usual = "{model}[ · {context} context][ · {cost}][ · {today} today][ · {window} in 5 h][ · {branch}][ · {budget}]"

// NewStatusline returns the command statusline.
func NewStatusline(f *job.Frame) *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "statusline [flags]",
		Short: "print one line about a session for a status line or prompt",
		Long: `Print one line for the status line of Claude Code, tmux or a prompt: the model, how
much of its context is used, what the session costs, what was used today and in the
5-hour window of Claude Code, and the branch. The session is the one that Claude Code
tells of on stdin, else the newest one of the project.

The line comes at once: what it needs of the store was found out at most a few seconds
before, by a process that nobody waits for. On a terminal, it is found out now.

--format is the line, with {model}, {context}, {cost}, {today}, {window}, {limit} and
{week} (how much of the windows of a subscription is used), {branch}, {project} and
{budget} (from 80 % of it). What is in [brackets] is left out if the names in it stand
for nothing.`,
		Example: `skein statusline --format '{cost} [{branch}]'
	skein statusline --project '#{pane_current_path}'
	skein setup --only claude-code`,
		Args: job.Words(0, 0, ""),
		RunE: f.Plain(o.run),

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	g := c.Flags()
	g.StringVar(&o.format, "format", usual, "the `line`, with names in {braces}")
	g.StringVar(&o.project, "project", ".", "the newest session of the project at this `path`")
	g.BoolVar(&o.refresh, "refresh", false, "only find out what the line needs of the store")
	job.JSONFlag(c, &o.json)
	job.Hide(c, "refresh")
	return c
}

// A Line is what the line has names for.
type Line struct {
	Session string        `json:"session,omitempty"`
	Model   string        `json:"model,omitempty"`
	Context *float64      `json:"context_percent,omitempty"`
	Cost    *Amount       `json:"cost,omitempty"`
	Today   *Amount       `json:"today,omitempty"`
	Window  *Amount       `json:"window,omitempty"`
	Limits  planLimits    `json:"limits,omitzero"`
	Budgets []price.Spent `json:"budgets,omitempty"`
	Branch  string        `json:"branch,omitempty"`
	Project string        `json:"project,omitempty"`
	Age     float64       `json:"age_seconds"` // of what was found out in the store
}

func (o *options) run(ctx context.Context, j *job.Job, _ []string) error {
	if err := o.check(); err != nil {
		return err
	}
	var in statusInput
	if !o.refresh && !j.Terminal.In {
		_ = json.Unmarshal(job.ReadPayload(j.Stdin, mostTold, tellTime), &in) // a prompt tells nothing
	}
	limits := planLimits{in.Limits.Five.limit(), in.Limits.Seven.limit()}
	_ = limits.keep(j) // the line is worth more
	figures, due := read(j)
	switch {
	case o.refresh, j.Terminal.Out, j.Detach == nil:
		var err error
		if figures, err = refresh(ctx, j); err != nil {
			return err
		}
	case due:
		renew(j)
	}
	if o.refresh {
		return nil
	}
	l, err := o.line(j, &in, &figures)
	if err != nil {
		return err
	}
	if l.Limits == (planLimits{}) {
		l.Limits = readLimits(j)
	}
	if o.json {
		return job.WriteJSON(j.Stdout, l)
	}
	_, err = io.WriteString(j.Stdout, l.format(o.format, j.Now())+"\n")
	return err
}

// Limits of what Claude Code may tell, so that it does not wait.
const (
	mostTold = 1 << 20 // bytes
	tellTime = 100 * time.Millisecond
)

// renewEvery is how old figures may be before newer ones are asked for.
const renewEvery = 5 * time.Second

// names are in a format.
var names = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(\w*)\}`) })

// groups are parts of a format that may be left out.
var groups = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[[^\[\]]*\]`) })

func (o *options) check() error {
	known := []string{"model", "context", "cost", "today", "window", "limit", "week", "branch", "project", "budget"}
	for _, m := range names().FindAllStringSubmatch(o.format, -1) {
		if !slices.Contains(known, m[1]) {
			return fault.Usage("--format: %s: want {%s}", m[0], strings.Join(known, "}, {"))
		}
	}
	return nil
}

// refresh finds the figures out and keeps them.
func refresh(ctx context.Context, j *job.Job) (f Figures, err error) {
	if err := j.Begin(ctx); err != nil {
		return f, job.Unopened(j, err)
	}
	defer func() { err = errors.Join(err, j.Whole.Close()) }()
	if f, err = Take(ctx, j); err == nil {
		err = f.keep(j)
	}
	return f, err
}

// line returns the line of the session that in tells of, or the project's newest.
func (o *options) line(j *job.Job, in *statusInput, f *Figures) (l Line, err error) {
	dir := cmp.Or(in.Workspace.Current, in.Cwd, o.project)
	folder, err := j.Absolute(dir)
	if err != nil {
		return l, err
	}
	at, _ := repository.Head(folder) //nolint:errcheck // it has the rest
	project := at.Project
	l = Line{Session: in.Session, Model: cmp.Or(in.Model.Name, in.Model.ID), Context: in.Context.Used, Branch: at.Branch, Project: project, Budgets: f.Budgets}
	if l.Branch == "" && len(at.Commit) >= 7 {
		l.Branch = at.Commit[:7]
	}
	if f.At != 0 {
		l.Today, l.Window = &f.Today, &f.Window
		l.Age = j.Now().Sub(f.At.Std()).Seconds()
	}
	i := slices.IndexFunc(f.Sessions, func(s Session) bool {
		if in.Session != "" {
			return s.Own == in.Session || string(s.ID) == in.Session
		}
		return s.Project == project
	})
	if i >= 0 {
		s := &f.Sessions[i]
		l.Session, l.Model, l.Cost = string(s.ID), cmp.Or(l.Model, s.Model), &s.Cost
		if l.Context == nil && s.Room > 0 && s.Context > 0 {
			percent := float64(s.Context) * 100 / float64(s.Room)
			l.Context = &percent
		}
	}
	if usd := in.Cost.USD; usd > 0 { // what is stored may be behind
		l.Cost = &Amount{USD: usd}
	}
	return l, nil
}

// format puts the line's values into a format.
func (l *Line) format(format string, now time.Time) string {
	text := func(name string) string {
		switch strings.Trim(name, "{}") {
		case "model":
			return l.Model
		case "context":
			return percent(l.Context)
		case "cost":
			return l.Cost.text()
		case "today":
			return l.Today.text()
		case "window":
			return l.Window.text()
		case "limit":
			return l.Limits.Five.text(now)
		case "week":
			return l.Limits.Seven.text(now)
		case "branch":
			return l.Branch
		case "project":
			return l.Project
		}
		return l.budget()
	}
	fill := func(s string) string { return names().ReplaceAllStringFunc(s, text) }
	filled := groups().ReplaceAllStringFunc(format, func(group string) string {
		all := names().FindAllString(group, -1)
		switch {
		case len(all) == 0:
			return group
		case !slices.ContainsFunc(all, func(name string) bool { return text(name) != "" }):
			return ""
		}
		return group[1 : len(group)-1]
	})
	return strings.Trim(render.Line(fill(filled)), " ·")
}

func percent(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%.0f%%", *v)
}

func (a *Amount) text() string {
	switch {
	case a == nil:
		return ""
	case a.Partial:
		return fmt.Sprintf(">$%.2f", a.USD)
	}
	return fmt.Sprintf("$%.2f", a.USD)
}

// text says how much of a window is used, if it has not ended: "23% until 14:00".
func (l planWindow) text(now time.Time) string {
	if !l.resets(now) {
		return ""
	}
	until := l.Resets.Std().In(now.Location())
	layout := "15:04"
	if until.Sub(now) > 24*time.Hour {
		layout = "Mon 15:04"
	}
	return fmt.Sprintf("%.0f%% until %s", l.Percent, until.Format(layout))
}

// budget names the budget of which most is used; "" if all are far from it.
func (l *Line) budget() string {
	var most *price.Spent
	for i := range l.Budgets {
		if b := &l.Budgets[i]; b.Percent >= price.Near && (most == nil || b.Percent > most.Percent) {
			most = b
		}
	}
	if most == nil {
		return ""
	}
	return most.String()
}
