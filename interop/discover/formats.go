package discover

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/records"
)

// holdsRecords reports whether a file holds JSON Lines records, as far as its
// beginning shows: its lines are objects, except for a few that are damaged. Source
// code or prose may quote such lines.
func holdsRecords(head []byte) bool {
	records, others := 0, 0
	lines := bytes.Split(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), []byte("\n"))
	for i, line := range lines {
		line = bytes.Trim(line, " \t\r\x00")
		var first map[string]json.RawMessage
		switch begun := bytes.HasPrefix(line, []byte("{")); {
		case len(line) == 0:
		case !begun:
			others++
		case i == len(lines)-1, json.NewDecoder(bytes.NewReader(line)).Decode(&first) == nil:
			records++
		}
	}
	return records > 0 && (others <= 1 || 4*others <= records)
}

// A match says which format takes a file, and as what. The zero value says that
// no format does.
type match struct {
	guess     interop.Guess
	format    *interop.Format   // the format that takes it, as lines unless documents says otherwise
	documents []*interop.Format // formats that may know it as a document, to be asked in turn
}

// judge returns what the formats make of a file by its name and beginning: the
// surest format or, if several are equally sure, the first; lines come before
// documents.
func judge(formats []interop.Format, name string, head []byte) (m match) {
	for i := range formats {
		f := &formats[i]
		if f.Match == nil {
			continue
		}
		g := f.Match(name, head)
		if g.Sure == interop.Known && !holdsRecords(head) { // its sign is within other text
			g = f.Match(name, nil)
		}
		if g = less(f, name, head, g); g.Sure > m.guess.Sure {
			m = match{guess: g, format: f}
		}
	}
	for i := range formats {
		f := &formats[i]
		if f.Document == nil || f.Look == nil {
			continue
		}
		g := f.Document(name, head)
		if g.Sure == interop.Known && !interop.IsDocument(head) {
			g = f.Document(name, nil)
		}
		switch g = less(f, name, head, g); {
		case g.Sure > m.guess.Sure:
			m = match{guess: g, format: f, documents: []*interop.Format{f}}
		case g.Sure > interop.No && g.Sure == m.guess.Sure && m.documents != nil:
			m.documents = append(m.documents, f)
		}
	}
	return m
}

// less returns g, or Alike if the file is one of the format's kin.
func less(f *interop.Format, name string, head []byte, g interop.Guess) interop.Guess {
	if g.Sure < interop.Placed {
		return g
	}
	for _, k := range f.Kin {
		in := func(dir string) bool { return strings.Contains(name, "/"+dir+"/") }
		if at := slices.IndexFunc(k.Dirs, in); at >= 0 {
			return interop.Guess{Sure: interop.Alike, Why: "it is in " + k.Dirs[at], Of: k.Program}
		}
		first, _ := interop.FirstLine(head)
		low, first := bytes.ToLower(packed(head)), bytes.ToLower(packed(first))
		for _, sign := range k.Signs {
			if bytes.Contains(low, []byte(sign)) {
				return interop.Guess{Sure: interop.Alike, Why: "it has " + sign, Of: k.Program}
			}
		}
		if slices.ContainsFunc(k.Except, in) {
			continue
		}
		for _, sign := range k.Header {
			if bytes.Contains(first, []byte(sign)) {
				return interop.Guess{Sure: interop.Alike, Why: "its first line has " + sign, Of: k.Program}
			}
		}
	}
	return g
}

// packed returns JSON, or a part of it, without the white space between its tokens.
func packed(json []byte) []byte {
	out := make([]byte, 0, len(json))
	inString, escaped := false, false
	for _, c := range json {
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case !inString && (c == ' ' || c == '\t' || c == '\r' || c == '\n'):
			continue
		}
		out = append(out, c)
	}
	return out
}

// force returns how to read a file that the user says is of the only format given: as
// that format knows its files, or else by whether it is JSON at all.
func (pl *Planner) force(m match, head []byte, named bool) match {
	if len(pl.formats) != 1 || !pl.opts.Named || m.guess.Sure > interop.Alike {
		return m
	}
	f := &pl.formats[0]
	start := bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n")
	json := bytes.HasPrefix(start, []byte("{")) || bytes.HasPrefix(start, []byte("["))
	switch {
	case m.guess.Sure == interop.Alike:
	case !named || !json:
		return match{}
	case f.Match != nil && (f.Document == nil || interop.IsLines(head)):
		m = match{format: f}
	case f.Document != nil && f.Look != nil:
		m = match{format: f, documents: []*interop.Format{f}}
	default:
		return match{}
	}
	m.guess.Sure = interop.Placed
	return m
}

// forced returns what a file that was taken as the only format looks like; false if
// no other format is surer of it. sure is how sure the format itself is.
func (pl *Planner) forced(path string, m match, sure interop.Sure) (f interop.Forced, ok bool) {
	if len(pl.formats) != 1 || !pl.opts.Named || m.guess.Sure <= interop.Alike {
		return f, false
	}
	if f = (interop.Forced{Path: path, Format: m.format.Name, Looks: m.guess.Of, Why: m.guess.Why}); f.Looks == "" {
		f.Looks, f.Why = pl.Looks(path, sure)
	}
	return f, f.Looks != "" && f.Looks != f.Format
}

// Looks returns the format or program whose file this looks like, by all formats, and
// why; "" if none of them is surer of it than sure.
func (pl *Planner) Looks(path string, sure interop.Sure) (whose, why string) {
	all := formatList(pl.opts.All)
	m := all.judged(path)
	switch fs, unit := all.UnitOf(path); {
	case m.guess.Sure > max(sure, interop.Placed):
	case unit != "" && unit != path && sure < interop.Placed:
		return fs[0].Name, "it lies where that keeps its files"
	case m.guess.Sure == interop.No && sure == interop.No:
		f, _, g := records.FindPlaced(all, disk.HeadAt(path))
		if f == nil {
			return "", ""
		}
		return cmp.Or(g.Of, f.Name), g.Why
	case m.guess.Sure <= sure:
		return "", ""
	}
	return cmp.Or(m.guess.Of, m.format.Name), m.guess.Why
}

