package web

import (
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lookup"
)

// maxFamily is how many sessions a tree shows at most.
const maxFamily = 500

// kin is a session of a family, with its children.
type kin struct {
	skein.Session
	Asked    bool // the one that the page is about
	Children []*kin
}

// kinOf returns k with all its descendants, and with the secrets in their names
// masked.
func (s *site) kinOf(k *lookup.Kin, asked skein.SessionID) *kin {
	one := &kin{Session: s.veiled(k.Session), Asked: k.ID == asked}
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
