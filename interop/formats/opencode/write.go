package opencode

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
)

// version is the version of opencode whose files are imitated.
const version = "1.18.33"

// write makes the rows of a session. It reads the existing database: the rows have
// the columns that it has, and a project that it knows.
//
// The error wraps [skein.ErrInvalid] for a session of the early versions' folder,
// which no version with a database reads anymore.
func write(ctx context.Context, d interop.Draft) (interop.Written, error) {
	at := fileName
	if d.After > 0 {
		at = d.Path
	}
	if path.Base(at) == folderName {
		return interop.Written{}, fmt.Errorf("%w: opencode no longer reads %s; start it once, so that it moves that into its database", skein.ErrInvalid, at)
	}
	is, err := interop.Once(d, at, func() (*there, error) {
		return lookAt(ctx, filepath.Join(d.Home, filepath.FromSlash(at)))
	})
	if err != nil {
		return interop.Written{}, err
	}
	o := &output{d: d, at: is, ours: d.Session.Origin != nil && d.Session.Origin.Format == Name}
	if err := o.place(); err != nil {
		return interop.Written{}, err
	}
	w := &writer{output: o, calls: &calls{output: o, outs: map[string]*callOut{}}, charges: &charges{output: o, steps: map[skein.Seq][]skein.Step{}}}
	entries, err := d.Entries()
	if err != nil {
		return interop.Written{}, err
	}
	w.say(entries)
	w.others()
	rows := append([]interop.OutLine{w.session()}, w.lines...)
	out := interop.Written{ID: w.id, Losses: w.losses, Texts: []interop.SourceText{{Path: at, Name: w.id, Lines: rows, Gone: w.gone}}}
	if frame := w.frame(); len(frame) > 0 {
		out.Texts = append(out.Texts, interop.SourceText{Path: at, Lines: []interop.OutLine{{Body: lines.RopeOf(frame)}}})
	}
	return out, nil
}

// A writer is one call of write. Its parts share one output.
type writer struct {
	*output

	calls   *calls
	charges *charges
}

// An output is the rows that are written, one after the other.
type output struct {
	d      interop.Draft
	at     *there
	id     string       // session's
	ours   bool         // it came from opencode, with opencode's tools
	row    *foreign.Row // the session's, if it exists
	keep   skein.Seq    // the last existing message that stays
	gone   [][]byte     // the rows that do not stay
	n      uint64       // of the newest ID
	time   skein.Time   // of the last message written
	seq    skein.Seq    // last event covered so far
	user   string       // the last user message
	lines  []interop.OutLine
	losses interop.Losses
}

// place determines the session's ID, and where the IDs begin.
//
// IDs have the time of writing, like a fork's: the program takes a message with a
// smaller ID than its answer for answered, and the times in IDs wrap around every 795
// days.
func (o *output) place() error {
	const ago = time.Minute
	o.n = uint64(o.d.Now.Add(-ago).UnixMilli()) * idCount & idBits
	o.id = string(o.d.Session.ID)
	if !isSession(o.id) {
		o.id = sessionID(max(0, int64(o.d.Session.Created)), o.id)
	}
	if o.d.After == 0 {
		return nil
	}
	o.id = o.d.Name
	now := uint64(o.d.Now.UnixMilli()) * idCount & idBits
	var b backwards
	for rec, err := range o.d.Known {
		if err != nil {
			return err
		}
		r, ok, err := foreign.ParseRow(rec.Raw)
		if err != nil || !ok || r.Damage != "" {
			continue
		}
		b.take(rec, &r, o.d)
		if n := numberIn(r.Text("id")); r.Table != "session" && n <= now {
			o.n = max(o.n, n)
		}
		if r.Table == "session" {
			o.row = &r
		}
	}
	o.takeBack(&b)
	if o.row == nil {
		return fmt.Errorf("%w: %s has no session %s", skein.ErrInvalid, o.d.Path, o.id)
	}
	if o.row.Text("revert") != "" { // the program removes everything after that place
		return fmt.Errorf("%w: session %s was rewound in opencode; continue there, or undo the rewind", skein.ErrInvalid, o.id)
	}
	return nil
}

