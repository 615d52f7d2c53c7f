package cli

import (
	"context"
	"io"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
)

type listOptions struct {
	all, children, pinned, bin, json            bool
	secrets                                     secretsShown
	project, agent, origin, model, profile, tag string
	since, until                                string
	limit                                       int
	columns                                     []string
}

func newList(f *frame) *cobra.Command {
	var o listOptions
	c := &cobra.Command{
		Use:     "list [flags]",
		Aliases: []string{"ls"},
		Short:   "list the sessions of this project, or of all projects",
		Long: `List the sessions of the current project, newest first. If the project has no
sessions, list those of all projects. On a terminal, the table shows as many
columns as fit; in a pipe, long titles are cut; --wide shows everything. Choose
columns with --columns: id, marks, title, agent, project, created, updated,
turns, msgs, cost, last-prompt, state, surface, key. The SURFACE column appears
if the sessions come from more than one surface: cli, web, telegram, … A session
is marked with * if it is pinned, > if it is a fork, + if an agent started it,
! if a program is working on it, and ? if texts of it were lost in the store's
file. STATE names the program, and says how many tool calls have an unknown
outcome because a program died. In JSON these are locked_by, damaged, uncertain
and open_calls.`,
		Example: `skein list
	skein list --all --since 2d
	skein list --agent codex --json`,
		Args: words(0, 0, ""),
		RunE: f.withStore(o.run),
	}
	g := c.Flags()
	g.BoolVarP(&o.all, "all", "a", false, "list the sessions of all projects")
	g.StringVar(&o.project, "project", "", "only those of the project at this `path`")
	g.StringVar(&o.agent, "agent", "", "only those of the agent with this `name`: claude-code, codex, …")
	g.StringVar(&o.profile, "profile", "", "only those of the profile with this `name`")
	g.StringVar(&o.model, "model", "", "only those whose last answer came from the model with this `name`")
	g.StringVar(&o.origin, "origin", "", "only those imported from this `format`: claude-code, codex, …")
	g.StringVar(&o.tag, "tag", "", "only those with this `tag`")
	g.BoolVar(&o.pinned, "pinned", false, "only pinned sessions")
	g.StringVar(&o.since, "since", "", "only those active since `when`: 3h, 2d, yesterday, 2026-11-21")
	g.StringVar(&o.until, "until", "", "only those active until `when`")
	g.BoolVar(&o.children, "children", false, "include sessions that agents started for a part of their work")
	g.BoolVar(&o.bin, "bin", false, "list the sessions in the bin instead")
	g.IntVarP(&o.limit, "limit", "n", 50, "list at most this `many`; 0 for all")
	g.StringSliceVar(&o.columns, "columns", nil, "show these `columns`, in this order: id, title, key, surface, …")
	f.wideFlag(c)
	secretsFlag(c, &o.secrets)
	jsonFlag(c, &o.json)
	return c
}

func (o *listOptions) run(ctx context.Context, j *job, _ []string) error {
	filter, err := o.filter(j)
	if err != nil {
		return err
	}
	found, err := j.sessions(ctx, filter)
	if err != nil {
		return err
	}
	if len(found) == 0 && filter.Project != "" && o.project == "" {
		if err := j.hintMoved(ctx, "", filter.Project, j.say); err != nil {
			return err
		}
		if found, err = o.elsewhere(ctx, j, filter); err != nil {
			return err
		}
	}
	if o.limit > 0 && len(found) > o.limit {
		found = found[:o.limit]
		defer j.say("there are more: --limit 0 shows all")
	}
	costs, err := j.costs(ctx, found)
	if err != nil {
		return err
	}
	found = o.secrets.curtain().sessions(found)
	if o.json {
		return writeSessions(j.Stdout, found, costs)
	}
	if len(found) == 0 {
		return o.none(j, filter)
	}
	t := j.sessionTable(found, costs)
	if o.columns != nil {
		if err := t.pick(o.columns); err != nil {
			return err
		}
	}
	return j.page(ctx, func(w io.Writer) error { return j.table(w, t) })
}

// elsewhere looks in all projects when this one has no such session.
func (o *listOptions) elsewhere(ctx context.Context, j *job, f skein.Filter) ([]skein.Session, error) {
	here := j.tilde(f.Project)
	others, err := j.sessions(ctx, skein.Filter{Project: f.Project, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(others) > 0 {
		j.say("none of the sessions in %s match; --all looks in all projects", here)
		return nil, nil
	}
	f.Project = ""
	found, err := j.sessions(ctx, f)
	if len(found) > 0 {
		j.say("no sessions in %s; these are of all projects", here)
	}
	return found, err
}

// filter makes the filter that the flags ask for.
func (o *listOptions) filter(j *job) (f skein.Filter, err error) {
	f = skein.Filter{
		Agent: o.agent, Profile: o.profile, Model: o.model, Origin: o.origin, Tag: o.tag,
		Pinned: o.pinned, Bin: o.bin, NoChildren: !o.children,
	}
	switch {
	case o.limit < 0:
		return f, usagef("--limit %d: want 0 or more", o.limit)
	case o.all && o.project != "":
		return f, usagef("--all and --project: want one of them")
	case o.limit > 0:
		f.Limit = o.limit + 1 // one more, to know whether there are more
	}
	if f.Since, f.Until, err = span(o.since, o.until, j.Now()); err != nil || o.all {
		return f, err
	}
	f.Project, err = j.projectOf(o.project)
	return f, err
}

// none says that there are no sessions, and what to do about it.
func (o *listOptions) none(j *job, f skein.Filter) error {
	o.all, o.limit, o.columns = false, 50, nil
	switch {
	case f.Bin:
		j.say("the bin is empty")
	case reflect.DeepEqual(*o, listOptions{limit: 50}):
		j.say("no sessions yet\nskein import finds those of the coding agents on this machine")
	default:
		j.say("no sessions match")
	}
	return nil
}
