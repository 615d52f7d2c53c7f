package transcript

import (
	"context"
	"net/url"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/store/provenance"
)

// Changes are what a session did to files, as its calls say.
type Changes struct {
	PageView
	Files []ChangedFile
	Left  int // changes that are left out, because there are so many
}

// A ChangedFile is a file with its changes, in order.
type ChangedFile struct {
	Path           string
	Named          string // path of the file, as its first call names it
	Added, Removed int    // lines
	Changes        []CallChange
}

// A CallChange is what one call did to a file.
type CallChange struct {
	drawnDiff
	Seq  skein.Seq // of its message
	Turn int
	Time skein.Time
}

const (
	maxChanges    = 500     // that are drawn
	maxChangeHTML = 2 << 20 // bytes of them
)

// HistoryPath returns the path of the page that shows what all sessions did to a file.
func (c *Changes) HistoryPath(f ChangedFile) string {
	return c.Path() + "/file?path=" + url.QueryEscape(f.Named) + c.More()
}

// Changes collects the changes of v's session from its live messages. Calls that failed
// changed nothing. The error is the store's.
func (m *Maker) Changes(ctx context.Context, store skein.Store, v PageView) (*Changes, error) {
	w, err := Whole(ctx, store, v.Session.ID)
	if err == nil {
		w, err = w.current()
	}
	if err != nil {
		return nil, err
	}
	t := newTranscriber(m, v)
	type open struct {
		CallChange
		all  []edits.Edit
		read string // path of the file that it reads
	}
	out, at, calls := &Changes{PageView: v}, map[string]int{}, map[string]open{}
	n, size := 0, 0
	for _, e := range w.Entries {
		if m.secrets != nil && !v.Raw && touches(&e.Message, len(calls) > 0) {
			e = m.secrets.Entry(e)
		}
		for i := range e.Message.Parts {
			p := &e.Message.Parts[i]
			if p.Call != nil {
				o := open{CallChange: CallChange{Seq: e.Seq, Turn: e.Turn, Time: e.Time}, all: edits.Of(p.Call)}
				if len(o.all) == 0 {
					o.read = edits.PathIn(p.Call)
				}
				if len(o.all) > 0 || o.read != "" {
					calls[p.Call.ID] = o
				}
			}
			r := p.Result
			if r == nil {
				continue
			}
			o, known := calls[r.CallID]
			delete(calls, r.CallID)
			switch {
			case !known || r.Failed:
				continue
			case o.read != "":
				t.files.saw(o.read, r.Text.UTF8())
				continue
			}
			t.files.saw(o.all[0].Path, r.Text.UTF8())
			for j := range o.all {
				if n++; n > maxChanges || size > maxChangeHTML {
					out.Left++
					continue
				}
				c := o.CallChange
				c.drawnDiff = t.diff(&o.all[j])
				size += len(c.Code)
				k, there := at[c.Path]
				if !there {
					k = len(out.Files)
					at[c.Path], out.Files = k, append(out.Files, ChangedFile{Path: c.Path, Named: provenance.Absolute(&v.Session, o.all[j].Path)})
				}
				f := &out.Files[k]
				f.Changes = append(f.Changes, c)
				f.Added, f.Removed = f.Added+c.Added, f.Removed+c.Removed
			}
		}
	}
	return out, nil
}

// touches reports whether a message may have to do with changes of files: with none of its
// calls open, results do not.
func touches(m *skein.Message, open bool) bool {
	for i := range m.Parts {
		if c := m.Parts[i].Call; c != nil && (len(edits.Of(c)) > 0 || edits.PathIn(c) != "") || open && m.Parts[i].Result != nil {
			return true
		}
	}
	return false
}
