package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

type treeOptions struct{ json bool }

func newTree(f *frame) *cobra.Command {
	var o treeOptions
	c := &cobra.Command{
		Use:   "tree NAME",
		Short: "show a session's forks and children",
		Long: `Show the whole family of a session: what it came from, the forks that begin
with its events, and the children that its agent started for a part of the
work.`,
		Args: words(1, 1, "the NAME of a session"),
		RunE: f.withStore(o.run),
	}
	jsonFlag(c, &o.json)
	return c
}

func (o *treeOptions) run(ctx context.Context, j *job, args []string) error {
	s, err := j.session(ctx, args[0])
	if err != nil {
		return err
	}
	top, err := ancestor(ctx, j.store, s)
	if err != nil {
		return err
	}
	t := &family{j: j, asked: s.ID, seen: map[skein.SessionID]bool{}}
	root, err := t.of(ctx, top)
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(j.Stdout, root)
	}
	return j.page(ctx, func(w io.Writer) error { return t.write(w, root, "", "") })
}

// ancestor follows the parents of s up to the one that has none, or whose
// parent is gone.
func ancestor(ctx context.Context, st skein.Store, s skein.Session) (skein.Session, error) {
	seen := map[skein.SessionID]bool{}
	for s.Parent != nil && !seen[s.ID] {
		seen[s.ID] = true
		up, err := st.Session(ctx, s.Parent.Session)
		if gone(err) {
			return s, nil
		}
		if err != nil {
			return s, err
		}
		s = up
	}
	return s, nil
}

// A treeNode is a session of a family, in JSON.
type treeNode struct {
	ID       skein.SessionID `json:"id"`
	Name     string          `json:"name"`
	Why      skein.Why       `json:"why,omitempty"`
	Seq      skein.Seq       `json:"seq,omitempty"` // of the parent's event that it hangs on
	Turns    int             `json:"turns"`
	Messages int             `json:"messages"`
	Asked    bool            `json:"asked,omitempty"` // the one that was named
	Binned   bool            `json:"binned,omitempty"`
	Children []*treeNode     `json:"children,omitempty"`
}

type family struct {
	j     *job
	asked skein.SessionID
	seen  map[skein.SessionID]bool
}

// of returns s with all that hangs on it.
func (t *family) of(ctx context.Context, s skein.Session) (*treeNode, error) {
	n := &treeNode{
		ID: s.ID, Name: s.Name(), Turns: s.Turns, Messages: s.Messages,
		Asked: s.ID == t.asked, Binned: s.Binned != 0,
	}
	if s.Parent != nil {
		n.Why, n.Seq = s.Parent.Why, s.Parent.Seq
	}
	t.seen[s.ID] = true
	for _, bin := range []bool{false, true} {
		below, err := t.j.sessions(ctx, skein.Filter{Parent: s.ID, IncludeEmpty: true, Bin: bin})
		if err != nil {
			return nil, err
		}
		for _, b := range below {
			if t.seen[b.ID] {
				continue
			}
			child, err := t.of(ctx, b)
			if err != nil {
				return nil, err
			}
			n.Children = append(n.Children, child)
		}
	}
	return n, nil
}

func (t *family) write(w io.Writer, n *treeNode, lead, below string) error {
	p := t.j.paint
	name := render.Line(n.Name)
	if n.Asked {
		name = p.bold(name)
	}
	var about []string
	switch n.Why {
	case skein.Fork:
		about = append(about, fmt.Sprintf("fork at seq %d", n.Seq))
	case skein.Child:
		about = append(about, "child")
	case skein.Continuation:
		about = append(about, "continuation")
	}
	about = append(about, count(n.Turns, "turn"), count(n.Messages, "message"))
	if n.Binned {
		about = append(about, "in the bin")
	}
	if _, err := fmt.Fprintf(w, "%s%s  %s  %s\n", lead, p.cyan(shortID(n.ID)), name, p.dim(strings.Join(about, ", "))); err != nil {
		return err
	}
	for i, c := range n.Children {
		branch, next := "├─ ", "│  "
		if i == len(n.Children)-1 {
			branch, next = "└─ ", "   "
		}
		if err := t.write(w, c, below+branch, below+next); err != nil {
			return err
		}
	}
	return nil
}

// count returns n and what is counted: 1 turn, 2 turns.
func count[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
