package interop

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
)

// An intent is what a sync is about to write to a source. It is in the source's
// state from before the first byte is written until the store knows what was
// written, so that after a kill in between nobody mistakes it for the program's own
// records, and the next sync completes it.
type intent struct {
	Last   skein.Seq         `json:"last"` // the last event that it covers
	Events int               `json:"events,omitempty"`
	Losses Losses            `json:"losses,omitempty"`
	Marks  map[string]echoes `json:"marks,omitempty"`  // of its lines, by kind, in order
	Gone   echoes            `json:"gone,omitempty"`   // rows that are to be removed
	Size   int64             `json:"size,omitempty"`   // of a file of lines, before
	Begun  bool              `json:"begun,omitempty"`  // the store knows some of it
	There  bool              `json:"there,omitempty"`  // the store knows all of it; what is written beside it may be missing
	Filled map[string]bool   `json:"filled,omitempty"` // for an export: TABLE.COLUMN that its rows fill, not their database
	Texts  []plannedText     `json:"texts,omitempty"`  // without rows: a database has all of them or none
	bytes  []byte            // the lines of Texts, which follow the state's own line
}

// A plannedText is a text of an intent.
type plannedText struct {
	Path string   `json:"path"`
	Name string   `json:"name,omitempty"`
	Log  bool     `json:"log,omitempty"`
	As   textKind `json:"as,omitempty"`
	Lens []int    `json:"lens"` // bytes of each line
}

// newIntent returns what is to be written: texts, own of which is the source's.
func newIntent(texts []SourceText, own int, unit bool, last skein.Seq) *intent {
	b := newMarker(unit)
	for _, l := range texts[own].Lines {
		b.add(l.Body, l.Seq)
	}
	in := &intent{Last: last, Marks: b.marks()}
	var gone echoBuilder
	for _, raw := range texts[own].Gone {
		gone.add(hashRecord(raw), 0)
	}
	in.Gone = gone.list
	for i, t := range texts {
		in.addText(t, unit || i != own)
	}
	return in
}

// A marker makes the marks of lines, by their kinds.
type marker struct {
	unit  bool
	kinds map[string]*echoBuilder
}

func newMarker(unit bool) *marker { return &marker{unit, map[string]*echoBuilder{}} }

// add adds a line, which covers events up to seq. It returns the row that the line
// is, if it is one.
func (b *marker) add(line []byte, seq skein.Seq) (r foreign.Row, ok bool) {
	m, r, ok := markRow(line, b.unit)
	if b.kinds[m.kind] == nil {
		b.kinds[m.kind] = &echoBuilder{}
	}
	b.kinds[m.kind].add(m.hash, seq)
	return r, ok
}

func (b *marker) marks() map[string]echoes {
	all := map[string]echoes{}
	for kind, list := range b.kinds {
		all[kind] = list.list
	}
	return all
}

// addText adds a text for a sync that resumes to write again.
func (in *intent) addText(t SourceText, mayHaveRows bool) {
	m := plannedText{Path: t.Path, Name: t.Name, Log: t.Log, As: t.as, Lens: []int{}}
	for _, l := range t.Lines {
		if mayHaveRows && inDatabase(&t, l.Body) {
			continue
		}
		m.Lens = append(m.Lens, len(l.Body))
		in.bytes = append(in.bytes, l.Body...)
	}
	if len(m.Lens) > 0 {
		in.Texts = append(in.Texts, m)
	}
}

// inDatabase reports whether a line is a row, or one of a frame.
func inDatabase(t *SourceText, line []byte) bool {
	if t.Log || t.as == aFile {
		return false
	}
	return slices.ContainsFunc([]string{`{"table":`, `{"schema":`, `{"database":`}, func(sign string) bool { return bytes.HasPrefix(line, []byte(sign)) })
}

// texts returns what is to be written, except rows.
func (in *intent) texts() (all []SourceText) {
	rest := in.bytes
	for _, m := range in.Texts {
		t := SourceText{Path: m.Path, Name: m.Name, Log: m.Log, as: m.As}
		for _, n := range m.Lens {
			if n < 0 || n > len(rest) {
				return nil
			}
			t.Lines, rest = append(t.Lines, OutLine{Body: rest[:n:n]}), rest[n:]
		}
		all = append(all, t)
	}
	return all
}

// same reports whether both are the same intent, or both are nil.
func (in *intent) same(as *intent) bool {
	if in == nil || as == nil {
		return in == as
	}
	return in.Last == as.Last && in.Begun == as.Begun && in.There == as.There && bytes.Equal(in.Gone, as.Gone) && maps.EqualFunc(in.Marks, as.Marks, func(a, b echoes) bool { return bytes.Equal(a, b) })
}

