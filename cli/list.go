package cli

import (
	"context"
	"io"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
)

type listOptions struct {
	all, children, pinned, bin, secrets, json   bool
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
		Short:   "list this project's sessions, or all",
		Long: `List the sessions of the project you are in, the latest first; where it has
none, those of all projects. On a terminal there are as many columns as it has
room for; in a pipe long titles are cut; --wide cuts nothing. --columns picks
them: id, marks, title, agent, project, created, updated, turns, msgs, cost,
last-prompt, state, surface, key. SURFACE is there of itself where sessions are
of more than one: cli, web, telegram, … A session is marked with * if it is pinned, >
if it is a fork, + if an agent started it, ! if a program works on it. STATE says
which one, and how many tool calls have an unknown outcome since a program died;
in JSON these are locked_by, uncertain and open_calls. What is marked ? (in JSON
damaged) has texts that were lost in the store's file.`,
		Example: `skein list
	skein list --all --since 2d
	skein list --agent codex --json`,
		Args: words(0, 0, ""),
		RunE: f.withStore(o.run),
	}
	g := c.Flags()
	g.BoolVarP(&o.all, "all", "a", false, "of all projects")
	g.StringVar(&o.project, "project", "", "of the project at this `path`")
	g.StringVar(&o.agent, "agent", "", "of the agent with this `name`: claude-code, codex, …")
	g.StringVar(&o.profile, "profile", "", "of the profile with this `name`")
	g.StringVar(&o.model, "model", "", "that the model with this `name` answered last")
	g.StringVar(&o.origin, "origin", "", "imported from this `format`: claude-code, codex, …")
	g.StringVar(&o.tag, "tag", "", "with this `tag`")
	g.BoolVar(&o.pinned, "pinned", false, "only pinned ones")
	g.StringVar(&o.since, "since", "", "active since `when`: 3h, 2d, yesterday, 2026-11-21")
	g.StringVar(&o.until, "until", "", "active until `when`")
	g.BoolVar(&o.children, "children", false, "also those that agents started for a part of their work")
	g.BoolVar(&o.bin, "bin", false, "those in the bin instead")
	g.IntVarP(&o.limit, "limit", "n", 50, "at most this `many`; 0 for all")
	g.StringSliceVar(&o.columns, "columns", nil, "these `columns`, in this order: id, title, key, surface, …")
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
	found = drawn(o.secrets).sessions(found)
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
