package agsh

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
)

// write makes the rows of a session. It reads the existing database: the rows have
// the columns that it has.
func write(ctx context.Context, d interop.Draft) (interop.Written, error) {
	path, id := fileName, uuid(string(d.Session.ID))
	if d.After > 0 {
		path, id = d.Path, d.Name
	}
	at, err := interop.Once(d, path, func() (there, error) {
		return lookAt(ctx, filepath.Join(d.Home, filepath.FromSlash(path)))
	})
	if err != nil {
		return interop.Written{}, err
	}
	var row *foreign.Row
	if d.After > 0 {
		row = at.rows[id]
	}
	if d.After > 0 && row == nil {
		return interop.Written{}, fmt.Errorf("session %s %w in %s", id, skein.ErrNotFound, path)
	}
	o, v := &output{d: d, at: at, id: id}, &view{}
	w := &writer{output: o, view: v, messages: &messages{output: o, view: v}, keep: d.After}
	if err := w.write(); err != nil {
		return interop.Written{}, err
	}
	w.others()
	rows := append([]interop.OutLine{w.session(row)}, w.lines...)
	out := interop.Written{ID: id, Losses: w.losses, Texts: []interop.SourceText{{Path: path, Name: id, Lines: rows, Gone: w.gone}}}
	if d.After == 0 {
		out.Texts = append(out.Texts, interop.SourceText{Path: path, Lines: []interop.OutLine{{Body: lines.RopeOf(frame())}}})
	}
	return out, nil
}

// isUUID reports whether an ID is a UUID as the program spells it.
func isUUID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i, c := range []byte(id) {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	return true
}

// uuid returns id if it is a UUID, else one derived from it: the program accepts
// nothing else.
func uuid(id string) string {
	if isUUID(id) {
		return id
	}
	b := sha256.Sum256([]byte(id))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// stampText returns a time as the program spells it.
func stampText(t skein.Time) string {
	layout := "2006-01-02T15:04:05.000+00:00"
	if t%1000 == 0 {
		layout = "2006-01-02T15:04:05+00:00"
	}
	return t.Std().Format(layout)
}

// A writer makes the rows of one session. Its parts share one output.
type writer struct {
	*output

	view     *view
	messages *messages
	keep     skein.Seq // the messages up to here are in its rows, or cannot be stored there
	back     bool      // the session was rewound since the rows before
}

// An output is the rows that are written, one after the other.
type output struct {
	d      interop.Draft
	at     there
	id     string     // session's
	last   skein.Time // of a message
	lines  []interop.OutLine
	gone   [][]byte // rows
	losses interop.Losses
}

// put adds a message's row.
func (ms *messages) put(e *skein.Entry, role, content string) {
	ms.row(e, role, content)
	ms.view.held = append(ms.view.held, held{at: e.End, role: role})
}

func (o *output) row(e *skein.Entry, role, content string) {
	if o.last = max(o.last, e.Time, o.d.Session.Created); o.last == 0 {
		o.last = skein.At(o.d.Now)
	}
	r := o.at.row("messages", values{"session_id": o.id, "role": role, "content": content, "created_at": stampText(o.last)})
	o.lines = append(o.lines, interop.OutLine{Body: r.Line(), Seq: e.End})
}

// session makes the session's row, or updates the existing one.
func (w *writer) session(there *foreign.Row) interop.OutLine {
	s := w.d.Session
	if there == nil {
		created := s.Created
		if created == 0 {
			created = skein.At(w.d.Now)
		}
		vs := values{
			"id": w.id, "created_at": stampText(created), "updated_at": stampText(max(s.Updated, w.last, created)),
			"locked_by": holder(s.LockedBy), "metadata": nil, "cwd": text(s.Cwd), "stat_turns": int64(s.Turns),
			"stat_input_tokens": s.Usage.Input, "stat_output_tokens": s.Usage.Output,
			"stat_cache_creation_input_tokens": s.Usage.CacheWrite, "stat_cache_read_input_tokens": s.Usage.CacheRead,
		}
		if p := s.Parent; p != nil && p.Why == skein.Child && w.d.Other != nil {
			if spot, ok := w.d.Other(p.Session); ok {
				vs["parent_session_id"] = spot.ID
			}
		}
		r := w.at.row("sessions", vs)
		return interop.OutLine{Body: r.Line()}
	}
	r := *there
	r.Values = slices.Clone(r.Values)
	for column, n := range map[string]int64{
		"stat_input_tokens": w.messages.added.Input, "stat_output_tokens": w.messages.added.Output,
		"stat_cache_creation_input_tokens": w.messages.added.CacheWrite, "stat_cache_read_input_tokens": w.messages.added.CacheRead,
	} {
		if i := slices.Index(r.Columns, column); i >= 0 {
			r.Values[i] = r.Int(column) + n
		}
	}
	if i := slices.Index(r.Columns, "updated_at"); i >= 0 {
		r.Values[i] = stampText(skein.At(w.d.Now))
	}
	// A dead process's mark is overwritten, as when the program itself takes over.
	if i := slices.Index(r.Columns, "locked_by"); i >= 0 {
		r.Values[i] = holder(s.LockedBy)
	}
	return interop.OutLine{Body: r.Line()}
}

// holder returns the PID of the skein process that has the session open, as the
// program stores it; nil for none.
func holder(lockedBy string) foreign.Value {
	pid, _, _ := strings.Cut(strings.TrimPrefix(lockedBy, "PID "), " ")
	if n, err := strconv.Atoi(pid); err != nil || n <= 0 {
		return nil
	}
	return pid
}

func text(s string) foreign.Value {
	if s == "" {
		return nil
	}
	return s
}

// others reports what else has no row.
func (w *writer) others() {
	if w.d.Session.Title != "" && w.d.After == 0 {
		w.losses.Add(1, "title: left out")
	}
	for _, ev := range w.d.Events {
		if ev.Seq <= w.d.After {
			continue
		}
		switch ev.Kind {
		case skein.KindNoted:
			if n, err := skein.Decode[skein.Noted](ev); err != nil || !strings.HasPrefix(n.Name, "agsh:session") {
				w.losses.Add(ev.Seq, "note: left out")
			}
		case skein.KindTool:
			w.losses.Add(ev.Seq, "when a tool ran: left out")
		case skein.KindStep:
			w.losses.Add(ev.Seq, "request to a model: left out")
		case skein.KindCompacted:
			if _, ok := summaryOf(ev); !ok || !w.at.repairs() {
				w.losses.Add(ev.Seq, "compaction: left out, what it covers is written")
			}
		}
	}
}
