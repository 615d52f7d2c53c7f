package discover

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/records"
)

// Still reports, for every file, that it is not being written.
func Still(disk.File) bool { return false }

// A Planner picks what an import is to read, and finds out which formats know it.
type Planner struct {
	formats formatList
	known   *KnownFiles
	rep     *Reporting
	opts    interop.Options
	Strange map[string]disk.File // files that no format knows
	fallen  [][]disk.File        // files of what turned out not to be units, to be read by themselves
}

// NewPlanner returns a planner for what is known, which reports to rep.
func NewPlanner(known *KnownFiles, rep *Reporting, o interop.Options) *Planner {
	return &Planner{formats: known.Formats, known: known, rep: rep, opts: o, Strange: map[string]disk.File{}}
}

// Plan picks the files and units that are to be read. A torn end of a moving one is
// left for later. roots is where the files were found, if that is all of them.
func (pl *Planner) Plan(found []disk.File, moving func(disk.File) bool, roots ...string) ([]Planned, interop.Progress) {
	var p interop.Progress
	files, units := pl.Gather(found, roots)
	works := pl.PlanUnits(units, &p)
	return inOrder(append(works, pl.PlanFiles(files, moving, &p)...)), p
}

// PlanFallen picks from the files of what turned out not to be units.
func (pl *Planner) PlanFallen(moving func(disk.File) bool) (works []Planned, p interop.Progress) {
	for _, files := range pl.TakeFallen() {
		pl.asOne(files, func() { works = append(works, pl.PlanFiles(files, moving, &p)...) })
	}
	return inOrder(works), p
}

// PlanFiles picks from files that are not units by their paths.
func (pl *Planner) PlanFiles(files []disk.File, moving func(disk.File) bool, p *interop.Progress) (works []Planned) {
	for _, c := range files {
		known, ok := pl.known.Files[c.Path]
		if ok && (known.Unchanged(c) || known.Unchanged(aloneUnit(c))) && pl.formats.Format(known.Format) != nil {
			pl.rep.Files++
			pl.rep.Unchanged++
			continue
		}
		m, err := pl.match(c)
		f := m.format
		switch {
		case errors.Is(err, fs.ErrNotExist), m.guess.Sure == interop.Alike: // it was removed or renamed meanwhile; or it has been reported
			continue
		case err != nil:
			pl.rep.AddFailure(c.Path, err)
			continue
		case m.documents != nil:
			works = append(works, pl.PlanUnits([]UnitFound{{aloneUnit(c), m.documents, nil}}, p)...)
			continue
		case f == nil:
			pl.countUnmatched(c)
			continue
		}
		pl.rep.Files++
		if c.Size == 0 && ok && known.Format == f.Name && known.records { // emptied: as if it had been deleted
			pl.rep.Unchanged++
			continue
		}
		one := Planned{Format: f, Now: c, Patient: moving(c)}
		if ok && known.Format == f.Name {
			one.Was = &known
		}
		works = append(works, one)
		p.Of++
		p.Size += c.Size
	}
	return works
}

// countsUnmatched reports whether a file that no format recognizes is counted: not if it
// belongs to sessions, unless the user named it, because it yields none.
func (pl *Planner) countsUnmatched(c disk.File) bool {
	return pl.rep.IsNamed(c.Path) || !pl.formats.isBeside(c.Path)
}

func (pl *Planner) countUnmatched(c disk.File) {
	if pl.countsUnmatched(c) {
		pl.rep.Unmatched++
	}
}

// asOne calls look for the files of what turned out not to be a unit. Those that no format
// recognizes count as one.
func (pl *Planner) asOne(files []disk.File, look func()) {
	was := pl.rep.Counts()
	look()
	if len(files) == 0 || slices.ContainsFunc(files, pl.countsUnmatched) {
		pl.rep.CountAsOne(was)
	}
}

// aloneUnit returns a file as the unit that consists of it.
func aloneUnit(c disk.File) disk.File {
	c, _ = together(c.Path, []disk.File{c})
	return c
}

func inOrder(works []Planned) []Planned {
	for i := range works {
		works[i].order = works[i].orderOf() // a format may have to look into the file
	}
	slices.SortStableFunc(works, func(a, b Planned) int { return cmp.Compare(a.order, b.order) })
	return works
}

// A Planned is a file or unit that is to be read. There may be hundreds of
// thousands; a work is made from each when its turn comes.
type Planned struct {
	Format  *interop.Format
	Now     disk.File
	unit    *records.Opened // nil for a file
	Patient bool
	Was     *knownFile // what the store knew of it; nil for nothing
	order   string
}

// orderOf returns the sort key of a file that the time of its last change would
// misplace; such files are read after all others.
func (p Planned) orderOf() string {
	if p.Format.Order == nil {
		return ""
	}
	return p.Format.Name + "\x00" + p.Format.Order(disk.PlainPath(p.Now.Path))
}

// match returns which format takes a file. A file that looks like a format's but is
// another program's is added to the report.
func (pl *Planner) match(c disk.File) (m match, err error) {
	if s := pl.Strange[c.Path]; s == c || s == aloneUnit(c) {
		return match{}, nil
	}
	file, _, err := disk.Open(c.Path)
	if err != nil {
		return match{}, err
	}
	defer file.Close()
	b, ok, err := disk.PlainHead(c.Path, file)
	if err != nil {
		return match{}, err
	}
	if ok {
		judged := judge(pl.formats, filepath.ToSlash(disk.PlainPath(c.Path)), b)
		m = judged
		if pl.rep.IsNamed(c.Path) && (m.guess.Sure == interop.No || m.guess.Sure == interop.Placed && m.documents != nil) {
			m = pl.alone(b, m)
		}
		m = pl.force(m, b, pl.rep.IsNamed(c.Path))
		if f, ok := pl.forced(c.Path, m, judged.guess.Sure); ok {
			pl.rep.AddForced(f)
		}
	}
	if k, ok := pl.known.Files[c.Path]; ok && m.guess.Sure == interop.Alike && k.Format == m.format.Name {
		m.guess.Sure = interop.Placed // what was imported is read on, whoever wrote it
	}
	if m.guess.Sure <= interop.Alike {
		pl.Strange[c.Path] = c
	}
	if m.guess.Sure == interop.Alike {
		pl.rep.other(interop.Other{Path: c.Path, Format: m.format.Name, Of: m.guess.Of, Why: m.guess.Why})
	}
	return m, nil
}

// A UnitFound is a unit some of whose files were found.
type UnitFound struct {
	disk.File
	formats []*interop.Format
	files   []disk.File // the files of it that were found
}

// Gather groups the files that belong to units, and returns the others unchanged.
// roots is where the files were found, if that is all of them.
func (pl *Planner) Gather(found []disk.File, roots []string) (files []disk.File, units []UnitFound) {
	groups := map[string][]disk.File{}
	formats := map[string][]*interop.Format{}
	for _, c := range found {
		if records.IsSide(c.Path) {
			continue
		}
		if disk.Shadowed(c.Path, roots) {
			pl.rep.AddSkip(c.Path, "the same file without this ending is beside it and is read instead")
			continue
		}
		fs, u := pl.formats.UnitOf(c.Path)
		if u == "" {
			files = append(files, c)
			continue
		}
		groups[u], formats[u] = append(groups[u], c), fs
	}
	for u, in := range groups {
		cs := slices.Clone(in)
		if !slices.ContainsFunc(roots, func(root string) bool { return root != u && disk.Within(root, u) }) {
			cs = pl.formats.unitFiles(u)
		}
		c, ok := together(u, cs)
		in = slices.DeleteFunc(in, func(c disk.File) bool { return c == disk.File{Path: c.Path} }) // it is gone
		switch {
		case !ok:
			files = append(files, in...)
		case pl.Strange[u] != c:
			units = append(units, UnitFound{c, formats[u], in})
		}
	}
	slices.SortFunc(units, func(a, b UnitFound) int { return byUnit(a.File, b.File) })
	return files, units
}

