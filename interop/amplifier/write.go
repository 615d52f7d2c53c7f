package amplifier

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/interop"
)

// A writing is one session that is turned into lines.
type writing struct {
	d       interop.Draft
	id      string
	parent  string // its ID; "" for none
	child   bool
	said    []line // of the transcript that are new
	logged  []line // of the log that are new
	had     map[string][][]byte
	meta    object // as it was
	turns   int
	losses  interop.Losses
	last    skein.Seq
	charged map[string]bool          // requests that steps tell of
	spawn   map[skein.SessionID]bool // sessions that calls were said to run
	started bool                     // the log says that the session began
	open    []skein.Call             // calls that have no result yet
}

// A line is one of a file of lines, without its line feed.
type line struct {
	body []byte
	seq  skein.Seq
}

// write implements interop.Format.Write. The error wraps [skein.ErrInvalid] if
// nothing was said in the session; others are those of reading it.
func write(_ context.Context, d interop.Draft) (out interop.Written, err error) {
	defer skein.Wrapf(&err, "amplifier: write %s", d.Session.ID)
	w := &writing{d: d, had: map[string][][]byte{}, charged: map[string]bool{}, spawn: map[skein.SessionID]bool{}}
	w.name()
	if err := w.known(); err != nil {
		return out, err
	}
	if err := w.events(); err != nil {
		return out, err
	}
	entries, err := d.Entries()
	if err != nil {
		return out, err
	}
	for _, e := range entries {
		if err := w.entry(e); err != nil {
			return out, err
		}
	}
	if len(w.said) == 0 && d.After == 0 {
		return out, fmt.Errorf("%w: nothing was said in it", skein.ErrInvalid)
	}
	out = interop.Written{ID: w.id, Losses: w.losses}
	out.Texts = []interop.Text{{Path: w.path(), Lines: w.lines()}}
	return out, nil
}

// name gives the session an ID that Amplifier takes for what it is: one with an
// underscore is a sub-agent's, any other is not.
func (w *writing) name() {
	s := w.d.Session
	w.child = s.Parent != nil && s.Parent.Why == skein.Child
	if p := s.Parent; p != nil {
		if spot, ok := w.d.Other(p.Session); ok {
			w.parent = spot.ID
		}
	}
	switch {
	case s.Origin != nil && s.Origin.Format == Name && sane(s.Origin.ID):
		w.id = s.Origin.ID
	case w.child:
		w.id = childID(s.ID)
	default:
		w.id = topID(s.ID)
	}
}

