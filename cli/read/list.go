package read

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lookup"
)

// ListOptions are the flags of list.
type ListOptions struct {
	All, children, pinned, bin, json            bool
	secrets                                     sessions.Secrets
	project, agent, origin, model, profile, tag string
	since, until                                string
	Limit                                       int
	columns                                     []string
}

// NewList returns the command list.
func NewList(f *job.Frame) *cobra.Command {
	var o ListOptions
	c := &cobra.Command{
		Use:     "list [flags]",
		Aliases: []string{"ls"},
		Short:   "list the sessions of this project, or of all projects",
		Long: `List the sessions of the current project, newest first, with those of the other
clones of its repository. If there are none, list those of all projects. On a
terminal, the table shows as many columns as fit; in a pipe, it shows all, with
long text cut to make lines of 160; --wide cuts nothing. Choose columns with
--columns: id, marks, title, agent, project, created, updated, turns, msgs, cost,
last-prompt, state, surface, key.
The SURFACE column appears if the sessions come from more than one surface: cli,
web, telegram, … A session is marked with * if it is pinned, > if it is a fork,
+ if an agent started it, ! if a program is working on it, and ? if texts of it
were lost in the store's file. STATE names the program, says how many tool calls
have an unknown outcome because a program died, and whether an imported session
is gone at its source: its agent deleted it, and what was stored stays. In JSON
these are locked_by, damaged, uncertain, open_calls and gone_at.`,
		Example: `skein list
	skein list --all --since 2d
	skein list --agent codex --json`,
		Args: job.Words(0, 0, ""),
		RunE: f.WithStore(o.Run),
	}
	g := c.Flags()
	g.BoolVarP(&o.All, "all", "a", false, "list the sessions of all projects")
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
	g.IntVarP(&o.Limit, "limit", "n", 50, "list at most this `many`; 0 for all")
	g.StringSliceVar(&o.columns, "columns", nil, "show these `columns`, in this order: id, title, key, surface, …")
	f.WideFlag(c)
	sessions.SecretsFlag(c, &o.secrets)
	job.JSONFlag(c, &o.json)
	return c
}

// Run prints the sessions that the flags mean. The error wraps fault.ErrUsage, or is
// that of the store.
func (o *ListOptions) Run(ctx context.Context, j *job.Job, _ []string) error {
	filter, err := o.filter(j)
	if err != nil {
		return err
	}
	found, err := sessions.Matching(ctx, j, filter)
	if err != nil {
		return err
	}
	if len(found) == 0 && filter.Project != "" && o.project == "" {
		was, err := sessions.Moved(ctx, j, "", filter.Project)
		if err != nil {
			return err
		}
		was.Hint(j, j.Say)
		if found, err = o.elsewhere(ctx, j, filter); err != nil {
			return err
		}
	}
	if o.Limit > 0 && len(found) > o.Limit {
		found = found[:o.Limit]
		defer j.Say("there are more: --limit 0 shows all")
	}
	costs, err := sessions.Costs(ctx, j, found)
	if err != nil {
		return err
	}
	found = o.secrets.Mask().Sessions(found)
	if o.json {
		return sessions.WriteAll(j.Stdout, found, costs)
	}
	if len(found) == 0 {
		return o.none(j, filter)
	}
	t := sessions.Table(j, found, costs)
	if o.columns != nil {
		if err := t.Pick(o.columns); err != nil {
			return err
		}
	}
	return j.Page(ctx, func(w io.Writer) error { return j.Table(w, t) })
}

