package agsh

import (
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/jsonl"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A replacement is the content of a row that replaces messages by others.
type replacement struct {
	Boundary *struct {
		Summary jsontext.Value `json:"summary"`
		Count   int            `json:"replaced_count"`
	} `json:"CompactBoundary"`
	Repair *struct {
		Count    int              `json:"replaced_count"`
		Messages []jsontext.Value `json:"messages"`
	} `json:"Repair"`
}

func replacementOf(row foreign.Row) (rep replacement, ok bool) {
	text := row.Text("content")
	ok = jsonl.Depth(text) <= maxNest && jsonv2.Unmarshal([]byte(text), &rep, loose.Options()) == nil
	return rep, ok
}

// boundary reads a summary of the last messages.
func (r *reader) boundary(m *interop.Made, at skein.Time, row foreign.Row) {
	rep, ok := replacementOf(row)
	if !ok || rep.Boundary == nil || rep.Boundary.Count < 0 {
		m.Damage = "compact_boundary: of another shape"
		r.note(m, at, row)
		return
	}
	said := r.wire(rep.Boundary.Summary)
	if rep.Boundary.Count < len(r.view) {
		r.rewind(m, at, rep.Boundary.Count)
		said.Synthetic = true
		r.say(m, at, said)
		return
	}
	r.put(m, skein.NewEvent(skein.KindCompacted, at, skein.Compacted{Summary: said.Words()}))
	m.Items[len(m.Items)-1].To = r.items - 1
	r.view = []int{r.items}
}

// repair reads messages that replace the last ones.
func (r *reader) repair(m *interop.Made, at skein.Time, row foreign.Row) {
	rep, ok := replacementOf(row)
	if !ok || rep.Repair == nil || rep.Repair.Count < 0 {
		m.Damage = "repair: of another shape"
		r.note(m, at, row)
		return
	}
	r.rewind(m, at, rep.Repair.Count)
	for _, v := range rep.Repair.Messages {
		r.say(m, at, r.wire(v))
	}
}

// rewind goes back to before the last n messages.
func (r *reader) rewind(m *interop.Made, at skein.Time, n int) {
	if n = min(n, len(r.view)); n == 0 {
		return
	}
	r.view = r.view[:len(r.view)-n]
	to := 0
	if len(r.view) > 0 {
		to = r.view[len(r.view)-1]
	}
	r.put(m, skein.NewEvent(skein.KindRewound, at, skein.Rewound{}))
	m.Items[len(m.Items)-1].To = to
}
