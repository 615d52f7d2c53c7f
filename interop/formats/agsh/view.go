package agsh

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
)

// held is a message that the program goes on with.
type held struct {
	at    skein.Seq // the last event of its message, or its compaction; 0 if unknown
	still bool      // of an existing one: it is still live in the session
	role  string
	row   []byte
}

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
			w.view = append(w.view, h)
			continue
		}
		w.load(h, row)
	}
	return nil
}

// load applies a row as the program does when it loads it.
func (w *writer) load(h held, row foreign.Row) {
	switch h.role {
	case roleUser, roleAnswer, roleBlocks:
		w.view = append(w.view, h)
	case roleResults:
		if _, ok := list(row.Text("content")); ok {
			w.view = append(w.view, h)
		}
	case roleBoundary, roleRepair:
		rep, ok := replacementOf(row)
		switch {
		case ok && rep.Boundary != nil && rep.Boundary.Count >= 0:
			w.drop(rep.Boundary.Count)
			w.view = append(w.view, h)
		case ok && rep.Repair != nil && rep.Repair.Count >= 0:
			w.drop(rep.Repair.Count)
			for range rep.Repair.Messages {
				w.view = append(w.view, h)
			}
		}
	}
}

func (w *writer) drop(n int) { w.view = w.view[:max(0, len(w.view)-n)] }

// whole returns where to cut the messages that the program goes on with, at n or one
// less: calls must not be left without their results.
func (w *writer) whole(n int) int {
	if n > 0 && n < len(w.view) && w.view[n-1].role == roleAnswer && w.view[n].role == roleResults {
		return n - 1
	}
	return n
}