func topID(id skein.SessionID) string {
	s := string(id)
	if plainName(s) && !strings.Contains(s, "_") {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// childID returns the ID of a sub-agent's session. It hangs on nothing but the
// session's own, for the parent names it before it is written.
func childID(id skein.SessionID) string {
	s := string(id)
	if plainName(s) && strings.Contains(s, "_") {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return strings.Repeat("0", 16) + "-" + hex.EncodeToString(sum[:8]) + "_agent"
}

// plainName reports whether an ID can be a folder's name anywhere.
func plainName(s string) bool {
	return sane(s) && len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.~", r)
	}) && !strings.HasSuffix(s, ".")
}

func (w *writing) path() string {
	if w.d.After > 0 {
		return w.d.Path
	}
	return "projects/" + Slug(strings.ToValidUTF8(strings.ReplaceAll(w.cwd(), "\x00", ""), "")) + "/sessions/" + w.id
}

func (w *writing) cwd() string {
	s := w.d.Session
	if s.Cwd != "" {
		return s.Cwd
	}
	return s.Project
}

// known takes apart what the folder has.
func (w *writing) known() error {
	if w.d.After == 0 {
		return nil
	}
	for r, err := range w.d.Known {
		if err != nil {
			return err
		}
		in, err := folder.Parse(r.Raw)
		if err != nil || in.Folder != "" || in.Lines != nil {
			continue
		}
		w.had[in.File] = append(w.had[in.File], in.Data())
	}
	for _, name := range []string{metadata, metadata + backup} {
		if data := w.had[name]; len(data) == 1 && len(w.meta) == 0 {
			w.meta, _ = parse(data[0]) // what is none is written anew
		}
	}
	for _, l := range w.had[transcript] {
		if o, err := parse(l); err == nil && o.str("role") == "user" {
			w.turns++
		}
	}
	return nil
}

// lines returns the folder's lines: transcript and log by their seqs, then what
// becomes of the other files.
func (w *writing) lines() (out []interop.OutLine) {
	add := func(l folder.Line, seq skein.Seq) {
		w.last = max(w.last, seq)
		out = append(out, interop.OutLine{Body: l.Append(nil), Seq: w.last})
	}
	w.backups(add)
	slices.SortStableFunc(w.logged, func(a, b line) int { return cmp.Compare(a.seq, b.seq) })
	said, logged := w.numbered(transcript, w.said), w.numbered(eventLog, w.logged)
	for len(said)+len(logged) > 0 {
		next := &said
		if len(said) == 0 || len(logged) > 0 && logged[0].seq < said[0].seq {
			next = &logged
		}
		add((*next)[0].Line, (*next)[0].seq)
		*next = (*next)[1:]
	}
	now := w.d.Now.UnixNano()
	add(folder.End(folder.File{Name: transcript, Mode: 0o600, Mtime: now}, len(w.had[transcript])+len(w.said)), 0)
	if n := len(w.had[eventLog]) + len(w.logged); n > 0 {
		add(folder.End(folder.File{Name: eventLog, Mode: 0o600, Mtime: now}, n), 0)
	}
	add(folder.Whole(folder.File{Name: metadata, Mode: 0o600, Mtime: now}, w.metadata()), w.end())
	if w.d.After == 0 { // last used when something was last said
		used := w.d.Session.Updated.Std()
		if used.IsZero() {
			used = w.d.Now
		}
		add(folder.Dir(folder.File{Name: ".", Mode: 0o700, Mtime: used.UnixNano()}), 0)
	}
	return out
}

// end returns the last event of the session.
func (w *writing) end() skein.Seq {
	if n := len(w.d.Events); n > 0 {
		return w.d.Events[n-1].Seq
	}
	return 0
}

type numberedLine struct {
	folder.Line
	seq skein.Seq
}

// numbered returns lines behind those that the file has, of which the last one
// is ended if it was not.
func (w *writing) numbered(name string, ls []line) (out []numberedLine) {
	had := w.had[name]
	if n := len(had); n > 0 && len(ls) > 0 && !strings.HasSuffix(string(had[n-1]), "\n") {
		out = append(out, numberedLine{folder.Piece(name, n-1, append(had[n-1 : n : n][0], '\n')), 0})
	}
	for i, l := range ls {
		out = append(out, numberedLine{folder.Piece(name, len(had)+i, append(l.body, '\n')), l.seq})
	}
	return out
}

// backups adds what the program's store does before it saves: a copy of each
// file. One that is longer than what takes its place stays as it is.
func (w *writing) backups(add func(folder.Line, skein.Seq)) {
	now := w.d.Now.UnixNano()
	if had := w.had[transcript]; len(had) > 0 && len(w.said) > 0 && len(had) >= len(w.had[transcript+backup]) {
		for i, data := range had {
			add(folder.Piece(transcript+backup, i, data), w.d.After)
		}
		add(folder.End(folder.File{Name: transcript + backup, Mode: 0o600, Mtime: now}, len(had)), 0)
	}
	if had := w.had[metadata]; len(had) == 1 {
		add(folder.Whole(folder.File{Name: metadata + backup, Mode: 0o600, Mtime: now}, had[0]), w.d.After)
	}
}

// stamp spells a time as the transcript and the log do: to the millisecond,
// with an offset. micro has six digits.
func stamp(t skein.Time) string { return t.Std().Format("2006-01-02T15:04:05.000+00:00") }

func micro(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }
