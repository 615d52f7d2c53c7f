package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lookup"
)

type treeOptions struct {
	json    bool
	secrets secretsShown
}

func newTree(f *frame) *cobra.Command {
	var o treeOptions
	c := &cobra.Command{
		Use:   "tree NAME",
		Short: "show a session's forks and children",
		Long: `Show the whole family of a session: the session that it came from, the forks
that begin with its events, and the children that its agent started for a part
of the work. The session that you named is marked with <.`,
		Args: words(1, 1, "the NAME of a session"),
		RunE: f.withStore(o.run),
	}
	secretsFlag(c, &o.secrets)
	f.wideFlag(c)
	jsonFlag(c, &o.json)
	return c
}

func (o *treeOptions) run(ctx context.Context, j *job, args []string) error {
	s, err := j.session(ctx, args[0])
	if err != nil {
		return err
	}
	top, _, err := lookup.Family(ctx, j.store, s.ID, 0)
	if err != nil {
		return err
	}
	root := nodeOf(top, s.ID, o.secrets.curtain())
	if o.json {
		return writeJSON(j.Stdout, root)
	}
	return j.page(ctx, func(w io.Writer) error { return j.table(w, j.family(root)) })
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
func nodeOf(k *lookup.Kin, asked skein.SessionID, hide curtain) *treeNode {
	s := hide.session(k.Session)
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
func (j *job) family(root *treeNode) *table {
	p := j.paint
	out := &table{columns: []column{
		{title: "ID", rank: 0},
		{title: "TITLE", rank: 1, min: 16, piped: pipedTitle},
		{title: "KIND", rank: 2, min: 10},
		{title: "UPDATED", rank: 5, paint: p.Dim},
		{title: "TURNS", rank: 4, right: true},
		{title: "MSGS", rank: 3, right: true},
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
		out.rows = append(out.rows, []string{
			leads[i] + p.Cyan(id), name, n.about(), ago(n.Updated, j.Now()), strconv.Itoa(n.Turns), strconv.Itoa(n.Messages),
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

// count returns n and the noun: 1 turn, 2 turns.
func count[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return render.Count(int64(n)) + " " + what + "s"
}
