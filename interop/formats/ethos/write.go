package ethos

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
)

// write makes the rows of a session. It reads the existing database: the rows have
// the columns that it has, and a free key.
func write(ctx context.Context, d interop.Draft) (interop.Written, error) {
	path := fileName
	if d.After > 0 {
		path = d.Path
	}
	at, err := interop.Once(d, path, func() (there, error) {
		return lookAt(ctx, filepath.Join(d.Home, filepath.FromSlash(path)))
	})
	if err != nil {
		return interop.Written{}, err
	}
	w := &writer{d: d, at: at, id: uuid(string(d.Session.ID)), names: map[string]string{}}
	if d.After > 0 {
		w.id = d.Name
		if err := w.known(); err != nil {
			return interop.Written{}, err
		}
	}
	entries, err := d.Entries()
	if err != nil {
		return interop.Written{}, err
	}
	for _, e := range entries {
		w.entry(e)
	}
	w.compactions()
	w.others()
	rows := append(w.sessionRow(), w.lines...)
	out := interop.Written{ID: w.id, Losses: w.losses, Texts: []interop.SourceText{{Path: path, Name: w.id, Lines: rows}}}
	if d.After == 0 {
		out.Texts = append(out.Texts, interop.SourceText{Path: path, Lines: []interop.OutLine{{Body: lines.RopeOf(frame())}}})
	}
	return out, nil
}

// A writer makes the rows of one session.
type writer struct {
	d      interop.Draft
	at     there
	id     string // session's
	row    *foreign.Row
	rows   map[string]foreign.Row // messages that the database has, by ID
	names  map[string]string      // call ID → tool
	all    []placed               // messages that are written, or were before
	last   skein.Time             // of a message
	seq    skein.Seq              // last event covered so far
	added  skein.Usage
	calls  int
	lines  []interop.OutLine
	losses interop.Losses
}

// placed is a message's row and its event.
type placed struct {
	seq skein.Seq
	id  string
}

// known reads the rows that the database has of the session.
func (w *writer) known() error {
	w.rows = map[string]foreign.Row{}
	for rec, err := range w.d.Known {
		if err != nil {
			return err
		}
		r, ok, err := foreign.ParseRow(rec.Raw)
		if err != nil || !ok || r.Damage != "" {
			continue
		}
		switch r.Table {
		case "sessions":
			w.row = &r
		case "messages":
			w.rows[r.Text("id")] = r
			w.last = max(w.last, stampOf(r.Text("timestamp")))
		}
	}
	w.seq = w.d.After
	return nil
}

// put adds a row.
func (w *writer) put(seq skein.Seq, table string, vs values) {
	r, lost := w.at.row(table, vs)
	for _, c := range lost {
		w.losses.Add(seq, c+": the database there has no such column")
	}
	w.seq = max(w.seq, seq)
	w.lines = append(w.lines, interop.OutLine{Body: r.Line(), Seq: w.seq})
}

// sessionRow makes the session's row, or updates the existing one.
func (w *writer) sessionRow() []interop.OutLine {
	s := w.d.Session
	now := skein.At(w.d.Now)
	if w.row != nil {
		r := *w.row
		r.Values = append([]foreign.Value(nil), r.Values...)
		set := func(column string, v foreign.Value) {
			for i, c := range r.Columns {
				if c == column {
					r.Values[i] = v
				}
			}
		}
		set("updated_at", now.String())
		set("title", or(s.Title, r.Get("title")))
		if r.Get("pinned") != nil {
			set("pinned", bit(s.Pinned))
		}
		for column, n := range w.counters(w.added, w.calls) {
			if f, ok := n.(float64); ok {
				cost, _ := r.Get(column).(float64)
				set(column, cost+f)
			} else if r.Get(column) != nil {
				set(column, r.Int(column)+n.(int64))
			}
		}
		for column, n := range w.steps() {
			if r.Get(column) != nil {
				set(column, r.Int(column)+n)
			}
		}
		return []interop.OutLine{{Body: r.Line()}}
	}
	vs := values{
		"id": w.id, "key": w.key(), "platform": platform(s.Surface), "model": or(s.Model, "unknown"), "provider": or(s.Provider, "unknown"),
		"personality_id": or(s.Profile, nil), "parent_session_id": w.parent(), "working_dir": or(s.Cwd, nil), "title": or(s.Title, nil),
		"compaction_count": int64(s.Compactions), "metadata": nil, "created_at": w.created().String(), "updated_at": max(s.Updated, w.last, w.created()).String(),
		"turn_count": int64(s.Turns), "last_compaction_turn": int64(0), "pinned": bit(s.Pinned),
	}
	for column, n := range w.counters(s.Usage, int(s.Usage.Requests)) {
		vs[column] = n
	}
	r, _ := w.at.row("sessions", vs)
	return []interop.OutLine{{Body: r.Line()}}
}

