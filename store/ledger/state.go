package ledger

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// A State is a Head as stores keep it, in JSON: everything that the events of a session
// add up to.
type State struct {
	skein.Session
	Said    skein.Seq `json:"said,omitempty"`           // [Head.Said]
	FirstAt skein.Seq `json:"first_words_at,omitempty"` // as in [walk.Prompts]
	LastAt  skein.Seq `json:"last_prompt_at,omitempty"`
	Sum     *int64    `json:"sum,omitempty"` // see [Head.Check]; nil if words were taken out by hand
}

// State returns what to store of h. Binned, LockedBy and Damaged are not part of it.
func (h *Head) State() State {
	sum := h.Sum()
	x := State{h.Session, h.Said, h.Prompts.FirstAt, h.Prompts.LastAt, &sum}
	x.Binned, x.LockedBy, x.Damaged = 0, "", false
	return x
}

// SetState sets h to what was stored of it, and h.Altered.
func (h *Head) SetState(x *State) {
	h.Session, h.Said, h.Prompts = x.Session, x.Said, walk.Prompts{FirstAt: x.FirstAt, LastAt: x.LastAt}
	if x.Sum != nil {
		h.Check(*x.Sum)
	}
}
