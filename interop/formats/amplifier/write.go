package amplifier

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
)

// A writer turns one session into lines. Its parts share one output.
type writer struct {
	*output

	known    *known
	log      *log
	calls    *calls
	messages *messages
}

func newWriter(d interop.Draft) *writer {
	w := &writer{output: &output{d: d}}
	w.known = &known{output: w.output, had: map[string][][]byte{}, tells: map[string][]tells{}}
	w.log = &log{output: w.output, charged: map[string]bool{}, spawn: map[skein.SessionID]bool{}}
	w.calls = &calls{output: w.output, known: w.known}
	w.messages = &messages{output: w.output, log: w.log, calls: w.calls}
	return w
}

// An output is the folder that is written.
type output struct {
	d      interop.Draft
	id     string
	parent string // its ID; "" for none
	child  bool
	said   []line // of the transcript that are new
	turns  int
	meta   object // as it was
	losses interop.Losses
}

// A line is one of a file of lines, without its line feed.
type line struct {
	body lines.Rope
	seq  skein.Seq
}

// write implements interop.Format.Write. Errors are those of reading the
// session.
func write(_ context.Context, d interop.Draft) (out interop.Written, err error) {
	defer skein.Wrapf(&err, "amplifier: write %s", d.Session.ID)
	w := newWriter(d)
	w.name()
	if err := w.known.read(); err != nil {
		return out, err
	}
	if err := w.log.events(); err != nil {
		return out, err
	}
	entries, err := d.Entries()
	if err != nil {
		return out, err
	}
	d.Release()
	for i := range entries {
		if err := w.entry(entries[i]); err != nil {
			return out, err
		}
		entries[i].Message = skein.Message{}
	}
	w.calls.cutOff(entries)
	out = interop.Written{ID: w.id, Losses: w.losses}
	out.Texts = []interop.SourceText{{Path: w.path(), Lines: w.lines()}}
	return out, nil
}

// name gives the session an ID that Amplifier understands: one with an underscore is
// a sub-agent's, any other is not.
func (out *output) name() {
	s := out.d.Session
	out.child = s.Parent != nil && s.Parent.Why == skein.Child
	if p := s.Parent; p != nil {
		if spot, ok := out.d.Other(p.Session); ok {
			out.parent = spot.ID
		} else if p.Why == skein.Fork && out.d.After == 0 {
			out.parent = topID(p.Session) // its presumed ID: nothing opens a fork's parent
		}
	}
	switch {
	case s.Origin != nil && s.Origin.Format == Name && sane(s.Origin.ID):
		out.id = s.Origin.ID
	case out.child:
		out.id = childID(s.ID)
	default:
		out.id = topID(s.ID)
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

// childID returns the ID of a sub-agent's session. It depends only on the session's
// own ID, because the parent names it before it is written.
func childID(id skein.SessionID) string {
	s := string(id)
	if plainName(s) && strings.Contains(s, "_") {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return strings.Repeat("0", 16) + "-" + hex.EncodeToString(sum[:8]) + "_agent"
}

// plainName reports whether an ID can be a folder's name on every system.
func plainName(s string) bool {
	return sane(s) && len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.~", r)
	}) && !strings.HasSuffix(s, ".")
}

func (out *output) path() string {
	if out.d.After > 0 {
		return out.d.Path
	}
	return "projects/" + Slug(strings.ToValidUTF8(strings.ReplaceAll(out.cwd(), "\x00", ""), "")) + "/sessions/" + out.id
}

func (out *output) cwd() string {
	s := out.d.Session
	if s.Cwd != "" {
		return s.Cwd
	}
	return s.Project
}

// lines returns the folder's lines: transcript and log by their seqs, then the other
// files.
func (w *writer) lines() (out []interop.OutLine) {
	last := w.d.After
	add := func(l folder.Line, seq skein.Seq) {
		if seq == 0 {
			seq = last
		}
		last = max(last, seq)
		out = append(out, interop.OutLine{Body: l.Rope(), Seq: seq})
	}
	w.backups(add)
	about := w.metadata() // it counts what was said
	slices.SortStableFunc(w.log.lines, func(a, b line) int { return cmp.Compare(a.seq, b.seq) })
	said, logged := numbered(transcript, w.known.stays, w.said), numbered(eventLog, w.known.had[eventLog], w.log.lines)
	for len(said)+len(logged) > 0 {
		next := &said
		if len(said) == 0 || len(logged) > 0 && logged[0].seq < said[0].seq {
			next = &logged
		}
		add((*next)[0].Line, (*next)[0].seq)
		(*next)[0].Line = folder.Line{}
		*next = (*next)[1:]
	}
	now := w.d.Now.UnixNano()
	add(folder.End(folder.File{Name: transcript, Mode: 0o600, Mtime: now}, len(w.known.stays)+len(w.said)), 0)
	if n := len(w.known.had[eventLog]) + len(w.log.lines); n > 0 {
		end := folder.End(folder.File{Name: eventLog, Mode: 0o600, Mtime: now}, n)
		end.Mode = cmp.Or(w.known.logMode, end.Mode) // its program only appends to it
		add(end, 0)
	}
	add(folder.Whole(folder.File{Name: metadata, Mode: 0o600, Mtime: now}, about), w.end())
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
func (out *output) end() skein.Seq {
	if n := len(out.d.Events); n > 0 {
		return out.d.Events[n-1].Seq
	}
	return 0
}

// stamp spells a time as the transcript and the log do: to the millisecond,
// with an offset. micro has six digits.
func stamp(t skein.Time) string { return t.Std().Format("2006-01-02T15:04:05.000+00:00") }

func micro(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }
