package transcript

import (
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/provenance"
)

// A FileHistory is what sessions did to a file, the newest change first.
type FileHistory struct {
	PageView        // of the session that the file is named by
	Named    string // path of the file, from the root of the repository on
	Changes  []SessionChange
	Left     int // changes that are left out, because there are so many
}

// A SessionChange is what a call of a session did to the file.
type SessionChange struct {
	CallChange
	By    PageView // the session
	Title string   // its name
	Model string
	First bool // the change before in the list is of another session
}

// History draws what sessions did to a file: its edits, the newest first.
func (m *Maker) History(v PageView, name string, all []provenance.SessionEdit, sessions map[skein.SessionID]skein.Session) *FileHistory {
	hide := !v.Raw && m.secrets != nil
	if hide {
		name = m.secrets.Text(name)
	}
	out, size := &FileHistory{PageView: v, Named: name}, 0
	for i := range all {
		e := &all[i]
		x, known := sessions[e.Session]
		if !known {
			continue // it was deleted meanwhile
		}
		if len(out.Changes) >= maxChanges || size > maxChangeHTML {
			out.Left++
			continue
		}
		by := v
		by.Session, by.At = x, 0
		edit := e.Edit
		if hide {
			by.Session, edit = m.secrets.Session(x), m.hidden(edit)
		}
		t := newTranscriber(m, by)
		c := SessionChange{CallChange: CallChange{drawnDiff: t.diff(&edit), Seq: e.Seq, Turn: e.Turn, Time: e.Time}, By: by, Title: render.Line(by.Session.Name()), Model: e.Model}
		n := len(out.Changes)
		c.First = n == 0 || out.Changes[n-1].By.Session.ID != x.ID
		size += len(c.Code)
		out.Changes = append(out.Changes, c)
	}
	return out
}

// hidden returns an edit without secrets.
func (m *Maker) hidden(e edits.Edit) edits.Edit {
	lines := func(all []string) []string {
		all = slices.Clone(all)
		for i := range all {
			all[i] = m.secrets.Text(all[i])
		}
		return all
	}
	e.Path, e.From, e.Added, e.Removed, e.Hunks = m.secrets.Text(e.Path), m.secrets.Text(e.From), lines(e.Added), lines(e.Removed), slices.Clone(e.Hunks)
	for i := range e.Hunks {
		h := &e.Hunks[i]
		h.Old, h.New = m.secrets.Text(h.Old), m.secrets.Text(h.New)
	}
	return e
}