// counters returns the counters of a session's row.
func (w *writer) counters(u skein.Usage, calls int) values {
	return values{
		"input_tokens": u.Input, "output_tokens": u.Output, "cache_read_tokens": u.CacheRead, "cache_creation_tokens": u.CacheWrite,
		"estimated_cost_usd": float64(u.Reported) / 1e9, "api_call_count": int64(calls),
	}
}

// steps returns how many turns and compactions are new.
func (w *writer) steps() map[string]int64 {
	n := map[string]int64{}
	for _, e := range w.d.Events {
		if e.Seq <= w.d.After {
			continue
		}
		switch e.Kind {
		case skein.KindSaid:
			if m, err := skein.Decode[skein.Message](e); err == nil && m.Typed() {
				n["turn_count"]++
			}
		case skein.KindCompacted:
			if c, err := skein.Decode[skein.Compacted](e); err == nil && !c.Failed {
				n["compaction_count"]++
			}
		}
	}
	return n
}

// created returns when the session began or, if unknown, the time of writing: the
// program accepts no row without a time.
func (w *writer) created() skein.Time {
	if w.d.Session.Created == 0 {
		return skein.At(w.d.Now)
	}
	return w.d.Session.Created
}

// key returns a key for the session: the one that it had, else that of its
// folder, else one as /new makes them.
func (w *writer) key() string {
	base := filepath.Base(filepath.FromSlash(strings.ReplaceAll(w.d.Session.Cwd, `\`, "/")))
	if w.d.Session.Cwd == "" {
		base = "skein"
	}
	keys := []string{w.had(), "cli:" + base}
	ms := int64(w.d.Session.Created)
	for n := range int64(1000) {
		keys = append(keys, fmt.Sprintf("cli:%s:%d", base, ms+n))
	}
	for _, k := range keys {
		if of, taken := w.at.keys[k]; k != "" && (!taken || of == w.id) {
			w.at.keys[k] = w.id
			return k
		}
	}
	return "cli:" + base + ":" + w.id
}

// had returns the key that the session had in the database that it was read from.
func (w *writer) had() (key string) {
	for _, e := range w.d.Events {
		if n, err := skein.Decode[skein.Noted](e); e.Kind == skein.KindNoted && err == nil && n.Name == "ethos:session" && e.Seq > w.d.Session.Base {
			key = keyOf(n.Data)
		}
	}
	return key
}

func (w *writer) parent() foreign.Value {
	p := w.d.Session.Parent
	if p == nil || w.d.Other == nil {
		return nil
	}
	if spot, ok := w.d.Other(p.Session); ok {
		return spot.ID
	}
	return nil
}

func platform(surface string) string {
	switch surface {
	case "telegram", "discord", "slack", "web", "whatsapp", "email", "acp", "api":
		return surface
	}
	return "cli"
}

// or returns s, or v if s is empty.
func or(s string, v foreign.Value) foreign.Value {
	if s == "" {
		return v
	}
	return s
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
