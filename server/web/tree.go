package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/lookup"
)

// treePages show families of sessions.
type treePages struct{ *site }

// routes are the routes of families of sessions.
func (s treePages) routes() []door.Route {
	return []door.Route{read("/sessions/{id}/tree", s.tree)}
}

// treePage is the data of the page.
type treePage struct {
	Session skein.Session
	Root    *kin
	Picture *picture
	More    bool
	Max     int
}

// tree shows a session's ancestors, forks and sub-agents.
func (s treePages) tree(w http.ResponseWriter, r *http.Request) {
	store := door.From(r.Context()).Store
	one, err := store.Session(r.Context(), skein.SessionID(r.PathValue("id")))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	found, more, err := lookup.Family(r.Context(), store, one.ID, maxFamily)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	root := s.kinOf(found, one.ID)
	one = s.veiled(one)
	s.show(w, r, "tree", layoutData{Title: "Tree of " + one.Name(), At: "sessions", Data: &treePage{one, root, draw(root), more, maxFamily}})
}

// Sizes in the picture, in its units, which are pixels unless it is scaled
// down.
const (
	boxWide, boxHigh = 184, 46
	gapWide, gapHigh = 56, 14
	edge             = 6
)

// A picture is a family as boxes, children to the right of their parent, with
// lines between them.
type picture struct {
	Width, Height int
	Boxes         []box
	Lines         []curve
}

// A box is a session in the picture.
type box struct {
	*kin
	X, Y int
}

// A curve leads from a session to one of its children.
type curve struct{ Class, Path string }

// draw puts root and its descendants in their places.
func draw(root *kin) *picture {
	p := &picture{}
	p.put(root, 0)
	p.Width, p.Height = p.Width+2*edge, p.Height-gapHigh+2*edge
	return p
}

// put places k at a depth, below what was placed before, after its children: k
// is centered beside them. It returns the vertical center of k.
func (p *picture) put(k *kin, depth int) (middle int) {
	x := edge + depth*(boxWide+gapWide)
	p.Width = max(p.Width, x-edge+boxWide)
	var ends []int
	for _, c := range k.Children {
		ends = append(ends, p.put(c, depth+1))
	}
	if len(ends) == 0 {
		middle = edge + p.Height + boxHigh/2
		p.Height += boxHigh + gapHigh
	} else {
		middle = (ends[0] + ends[len(ends)-1]) / 2
	}
	for i, to := range ends {
		from, until := x+boxWide, x+boxWide+gapWide
		half := (from + until) / 2
		p.Lines = append(p.Lines, curve{
			string(k.Children[i].Parent.Why), fmt.Sprintf("M%d %dC%d %d %d %d %d %d", from, middle, half, middle, half, to, until, to),
		})
	}
	p.Boxes = append(p.Boxes, box{k, x, middle - boxHigh/2})
	return middle
}

// Name returns as much of the name as fits into the box.
func (b box) Name() string {
	const fits = 20 // characters
	name := []rune(b.Session.Name())
	if len(name) > fits {
		return string(name[:fits-1]) + "…"
	}
	return string(name)
}

// TextX returns where the text of a box begins.
func (b box) TextX() int { return b.X + 10 }

// NameY returns the baseline of the name.
func (b box) NameY() int { return b.Y + 19 }

// AboutY returns the baseline of the line below it.
func (b box) AboutY() int { return b.Y + 36 }

// Wide returns the width of a box.
func (box) Wide() int { return boxWide }

// High returns the height of a box.
func (box) High() int { return boxHigh }

// maxFamily is how many sessions a tree shows at most.
const maxFamily = 500

// kin is a session of a family, with its children.
type kin struct {
	skein.Session
	Asked    bool   // the one that the page is about
	Compare  string // path of the page that compares it with that one; "" for that one, and for sub-agents
	Children []*kin
}

// kinOf returns k with all its descendants, and with the secrets in their names
// masked.
func (s treePages) kinOf(k *lookup.Kin, asked skein.SessionID) *kin {
	one := &kin{Session: s.veiled(k.Session), Asked: k.ID == asked}
	if !one.Asked && (k.Parent == nil || k.Parent.IsFork()) {
		one.Compare = comparePath(asked, k.ID)
	}
	for _, c := range k.Children {
		one.Children = append(one.Children, s.kinOf(c, asked))
	}
	return one
}

// About says how k is related to its parent.
func (k *kin) About() string {
	var about []string
	if p := k.Parent; p != nil {
		switch p.Why {
		case skein.Fork:
			about = append(about, fmt.Sprintf("fork at %d", p.Seq))
		case skein.Child:
			about = append(about, "sub-agent")
		case skein.Continuation:
			about = append(about, "continuation")
		}
	}
	about = append(about, plural(k.Turns, "turn"))
	if k.Binned != 0 {
		about = append(about, "in the bin")
	}
	return strings.Join(about, " · ")
}