// A recordMark identifies a line when it is read back: what its program or its database
// adds to it, such as a rowid, does not count.
type recordMark struct {
	kind string // rows TABLE; of a folder: piece or end; else line
	hash recordHash
	file string // the file that it belongs to
}

const (
	rowsOf  = "rows "
	aLine   = "line"
	aPiece  = "piece"
	anEnd   = "end"   // the end of a file whose pieces come before it
	nothing = "aside" // the program's own: a folder, for example
)

func markOf(line []byte, unit bool) recordMark {
	m, _, _ := markRow(line, unit)
	return m
}

// markRow is markOf, with the row that the line is, if it is one.
func markRow(line []byte, unit bool) (m recordMark, r foreign.Row, ok bool) {
	if !unit {
		return recordMark{kind: aLine, hash: hashRecord(line)}, r, false
	}
	if r, ok, err := foreign.ParseRow(line); err == nil && ok && r.Damage == "" {
		return recordMark{kind: rowsOf + r.Table, hash: hashRow(r)}, r, true
	}
	return markFile(line), r, false
}

// markFile is markOf for what is not a row.
func markFile(line []byte) recordMark {
	plain := recordMark{kind: aLine, hash: hashRecord(line)}
	l, err := folder.Peek(line)
	switch {
	case err != nil || l.File == "" && l.Folder == "":
		return plain
	case l.Folder != "" || l.Damage != "":
		return recordMark{kind: nothing, file: l.File}
	case l.Lines != nil:
		return recordMark{anEnd, hashRecord(fmt.Appendf(nil, "%s\x00%d", l.File, *l.Lines)), l.File}
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
	return recordMark{aPiece, recordHash(h.Sum(nil)), l.File}
}

// hashText writes a text to a hash without copying all of it.
func hashText(h hash.Hash, text string) {
	const some = 64 << 10
	for text != "" {
		n := min(some, len(text))
		h.Write([]byte(text[:n]))
		text = text[n:]
	}
}

// hashRow returns a hash of a row's content, without its rowid.
func hashRow(r foreign.Row) recordHash {
	order := make([]int, 0, len(r.Columns))
	for i := range r.Columns {
		if r.Values[i] != nil {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(r.Columns[a], r.Columns[b]) })
	h, between := sha256.New(), ""
	for _, i := range order {
		fmt.Fprintf(h, "%s%s\x00%T\x00", between, r.Columns[i], r.Values[i])
		between = "\x01"
		if text, ok := r.Values[i].(string); ok {
			hashText(h, text)
		} else {
			fmt.Fprint(h, r.Values[i])
		}
	}
	return recordHash(h.Sum(nil))
}

// encodeIntent returns a state with its intent, within the size limit: if necessary
// without the lines that a sync would resume with, or without an intent.
func (s fileState) encodeIntent() []byte {
	in := *s.Intent
	b := skein.MustJSON(s)
	if len(in.bytes) > 0 && len(b)+1+len(in.bytes) <= maxState {
		return append(append(b, '\n'), in.bytes...)
	}
	if len(in.Texts) > 0 {
		in.Texts, in.bytes = nil, nil
		s.Intent = &in
		b = skein.MustJSON(s)
	}
	if len(b) > maxState {
		s.Intent = nil
		return s.encode()
	}
	return b
}

// splitIntent splits off what follows the line of a state.
func splitIntent(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte("\n"))
	return line, rest
}

// An adoption is what is known about a source whose writing has just ended.
type adoption struct {
	echoes echoes
	intent *intent // what is left of the intent
}

// there returns what is left of an intent when the store knows its lines.
func (in *intent) there() *intent {
	return &intent{Last: in.Last, Events: in.Events, Losses: in.Losses, There: true, Texts: in.Texts, bytes: in.bytes}
}

// also adds what another intent was about to write.
func (in *intent) also(was *intent) {
	for kind, list := range was.Marks {
		b := echoBuilder{}
		for _, l := range []echoes{in.Marks[kind], list} {
			l.each(b.add)
		}
		in.Marks[kind] = b.list
	}
	for c := range was.Filled {
		in.Filled[c] = true
	}
}

// markOf is markOf for a record that is read back: for a row, the columns that its
// database filled in do not count.
func (in *intent) markOf(raw []byte, unit bool) recordMark {
	r, ok, err := foreign.ParseRow(raw)
	if !unit || err != nil || !ok || r.Damage != "" {
		return markOf(raw, unit)
	}
	for i, c := range r.Columns {
		if !in.Filled[r.Table+"."+c] {
			r.Values[i] = nil
		}
	}
	return recordMark{kind: rowsOf + r.Table, hash: hashRow(r)}
}
