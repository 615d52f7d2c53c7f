package pi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// write makes the file of a session, or its new entries. What was rewound becomes
// branches.
//
// The error wraps [skein.ErrInvalid] if nothing is new.
func write(_ context.Context, d interop.Draft) (interop.Written, error) {
	w := &writer{d: d, ids: map[string]bool{}, calls: map[string]*callOut{}, own: d.Session.Origin != nil && d.Session.Origin.Format == Name}
	if err := w.place(); err != nil {
		return interop.Written{}, err
	}
	acts, err := w.acts()
	if err != nil {
		return interop.Written{}, err
	}
	w.results(acts)
	for _, a := range acts {
		w.act(a)
	}
	w.stand()
	w.ownModel()
	if d.After > 0 && len(w.lines) == 0 {
		return interop.Written{}, fmt.Errorf("%w: no new messages", skein.ErrInvalid)
	}
	return interop.Written{ID: w.id, Texts: []interop.Text{{Path: w.path, Lines: w.lines}}, Losses: w.losses}, nil
}

// A writer is one call of write.
type writer struct {
	d      interop.Draft
	id     string // of the session
	path   string
	own    bool            // the session came from pi: it has the tools that its calls name
	linear bool            // of the first version: entries have no ID
	ids    map[string]bool // of entries
	leaf   string          // the parent of the next entry
	newest string          // the last entry of the file
	back   skein.Event     // the last rewind, if nothing that pi can store follows it; no seq if there is none
	leaves []leaf          // the session's positions, in order
	firsts []leaf          // first entry of each event that made some
	calls  map[string]*callOut
	told   skein.Seq
	lines  []interop.OutLine
	losses interop.Losses
}

// A leaf is an entry and the event after which it was the newest.
type leaf struct {
	seq skein.Seq
	id  string
}

