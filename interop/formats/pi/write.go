package pi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// write makes the file of a session, or its new entries. What was rewound becomes
// branches.
//
// The error wraps [skein.ErrInvalid] if nothing is new.
func write(_ context.Context, d interop.Draft) (interop.Written, error) {
	w := newWriter(d)
	if err := w.place(); err != nil {
		return interop.Written{}, err
	}
	acts, err := w.acts()
	if err != nil {
		return interop.Written{}, err
	}
	w.calls.results(acts)
	for _, a := range acts {
		w.act(a)
	}
	w.endRewound()
	w.ownModel()
	if d.After > 0 && len(w.lines) == 0 {
		return interop.Written{}, fmt.Errorf("%w: no new messages", skein.ErrInvalid)
	}
	return interop.Written{ID: w.id, Texts: []interop.SourceText{{Path: w.path, Lines: w.lines}}, Losses: w.losses}, nil
}

// A writer is one call of write. Its parts share one output.
type writer struct {
	*output

	calls    *calls
	messages *messages
	back     skein.Event // the last rewind, if nothing that pi can store follows it; no seq if there is none
}

func newWriter(d interop.Draft) *writer {
	own := d.Session.Origin != nil && d.Session.Origin.Format == Name
	out := &output{d: d, own: own, ids: map[string]bool{}}
	cs := &calls{output: out, outs: map[string]*callOut{}}
	return &writer{output: out, calls: cs, messages: &messages{output: out, calls: cs}}
}

// An output is the file that is written, entry by entry.
type output struct {
	d      interop.Draft
	id     string // of the session
	path   string
	own    bool            // the session came from pi: it has the tools that its calls name
	linear bool            // of the first version: entries have no ID
	ids    map[string]bool // of entries
	leaf   string          // the parent of the next entry
	newest string          // the last entry of the file
	leaves []leaf          // the session's positions, in order
	firsts []leaf          // first entry of each event that made some
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
func (out *output) place() error {
	s := &out.d.Session
	if out.d.After > 0 && out.d.Known != nil {
		out.path = out.d.Path
		return out.look()
	}
	if out.id = string(s.ID); !goodID(out.id) {
		sum := sha256.Sum256([]byte(s.ID))
		out.id = uuid(sum[:16])
	}
	cwd := s.Cwd
	if cwd == "" {
		cwd = s.Project
	}
	stamp := strings.NewReplacer(":", "-", ".", "-").Replace(isoOf(s.Created))
	out.path = "sessions/" + folderOf(cwd) + "/" + stamp + "_" + out.id + ".jsonl"
	head := headOut{Type: typeHeader, Version: 3, ID: out.id, Time: isoOf(s.Created), Cwd: cwd}
	if p := s.Parent; p != nil {
		if spot, ok := out.d.Other(p.Session); ok && spot.Path != "" {
			head.Parent = strings.TrimSuffix(strings.ReplaceAll(out.d.Home, `\`, "/"), "/") + "/" + spot.Path
		}
		if p.Why == skein.Child && len(out.d.Events) > 0 {
			out.losses.Add(out.d.Events[0].Seq, "sub-agents: sessions of their own")
		}
	}
	out.line(lines.RopeOf(skein.MustJSON(head)))
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
func (out *output) look() error {
	byKey := map[skein.ClientID]string{}
	out.linear = true
	for rec, err := range out.d.Known {
		if err != nil {
			return err
		}
		o, err := loose.Parse(rec.Raw)
		if err != nil || isSlot(o) {
			continue
		}
		if o.Str("type") == typeHeader {
			if out.id == "" {
				out.id, out.linear = o.Str("id"), o.Count("version") < 2
			}
			continue
		}
		if id := id(o); id != "" {
			out.ids[id], out.leaf, out.newest = true, id, id
			if rec.Key != "" { // a record written by skein has none
				byKey[rec.Key] = id
			}
		}
	}
	out.linear = out.linear && out.leaf == ""
	out.trace(byKey)
	return nil
}

// trace determines which entry was the newest after which event.
func (out *output) trace(byKey map[skein.ClientID]string) {
	at := ""
	for _, e := range out.d.Events {
		if e.Seq > out.d.After {
			break
		}
		key, _, _ := strings.Cut(string(e.ClientID), "/")
		id, ok := byKey[skein.ClientID(key)]
		if !ok { // it may have been written by skein
			id = nameOf(e, 0)
			ok = out.ids[id]
		}
		switch {
		case ok:
			at = id
			out.firsts = append(out.firsts, leaf{e.Seq, id})
		case e.Kind == skein.KindRewound:
			if r, err := skein.Decode[skein.Rewound](e); err == nil {
				at = out.leafAt(r.To)
			}
		}
		out.leaves = append(out.leaves, leaf{e.Seq, at})
	}
	if at != "" {
		out.leaf = at
	}
}

// leafAt returns the entry that was the newest after an event.
func (out *output) leafAt(seq skein.Seq) (id string) {
	for _, l := range out.leaves {
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
func (out *output) entry(e skein.Event, kind string, fields any) string {
	id := nameOf(e, 0)
	for n := 1; out.ids[id]; n++ {
		id = nameOf(e, n)
	}
	out.ids[id] = true
	head := entryOut{Type: kind, ID: id, Time: isoOf(e.Time)}
	if out.leaf != "" {
		head.Parent = &out.leaf
	}
	var b []byte
	if out.linear {
		b = skein.MustJSON(linearOut{kind, isoOf(e.Time)})
	} else {
		b = skein.MustJSON(head)
	}
	line := lines.RopeOf(b)
	if more := interop.JSON(fields); len(more.Gist()) > len("{}") {
		line = lines.RopeOf(append(b[:len(b)-1], ','))
		line.Join(more.From(1))
	}
	out.leaf, out.newest = id, id
	if n := len(out.firsts); n == 0 || out.firsts[n-1].seq != e.Seq {
		out.firsts = append(out.firsts, leaf{e.Seq, id})
	}
	out.line(line)
	return id
}

func (out *output) line(body lines.Rope) {
	body.Append([]byte{'\n'})
	out.lines = append(out.lines, interop.OutLine{Body: body, Seq: out.told})
}
