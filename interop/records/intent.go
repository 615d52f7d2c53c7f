package records

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
)

// An Intent is what a sync is about to write to a source. It is in the source's
// state from before the first byte is written until the store knows what was
// written, so that after a kill in between nobody mistakes it for the program's own
// records, and the next sync completes it.
type Intent struct {
	Last   skein.Seq         `json:"last"` // the last event that it covers
	Events int               `json:"events,omitempty"`
	Losses interop.Losses    `json:"losses,omitempty"`
	Marks  map[string]Echoes `json:"marks,omitempty"`  // of its lines, by kind, in order
	Gone   Echoes            `json:"gone,omitempty"`   // rows that are to be removed
	Size   int64             `json:"size,omitempty"`   // of a file of lines, before
	Begun  bool              `json:"begun,omitempty"`  // the store knows some of it
	There  bool              `json:"there,omitempty"`  // the store knows all of it; what is written beside it may be missing
	Filled map[string]bool   `json:"filled,omitempty"` // for an export: TABLE.COLUMN that its rows fill, not their database
	Texts  []plannedText     `json:"texts,omitempty"`  // without rows: a database has all of them or none
	bytes  []byte            // the lines of Texts, which follow the state's own line
}

// A plannedText is a text of an intent.
type plannedText struct {
	Path string           `json:"path"`
	Name string           `json:"name,omitempty"`
	Log  bool             `json:"log,omitempty"`
	As   interop.TextKind `json:"as,omitempty"`
	Lens []int            `json:"lens"` // bytes of each line
}

// NewIntent returns what is to be written: texts, own of which is the source's.
func NewIntent(texts []interop.SourceText, own int, in LineShape, last skein.Seq) *Intent {
	b := NewMarker(in)
	for _, l := range texts[own].Lines {
		b.Add(l.Body, l.Seq)
	}
	it := &Intent{Last: last, Marks: b.Marks()}
	var gone EchoBuilder
	for _, raw := range texts[own].Gone {
		gone.Add(HashRecord(raw), 0)
	}
	it.Gone = gone.List
	for i, t := range texts {
		it.addText(t, in.Unit || i != own)
	}
	return it
}

// A Marker makes the marks of lines, by their kinds.
type Marker struct {
	in    LineShape
	kinds map[string]*EchoBuilder
}

// NewMarker returns a marker for the lines of a source.
func NewMarker(in LineShape) *Marker { return &Marker{in, map[string]*EchoBuilder{}} }

// Add adds a line, which covers events up to seq. It returns the row that the line
// is, if it is one.
func (b *Marker) Add(line lines.Rope, seq skein.Seq) (r foreign.Row, ok bool) {
	m, r, ok := markRow(line, b.in)
	if b.kinds[m.Kind] == nil {
		b.kinds[m.Kind] = &EchoBuilder{}
	}
	b.kinds[m.Kind].Add(m.Hash, seq)
	return r, ok
}

// Marks returns the marks of the lines that were added, by their kinds.
func (b *Marker) Marks() map[string]Echoes {
	all := map[string]Echoes{}
	for kind, list := range b.kinds {
		all[kind] = list.List
	}
	return all
}

// addText adds a text for a sync that resumes to write again.
func (in *Intent) addText(t interop.SourceText, mayHaveRows bool) {
	m := plannedText{Path: t.Path, Name: t.Name, Log: t.Log, As: t.As, Lens: []int{}}
	for _, l := range t.Lines {
		if mayHaveRows && inDatabase(&t, l.Body.Gist()) {
			continue
		}
		was := len(in.bytes)
		in.bytes = l.Body.AppendTo(in.bytes)
		m.Lens = append(m.Lens, len(in.bytes)-was)
	}
	if len(m.Lens) > 0 {
		in.Texts = append(in.Texts, m)
	}
}

// inDatabase reports whether a line is a row, or one of a frame.
func inDatabase(t *interop.SourceText, line []byte) bool {
	if t.Log || t.As == interop.AFile {
		return false
	}
	return slices.ContainsFunc([]string{`{"table":`, `{"schema":`, `{"database":`}, func(sign string) bool { return bytes.HasPrefix(line, []byte(sign)) })
}

// SourceTexts returns what is to be written, except rows.
func (in *Intent) SourceTexts() (all []interop.SourceText) {
	rest := in.bytes
	for _, m := range in.Texts {
		t := interop.SourceText{Path: m.Path, Name: m.Name, Log: m.Log, As: m.As}
		for _, n := range m.Lens {
			if n < 0 || n > len(rest) {
				return nil
			}
			t.Lines, rest = append(t.Lines, interop.OutLine{Body: lines.RopeOf(rest[:n:n])}), rest[n:]
		}
		all = append(all, t)
	}
	return all
}

// Same reports whether both are the same intent, or both are nil.
func (in *Intent) Same(as *Intent) bool {
	if in == nil || as == nil {
		return in == as
	}
	return in.Last == as.Last && in.Begun == as.Begun && in.There == as.There && bytes.Equal(in.Gone, as.Gone) && maps.EqualFunc(in.Marks, as.Marks, func(a, b Echoes) bool { return bytes.Equal(a, b) })
}