// put adds a row, which covers everything up to seq.
func (o *output) put(seq skein.Seq, table string, vs values) {
	o.seq = max(o.seq, seq)
	r := o.at.row(table, vs)
	o.lines = append(o.lines, interop.OutLine{Body: r.Line(), Seq: o.seq})
}

// cover notes that the newest row covers everything up to seq.
func (o *output) cover(seq skein.Seq) {
	o.seq = max(o.seq, seq)
	if n := len(o.lines); n > 0 {
		o.lines[n-1].Seq = o.seq
	}
}

// session makes the session's row, or updates the existing one.
func (w *writer) session() interop.OutLine {
	s := &w.d.Session
	if w.row != nil {
		return interop.OutLine{Body: w.changed().Line()}
	}
	title := s.Title
	if title == "" {
		title = "New session - " + s.Created.String()
	}
	project, _ := w.at.project(w.folder())
	vs := values{
		"id": w.id, "project_id": project, "parent_id": w.parent(), "slug": "skein-" + tail(w.id)[:6], "directory": w.folder(),
		"title": title, "version": version, "agent": agentName, "model": nil, "metadata": nil,
		"time_created": int64(s.Created), "time_updated": int64(max(s.Updated, s.Created, w.time)),
	}
	if provider, model := w.modelOf("", ""); w.ours && model != "" {
		vs["model"] = string(skein.MustJSON(modelRef{ID: model, Provider: provider}))
	}
	u := w.charges.spent
	vs["cost"], vs["tokens_input"], vs["tokens_output"] = float64(u.Reported)/1e9, u.Input, max(0, u.Output-u.Reasoning)
	vs["tokens_reasoning"], vs["tokens_cache_read"], vs["tokens_cache_write"] = u.Reasoning, u.CacheRead, u.CacheWrite
	r := w.at.row("session", vs)
	return interop.OutLine{Body: r.Line()}
}

// changed returns the session's row with what is new in it.
func (w *writer) changed() foreign.Row {
	r := *w.row
	r.Values = append([]foreign.Value(nil), r.Values...)
	for i, c := range r.Columns {
		n, _ := r.Values[i].(int64)
		u := w.charges.spent
		switch c {
		case "time_updated":
			r.Values[i] = max(n, w.d.Now.UnixMilli())
		case "title":
			if w.d.Session.Title != "" {
				r.Values[i] = w.d.Session.Title
			}
		case "cost":
			cost, _ := r.Values[i].(float64)
			r.Values[i] = cost + float64(u.Reported)/1e9
		case "tokens_input":
			r.Values[i] = n + u.Input
		case "tokens_output":
			r.Values[i] = n + max(0, u.Output-u.Reasoning)
		case "tokens_reasoning":
			r.Values[i] = n + u.Reasoning
		case "tokens_cache_read":
			r.Values[i] = n + u.CacheRead
		case "tokens_cache_write":
			r.Values[i] = n + u.CacheWrite
		}
	}
	return r
}

// folder returns the session's working directory.
func (o *output) folder() string {
	for _, at := range []string{o.d.Session.Cwd, o.d.Session.Project} {
		if at != "" {
			return at
		}
	}
	return "/"
}

// parent returns the session that started this one, if it is in the database.
func (w *writer) parent() foreign.Value {
	p := w.d.Session.Parent
	if p == nil || p.Why != skein.Child || w.d.Other == nil {
		return nil
	}
	if spot, ok := w.d.Other(p.Session); ok && spot.ID != "" {
		return spot.ID
	}
	return nil
}

// frame makes what belongs to no session: the database, if there is none, and the
// project, if it is not in there.
func (w *writer) frame() (b []byte) {
	if w.d.After > 0 {
		return nil
	}
	if !w.at.made {
		b = newDatabase(w.d.Now.UnixMilli())
		w.at.made = true
	}
	if id, known := w.at.project(w.folder()); !known {
		now := w.d.Now.UnixMilli()
		r := w.at.row("project", values{"id": id, "worktree": "/", "time_created": now, "time_updated": now, "sandboxes": "[]"})
		b = r.AppendLine(b)
		w.at.projects[id] = "/"
	}
	return b
}