// goodID reports whether pi accepts id as a session's: letters, digits and, except at
// its ends, hyphens, underscores and dots.
func goodID(id string) bool {
	plain := func(r rune) bool { return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
	for i, r := range id {
		if !plain(r) && (i == 0 || i == len(id)-1 || !strings.ContainsRune("-_.", r)) {
			return false
		}
	}
	return id != "" && len(id) <= 100
}

// place determines where the session is written, and what is there.
func (w *writer) place() error {
	s := &w.d.Session
	if w.d.After > 0 && w.d.Known != nil {
		w.path = w.d.Path
		return w.look()
	}
	if w.id = string(s.ID); !goodID(w.id) {
		sum := sha256.Sum256([]byte(s.ID))
		w.id = uuid(sum[:16])
	}
	cwd := s.Cwd
	if cwd == "" {
		cwd = s.Project
	}
	stamp := strings.NewReplacer(":", "-", ".", "-").Replace(isoOf(s.Created))
	w.path = "sessions/" + folderOf(cwd) + "/" + stamp + "_" + w.id + ".jsonl"
	head := headOut{Type: typeHeader, Version: 3, ID: w.id, Time: isoOf(s.Created), Cwd: cwd}
	if p := s.Parent; p != nil {
		if spot, ok := w.d.Other(p.Session); ok && spot.Path != "" {
			head.Parent = strings.TrimSuffix(strings.ReplaceAll(w.d.Home, `\`, "/"), "/") + "/" + spot.Path
		}
		if p.Why == skein.Child && len(w.d.Events) > 0 {
			w.losses.Add(w.d.Events[0].Seq, "sub-agents: sessions of their own")
		}
	}
	w.line(skein.MustJSON(head))
	return nil
}

// uuid returns 16 bytes as a UUID of version 8.
func uuid(b []byte) string {
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// folderOf returns the name of a project's folder.
func folderOf(cwd string) string {
	if cwd != "" && (cwd[0] == '/' || cwd[0] == '\\') {
		cwd = cwd[1:]
	}
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' || r < ' ' {
			return '-'
		}
		return r
	}, skein.Text(cwd).UTF8())
	return "--" + name + "--"
}

// isoOf returns a time as JavaScript writes it.
func isoOf(t skein.Time) string {
	if t == 0 {
		t = 1 // it must be a time
	}
	return t.String()
}

// look reads the existing file, to continue it.
func (w *writer) look() error {
	byKey := map[skein.ClientID]string{}
	w.linear = true
	for rec, err := range w.d.Known {
		if err != nil {
			return err
		}
		o, err := loose.Parse(rec.Raw)
		if err != nil || isSlot(o) {
			continue
		}
		if o.Str("type") == typeHeader {
			if w.id == "" {
				w.id, w.linear = o.Str("id"), o.Count("version") < 2
			}
			continue
		}
		if id := id(o); id != "" {
			w.ids[id], w.leaf, w.newest = true, id, id
			if rec.Key != "" { // a record written by skein has none
				byKey[rec.Key] = id
			}
		}
	}
	w.linear = w.linear && w.leaf == ""
	w.trace(byKey)
	return nil
}

// trace determines which entry was the newest after which event.
func (w *writer) trace(byKey map[skein.ClientID]string) {
	at := ""
	for _, e := range w.d.Events {
		if e.Seq > w.d.After {
			break
		}
		key, _, _ := strings.Cut(string(e.ClientID), "/")
		id, ok := byKey[skein.ClientID(key)]
		if !ok { // it may have been written by skein
			id = nameOf(e, 0)
			ok = w.ids[id]
		}
		switch {
		case ok:
			at = id
			w.firsts = append(w.firsts, leaf{e.Seq, id})
		case e.Kind == skein.KindRewound:
			if r, err := skein.Decode[skein.Rewound](e); err == nil {
				at = w.leafAt(r.To)
			}
		}
		w.leaves = append(w.leaves, leaf{e.Seq, at})
	}
	if at != "" {
		w.leaf = at
	}
}

// leafAt returns the entry that was the newest after an event.
func (w *writer) leafAt(seq skein.Seq) (id string) {
	for _, l := range w.leaves {
		if l.seq > seq {
			break
		}
		id = l.id
	}
	return id
}

// nameOf returns the ID of the n-th entry of an event: the one that it had, if it was
// read from pi, else one derived from the event, so that what a fork shares with its
// parent has the same ID in both.
func nameOf(e skein.Event, n int) string {
	if rest, ok := strings.CutPrefix(string(e.ClientID), "pi:"); ok && n == 0 {
		if id, _, ok := strings.Cut(rest, ":"); ok && len(id) <= 36 {
			return id
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %s %s", e.Seq, e.Time, n, e.Kind, e.Payload))
	return hex.EncodeToString(sum[:4])
}

// entry writes an entry of an event: fields are those besides type, ID, parent and
// time.
func (w *writer) entry(e skein.Event, kind string, fields any) string {
	id := nameOf(e, 0)
	for n := 1; w.ids[id]; n++ {
		id = nameOf(e, n)
	}
	w.ids[id] = true
	head := entryOut{Type: kind, ID: id, Time: isoOf(e.Time)}
	if w.leaf != "" {
		head.Parent = &w.leaf
	}
	var b json.RawMessage
	if w.linear {
		b = skein.MustJSON(linearOut{kind, isoOf(e.Time)})
	} else {
		b = skein.MustJSON(head)
	}
	if more := skein.MustJSON(fields); len(more) > 2 {
		b = append(append(b[:len(b)-1], ','), more[1:]...)
	}
	w.leaf, w.newest = id, id
	if n := len(w.firsts); n == 0 || w.firsts[n-1].seq != e.Seq {
		w.firsts = append(w.firsts, leaf{e.Seq, id})
	}
	w.line(b)
	return id
}

func (w *writer) line(b []byte) {
	w.lines = append(w.lines, interop.OutLine{Body: append(b, '\n'), Seq: w.told})
}