// A RecordMark identifies a line when it is read back: what its program or its database
// adds to it, such as a rowid, does not count.
type RecordMark struct {
	Kind string // rows TABLE; of a folder: piece or end; else line
	Hash RecordHash
	File string // the file that it belongs to
}

const (
	rowsOf = "rows "
	aLine  = "line"
	aPiece = "piece"
	anEnd  = "end"   // the end of a file whose pieces come before it
	NoMark = "aside" // the program's own: a folder, for example
)

// A LineShape says how the lines of a source are told apart: those of a unit by the row or
// the file that each of them is.
type LineShape struct{ Unit bool }

// MarkOf returns the mark of a line.
func MarkOf(line []byte, in LineShape) RecordMark {
	m, _, _ := markRow(lines.RopeOf(line), in)
	return m
}

// markRow is MarkOf, with the row that the line is, if it is one.
func markRow(line lines.Rope, in LineShape) (m RecordMark, r foreign.Row, ok bool) {
	if !in.Unit {
		return RecordMark{Kind: aLine, Hash: HashRope(line)}, r, false
	}
	if r, ok, err := foreign.ParseRope(line); err == nil && ok && r.Damage == "" {
		return RecordMark{Kind: rowsOf + r.Table, Hash: hashRow(r)}, r, true
	}
	return markFile(line), r, false
}

// markFile is MarkOf for what is not a row.
func markFile(line lines.Rope) RecordMark {
	plain := RecordMark{Kind: aLine, Hash: HashRope(line)}
	l, err := folder.PeekRope(line)
	switch {
	case err != nil || l.File == "" && l.Folder == "":
		return plain
	case l.Folder != "" || l.Damage != "":
		return RecordMark{Kind: NoMark, File: l.File}
	case l.Lines != nil:
		return RecordMark{anEnd, HashRecord(fmt.Appendf(nil, "%s\x00%d", l.File, *l.Lines)), l.File}
	}
	at := ""
	if l.Line != nil {
		at = strconv.Itoa(*l.Line)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00", l.File, at)
	if err := l.WriteData(h); err != nil {
		return plain // a hash takes whatever is written
	}
	return RecordMark{aPiece, RecordHash(h.Sum(nil)), l.File}
}

// hashText writes a text to a hash without copying all of it.
func hashText(h hash.Hash, text lines.Rope) {
	for b := range text.All() {
		h.Write(b)
	}
}

// hashRow returns a hash of a row's content, without its rowid.
func hashRow(r foreign.Row) RecordHash {
	order := make([]int, 0, len(r.Columns))
	for i := range r.Columns {
		if r.Values[i] != nil {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(r.Columns[a], r.Columns[b]) })
	h, between := sha256.New(), ""
	for _, i := range order {
		v := r.Values[i]
		if text, ok := v.(string); ok {
			v = lines.RopeOfText(text)
		}
		text, ok := v.(lines.Rope)
		if ok {
			v = ""
		}
		fmt.Fprintf(h, "%s%s\x00%T\x00", between, r.Columns[i], v)
		between = "\x01"
		if ok {
			hashText(h, text)
		} else {
			fmt.Fprint(h, v)
		}
	}
	return RecordHash(h.Sum(nil))
}

// encodeIntent returns a state with its intent, within the size limit: if necessary
// without the lines that a sync would resume with, or without an intent.
func (s FileState) encodeIntent() []byte {
	in := *s.Intent
	b := skein.MustJSON(s)
	if len(in.bytes) > 0 && len(b)+1+len(in.bytes) <= MaxState {
		return append(append(b, '\n'), in.bytes...)
	}
	if len(in.Texts) > 0 {
		in.Texts, in.bytes = nil, nil
		s.Intent = &in
		b = skein.MustJSON(s)
	}
	if len(b) > MaxState {
		s.Intent = nil
		return s.Encode()
	}
	return b
}

// splitIntent splits off what follows the line of a state.
func splitIntent(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte("\n"))
	return line, rest
}

// An Adoption is what is known about a source whose writing has just ended.
type Adoption struct {
	Echoes Echoes
	Intent *Intent // what is left of the intent
}

// Rest returns what is left of an intent when the store knows its lines.
func (in *Intent) Rest() *Intent {
	return &Intent{Last: in.Last, Events: in.Events, Losses: in.Losses, There: true, Texts: in.Texts, bytes: in.bytes}
}

// Also adds what another intent was about to write.
func (in *Intent) Also(was *Intent) {
	for kind, list := range was.Marks {
		b := EchoBuilder{}
		for _, l := range []Echoes{in.Marks[kind], list} {
			l.Each(b.Add)
		}
		in.Marks[kind] = b.List
	}
	for c := range was.Filled {
		in.Filled[c] = true
	}
}

// MarkOf is MarkOf for a record that is read back: for a row, the columns that its
// database filled in do not count.
func (in *Intent) MarkOf(raw []byte, as LineShape) RecordMark {
	r, ok, err := foreign.ParseRow(raw)
	if !as.Unit || err != nil || !ok || r.Damage != "" {
		return MarkOf(raw, as)
	}
	for i, c := range r.Columns {
		if !in.Filled[r.Table+"."+c] {
			r.Values[i] = nil
		}
	}
	return RecordMark{Kind: rowsOf + r.Table, Hash: hashRow(r)}
}