// byUnit sorts units: the oldest first, but a unit inside another comes after
// that one.
func byUnit(a, b disk.File) int {
	switch {
	case disk.Within(a.Path, b.Path):
		return -1
	case disk.Within(b.Path, a.Path):
		return 1
	}
	return cmp.Or(cmp.Compare(a.Mtime, b.Mtime), cmp.Compare(a.Path, b.Path))
}

// together returns a unit as a candidate: with the total size and latest change of its
// files, and a hash of them, and of its folder's time, for its inode. It returns false
// without any file or, for a unit that is itself a file, without that file.
func together(unit string, cs []disk.File) (disk.File, bool) {
	slices.SortFunc(cs, func(a, b disk.File) int { return cmp.Compare(a.Path, b.Path) })
	h := sha256.New()
	c := disk.File{Path: unit}
	folder, itself := true, false
	for _, f := range cs {
		if f.Path == unit {
			folder, itself = false, true
		} else if strings.HasPrefix(f.Path, unit+"-") {
			folder = false
		}
		if strings.HasSuffix(f.Path, "-shm") && !folder {
			continue // readers change it
		}
		c.Size += f.Size
		c.Mtime = max(c.Mtime, f.Mtime)
		fmt.Fprintf(h, "%s\x00%d\x00%d\x00%d\x00", f.Path, f.Size, f.Mtime, f.Inode)
	}
	if info, err := os.Lstat(unit); err == nil && info.IsDir() { // its time may be among what is read
		fmt.Fprintf(h, "%d\x00", info.ModTime().UnixNano())
	}
	c.Inode = binary.BigEndian.Uint64(h.Sum(nil)) >> 1 // stores keep 63 bits
	return c, len(cs) > 0 && (folder || itself)
}

// NotUnit notes that what was planned as a unit is none: its files are read by
// themselves.
func (pl *Planner) NotUnit(w *records.FileJob) {
	pl.rep.Files--
	pl.Strange[w.Now.Path] = w.Now
	pl.fallen = append(pl.fallen, w.Unit.Files)
}

// TakeFallen returns the files of what turned out not to be units.
func (pl *Planner) TakeFallen() (fallen [][]disk.File) {
	fallen, pl.fallen = pl.fallen, nil
	return fallen
}

// PlanUnits picks the units that are to be read.
func (pl *Planner) PlanUnits(units []UnitFound, p *interop.Progress) (works []Planned) {
	for _, u := range units {
		known, ok := pl.known.Files[u.Path]
		if ok && known.Unchanged(u.File) && pl.formats.Format(known.Format) != nil {
			pl.rep.Files++
			pl.rep.Unchanged++
			continue
		}
		if pl.formats.elsewhere(u) {
			pl.fallen = append(pl.fallen, u.files)
			continue
		}
		pl.rep.Files++
		works = append(works, Planned{Format: u.formats[0], Now: u.File, unit: &records.Opened{Path: u.Path, Formats: pl.formats.mayBe(u), Files: u.files}})
		p.Of++
		p.Size += u.Size
	}
	return works
}

// ApartWhole returns the works that the engine does, and those whose formats do
// them by themselves.
func ApartWhole(works []Planned) (own, whole []Planned) {
	for _, w := range works {
		if w.Format.Load != nil {
			whole = append(whole, w)
		} else {
			own = append(own, w)
		}
	}
	return own, whole
}

// PollEvery is how often a watch looks at all files, to find changes that the system
// did not report.
const PollEvery = 30 * time.Second

// IsMoving reports whether a file changed so recently that more may come.
func IsMoving(c disk.File) bool { return time.Since(time.Unix(0, c.Mtime)) < PollEvery }