// A formatList are the formats that an import knows.
type formatList []interop.Format

// Format returns the format of this name; nil if there is none.
func (list formatList) Format(name string) *interop.Format {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// isBeside reports whether the file at a path belongs to sessions of a format.
func (list formatList) isBeside(at string) bool {
	names := strings.Split(filepath.ToSlash(at), "/")
	for i := range list {
		for _, m := range list[i].PlacedFiles {
			n := strings.Count(m.Beside, "/") + 1
			if n > len(names) {
				continue
			}
			if ok, err := path.Match(m.Beside, strings.Join(names[len(names)-n:], "/")); err == nil && ok {
				return true
			}
		}
	}
	return false
}

// UnitOf returns the formats whose Unit knows the file at path, and the unit that the
// first of them returns; "" if there are none. A packed file is a unit if, unpacked,
// it would be all of one.
func (list formatList) UnitOf(path string) (fs []*interop.Format, unit string) {
	if name, packed := disk.PlainName(path); packed {
		if fs, unit = list.plainUnitOf(name); unit == name {
			return fs, path
		}
	}
	return list.plainUnitOf(path)
}

func (list formatList) plainUnitOf(path string) (fs []*interop.Format, unit string) {
	for i := range list {
		if f := &list[i]; f.Unit != nil {
			u := f.Unit(filepath.ToSlash(path))
			if u == "" || unit != "" && u != unit {
				continue
			}
			unit = u
			fs = append(fs, f)
		}
	}
	return fs, filepath.FromSlash(unit)
}

// unitFiles returns the files of a unit.
func (list formatList) unitFiles(unit string) (cs []disk.File) {
	add := func(path string) {
		if _, u := list.UnitOf(path); u == unit {
			if c, ok := disk.Look(path); ok {
				cs = append(cs, c)
			}
		}
	}
	if info, err := os.Lstat(unit); err != nil || !info.IsDir() {
		for _, suffix := range []string{"", "-wal", "-journal"} {
			add(unit + suffix)
		}
		for _, dir := range list.around(unit) {
			EachFile(dir, add)
		}
		return cs
	}
	EachFile(unit, add)
	return cs
}

// around returns the folders that contain files of a unit that is itself a file.
func (list formatList) around(unit string) (dirs []string) {
	fs, _ := list.UnitOf(unit)
	for _, f := range fs {
		if f.Around != nil {
			for _, dir := range f.Around(filepath.ToSlash(unit)) {
				dirs = append(dirs, filepath.FromSlash(dir))
			}
		}
	}
	return dirs
}

// EachFile calls add with the path of every regular file below dir that can be found.
func EachFile(dir string, add func(path string)) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			add(path)
		}
		return nil // what cannot be read now is found when the unit is
	})
}

// elsewhere reports whether all files of a unit, which were grouped by their paths,
// belong to other formats by their content.
func (list formatList) elsewhere(u UnitFound) bool {
	for _, c := range u.files {
		m := list.judged(c.Path)
		sure := m.guess.Sure == interop.Known || m.guess.Sure == interop.Alike || m.documents != nil && c.Path != u.Path
		if !sure || slices.Contains(u.formats, m.format) {
			return false
		}
	}
	return len(u.files) > 0
}

// judged returns what the formats make of the file at path; nothing if it cannot be
// read, which is reported when it is imported.
func (list formatList) judged(path string) match {
	b := disk.HeadAt(path)
	if len(b) == 0 {
		return match{}
	}
	return judge(list, filepath.ToSlash(disk.PlainPath(path)), b)
}

// mayBe returns the formats that may know a unit: those that know its path and, for
// a unit that is a file, also those that know it by its content.
func (list formatList) mayBe(u UnitFound) []*interop.Format {
	m := list.judged(u.Path)
	first, last := u.formats, m.documents
	if m.guess.Sure == interop.Known {
		first, last = last, first
	}
	return slices.Concat(first, slices.DeleteFunc(slices.Clone(last), func(f *interop.Format) bool { return slices.Contains(first, f) }))
}

// Says returns what a file is that looks like a placed file, and how to import it.
func Says(m interop.PlacedFile, f *interop.Format, g interop.Guess) string {
	text := fmt.Sprintf("it looks like %s of %s (%s)", m.Name, cmp.Or(g.Of, f.Name), g.Why)
	switch {
	case g.Of != "":
		return text + ", which no format reads"
	case m.Path == "":
		return text + ", which holds no conversation by itself: import the folder that it comes from"
	}
	return text + fmt.Sprintf("; to import it as that, name the format: --format %s", f.Name)
}

// alone returns how to read a file that the user named, and that no format knows: as a
// placed file of the formats given, and else as m. With a single format, also what is only
// alike is read, and JSON that is like nothing of that format as its first placed file.
func (pl *Planner) alone(head []byte, m match) match {
	f, as, g := records.FindPlaced(pl.formats, head)
	only := len(pl.formats) == 1 && pl.opts.Named
	forced := false
	if f == nil && only && interop.IsDocument(head) {
		f = &pl.formats[0]
		_, forced = records.AnyPlaced(f)
	}
	if !forced && (f == nil || as.Path == "" || g.Sure != interop.Known && !only) {
		return m
	}
	g.Sure = interop.Placed
	return match{guess: g, format: f, documents: append([]*interop.Format{f}, m.documents...)}
}
