package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lookup"
)

type nameIn struct {
	Session string `json:"session" jsonschema:"the session's ID, the beginning or end of the ID, its key, or a part of its title"`
}

// maxFamily is how many sessions of a family are shown.
const maxFamily = 300

// A kinLine is a session of a family; its ancestors come before it.
type kinLine struct {
	sessionLine
	Depth  int             `json:"depth"`
	Parent skein.SessionID `json:"parent,omitempty"`
	Why    skein.Why       `json:"why,omitempty"`
	Seq    skein.Seq       `json:"seq,omitempty"` // of the parent's event where it began
	Asked  bool            `json:"asked,omitempty"`
	Binned bool            `json:"binned,omitempty"`
}

func (s *toolset) tree(ctx context.Context, in nameIn) (*sdk.CallToolResult, error) {
	x, err := s.session(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	root, more, err := lookup.Family(ctx, s.store, x.ID, maxFamily)
	if err != nil {
		return nil, err
	}
	f := family{toolset: s, asked: x.ID, page: &answerLines{toolset: s}}
	if !f.add(root, 0) || more {
		return f.page.answer("Only a part of the family is shown."), nil
	}
	return f.page.answer(end), nil
}

type family struct {
	*toolset
	asked skein.SessionID
	page  *answerLines
}

// add adds k and its descendants; false says that not all of them fit.
func (f *family) add(k *lookup.Kin, depth int) bool {
	l := kinLine{sessionLine: f.line(&k.Session), Depth: depth, Asked: k.ID == f.asked, Binned: k.Binned != 0}
	if k.Parent != nil {
		l.Parent, l.Why, l.Seq = k.Parent.Session, k.Parent.Why, k.Parent.Seq
	}
	if !f.page.add(l) {
		return false
	}
	for _, c := range k.Children {
		if !f.add(c, depth+1) {
			return false
		}
	}
	return true
}