// elsewhere looks in all projects when this one has no such session.
func (o *ListOptions) elsewhere(ctx context.Context, j *job.Job, f skein.Filter) ([]skein.Session, error) {
	here := j.Tilde(f.Project)
	others, err := sessions.Matching(ctx, j, skein.Filter{Project: f.Project, Repository: f.Repository, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(others) > 0 {
		j.Say("none of the sessions in %s match; --all looks in all projects", here)
		return nil, nil
	}
	f.Project, f.Repository = "", ""
	found, err := sessions.Matching(ctx, j, f)
	if len(found) > 0 {
		j.Say("no sessions in %s; these are of all projects", here)
	}
	return found, err
}

// filter makes the filter that the flags ask for.
func (o *ListOptions) filter(j *job.Job) (f skein.Filter, err error) {
	f = skein.Filter{
		Agent: o.agent, Profile: o.profile, Model: o.model, Origin: o.origin, Tag: o.tag,
		Pinned: o.pinned, Bin: o.bin, NoChildren: !o.children,
	}
	switch {
	case o.Limit < 0:
		return f, fault.Usage("--limit %d: want 0 or more", o.Limit)
	case o.All && o.project != "":
		return f, fault.Usage("--all and --project: want one of them")
	case o.Limit > 0:
		f.Limit = o.Limit + 1 // one more, to know whether there are more
	}
	if f.Since, f.Until, err = terminal.Span(o.since, o.until, j.Now()); err != nil || o.All {
		return f, err
	}
	f.Project, f.Repository, err = j.ClonesOf(o.project)
	return f, err
}

// none says that there are no sessions, and what to do about it.
func (o *ListOptions) none(j *job.Job, f skein.Filter) error {
	o.All, o.Limit, o.columns = false, 50, nil
	switch {
	case f.Bin:
		j.Say("the bin is empty")
	case reflect.DeepEqual(*o, ListOptions{Limit: 50}):
		j.Say("no sessions yet\nskein import finds those of the coding agents on this machine")
	default:
		j.Say("no sessions match")
	}
	return nil
}

type treeOptions struct {
	json    bool
	secrets sessions.Secrets
}

// NewTree returns the command tree.
func NewTree(f *job.Frame) *cobra.Command {
	var o treeOptions
	c := &cobra.Command{
		Use:   "tree NAME",
		Short: "show a session's forks and children",
		Long: `Show the whole family of a session: the session that it came from, the forks
that begin with its events, and the children that its agent started for a part
of the work. The session that you named is marked with <.`,
		Args: job.Words(1, 1, "the NAME of a session"),
		RunE: f.WithStore(o.run),
	}
	sessions.SecretsFlag(c, &o.secrets)
	f.WideFlag(c)
	job.JSONFlag(c, &o.json)
	return c
}

func (o *treeOptions) run(ctx context.Context, j *job.Job, args []string) error {
	s, err := sessions.Named(ctx, j, args[0])
	if err != nil {
		return err
	}
	top, _, err := lookup.Family(ctx, j.Store, s.ID, 0)
	if err != nil {
		return err
	}
	root := nodeOf(top, s.ID, o.secrets.Mask())
	if o.json {
		return job.WriteJSON(j.Stdout, root)
	}
	return j.Page(ctx, func(w io.Writer) error { return j.Table(w, family(j, root)) })
}

// A treeNode is a session in a family, in JSON.
type treeNode struct {
	ID       skein.SessionID `json:"id"`
	Name     string          `json:"name"`
	Why      skein.Why       `json:"why,omitempty"`
	Seq      skein.Seq       `json:"seq,omitempty"` // of the parent's event that it is attached to
	Updated  skein.Time      `json:"updated_at,omitzero"`
	Turns    int             `json:"turns"`
	Messages int             `json:"messages"`
	Asked    bool            `json:"asked,omitempty"` // this is the session that was named
	Binned   bool            `json:"binned,omitempty"`
	Children []*treeNode     `json:"children,omitempty"`
}

// nodeOf returns k with all its descendants; asked is marked.
func nodeOf(k *lookup.Kin, asked skein.SessionID, hide sessions.Mask) *treeNode {
	s := hide.Session(k.Session)
	n := &treeNode{
		ID: s.ID, Name: s.Name(), Updated: s.Updated, Turns: s.Turns, Messages: s.Messages,
		Asked: s.ID == asked, Binned: s.Binned != 0,
	}
	if s.Parent != nil {
		n.Why, n.Seq = s.Parent.Why, s.Parent.Seq
	}
	for _, c := range k.Children {
		n.Children = append(n.Children, nodeOf(c, asked, hide))
	}
	return n
}

// flat returns n and its descendants, each with the branches to draw before it.
func (n *treeNode) flat(lead, below string) (nodes []*treeNode, leads []string) {
	nodes, leads = []*treeNode{n}, []string{lead}
	for i, c := range n.Children {
		branch, next := "├─ ", "│  "
		if i == len(n.Children)-1 {
			branch, next = "└─ ", "   "
		}
		ns, ls := c.flat(below+branch, below+next)
		nodes, leads = append(nodes, ns...), append(leads, ls...)
	}
	return nodes, leads
}

// family returns the family of root as a table, in which the session that was named
// is marked.
func family(j *job.Job, root *treeNode) *terminal.Table {
	p := j.Paint
	out := &terminal.Table{Columns: []terminal.Column{
		{Title: "ID", Rank: 0},
		{Title: "TITLE", Rank: 1, Min: 16},
		{Title: "KIND", Rank: 2, Min: 10},
		{Title: "UPDATED", Rank: 5, Paint: p.Dim},
		{Title: "TURNS", Rank: 4, Right: true},
		{Title: "MSGS", Rank: 3, Right: true},
	}}
	nodes, leads := root.flat("", "")
	ids := make([]skein.SessionID, len(nodes))
	for i, n := range nodes {
		ids[i] = n.ID
	}
	for i, id := range lookup.ShortIDs(ids) {
		n := nodes[i]
		name := render.Line(n.Name)
		if n.Asked && len(nodes) > 1 {
			id, name = id+" <", p.Bold(name)
		}
		out.Rows = append(out.Rows, []string{
			leads[i] + p.Cyan(id), name, n.about(), terminal.Ago(n.Updated, j.Now()), strconv.Itoa(n.Turns), strconv.Itoa(n.Messages),
		})
	}
	return out
}

// about says how n is related to its parent.
func (n *treeNode) about() string {
	var about []string
	switch n.Why {
	case skein.Fork:
		about = append(about, fmt.Sprintf("fork at %d", n.Seq))
	case skein.Child, skein.Continuation:
		about = append(about, string(n.Why))
	}
	if n.Binned {
		about = append(about, "in the bin")
	}
	return strings.Join(about, ", ")
}
