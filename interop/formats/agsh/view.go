package agsh

import (
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
)

// held is a message that the program continues with.
type held struct {
	at    skein.Seq // the last event of its message, or its compaction; 0 if unknown
	still bool      // of an existing one: it is still live in the session
	role  string
	row   []byte
}

// A view is the messages that the program continues with.
type view struct{ held []held }

// known reads the existing rows. If rows can replace others, only what they leave
// counts, otherwise all rows.
func (w *writer) known() error {
	if w.d.After == 0 || w.d.Known == nil {
		return nil
	}
	for rec, err := range w.d.Known {
		if err != nil {
			return err
		}
		at, still := w.d.Tells(rec)
		row, ok, err := foreign.ParseRow(rec.Raw)
		if err != nil || !ok || row.Damage != "" || row.Table != "messages" {
			continue
		}
		h := held{at, still, row.Text("role"), rec.Raw}
		if !w.at.repairs() {
			w.view.held = append(w.view.held, h)
			continue
		}
		w.view.load(h, row)
	}
	return nil
}

// load applies a row as the program does when it loads it.
func (v *view) load(h held, row foreign.Row) {
	switch h.role {
	case roleUser, roleAnswer, roleBlocks:
		v.held = append(v.held, h)
	case roleResults:
		if _, ok := list(row.Text("content")); ok {
			v.held = append(v.held, h)
		}
	case roleBoundary, roleRepair:
		rep, ok := replacementOf(row)
		switch {
		case ok && rep.Boundary != nil && rep.Boundary.Count >= 0:
			v.drop(rep.Boundary.Count)
			v.held = append(v.held, h)
		case ok && rep.Repair != nil && rep.Repair.Count >= 0:
			v.drop(rep.Repair.Count)
			for range rep.Repair.Messages {
				v.held = append(v.held, h)
			}
		}
	}
}

func (v *view) drop(n int) { v.held = v.held[:max(0, len(v.held)-n)] }

// whole returns where to cut the messages that the program continues with, at n or one
// less: calls must not be left without their results.
func (v *view) whole(n int) int {
	if n > 0 && n < len(v.held) && v.held[n-1].role == roleAnswer && v.held[n].role == roleResults {
		return n - 1
	}
	return n
}

// kept returns the seq up to which the messages are in the rows that the program goes
// on with. What a summary covers counts as included.
func (v *view) kept(sum *summary) skein.Seq {
	if sum != nil && len(v.held) == 1 && v.held[0].at == sum.seq {
		return sum.To
	}
	for _, h := range slices.Backward(v.held) {
		if h.at > 0 {
			return h.at
		}
	}
	return 0
}
