package interop

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
)

// still reports, for every file, that it is not being written.
func still(candidate) bool { return false }

// A planner picks what an import is to read, and finds out which formats know it.
type planner struct {
	formats formatList
	known   *knownFiles
	rep     *reporting
	opts    Options
	strange map[string]candidate // files that no format knows
	fallen  [][]candidate        // files of what turned out not to be units, to be read by themselves
}

func newPlanner(known *knownFiles, rep *reporting, o Options) *planner {
	return &planner{formats: known.formats, known: known, rep: rep, opts: o, strange: map[string]candidate{}}
}

// plan picks the files and units that are to be read. A torn end of a moving one is
// left for later. roots is where the files were found, if that is all of them.
func (pl *planner) plan(found []candidate, moving func(candidate) bool, roots ...string) ([]planned, Progress) {
	var p Progress
	files, units := pl.gather(found, roots)
	works := pl.planUnits(units, &p)
	return inOrder(append(works, pl.planFiles(files, moving, &p)...)), p
}

// planFallen picks from the files of what turned out not to be units.
func (pl *planner) planFallen(moving func(candidate) bool) (works []planned, p Progress) {
	for _, files := range pl.takeFallen() {
		was := pl.rep.counts()
		works = append(works, pl.planFiles(files, moving, &p)...)
		pl.rep.asOne(was)
	}
	return inOrder(works), p
}

// planFiles picks from files that are not units by their paths.
func (pl *planner) planFiles(files []candidate, moving func(candidate) bool, p *Progress) (works []planned) {
	for _, c := range files {
		known, ok := pl.known.files[c.path]
		if ok && (known.unchanged(c) || known.unchanged(aloneUnit(c))) && pl.formats.format(known.Format) != nil {
			pl.rep.Files++
			pl.rep.Unchanged++
			continue
		}
		m, err := pl.match(c)
		f := m.format
		switch {
		case errors.Is(err, fs.ErrNotExist), m.guess.Sure == Alike: // it was removed or renamed meanwhile; or it has been reported
			continue
		case err != nil:
			pl.rep.fail(c.path, err)
			continue
		case m.documents != nil:
			works = append(works, pl.planUnits([]unitFound{{aloneUnit(c), m.documents, nil}}, p)...)
			continue
		case f == nil:
			pl.rep.Unmatched++
			continue
		}
		pl.rep.Files++
		if c.size == 0 && ok && known.Format == f.Name && known.records { // emptied: as if it had been deleted
			pl.rep.Unchanged++
			continue
		}
		one := planned{format: f, now: c, patient: moving(c)}
		if ok && known.Format == f.Name {
			one.was = &known
		}
		works = append(works, one)
		p.Of++
		p.Size += c.size
	}
	return works
}

// aloneUnit returns a file as the unit that consists of it.
func aloneUnit(c candidate) candidate {
	c, _ = together(c.path, []candidate{c})
	return c
}

func inOrder(works []planned) []planned {
	for i := range works {
		works[i].order = works[i].orderOf() // a format may have to look into the file
	}
	slices.SortStableFunc(works, func(a, b planned) int { return cmp.Compare(a.order, b.order) })
	return works
}

// A planned is a file or unit that is to be read. There may be hundreds of
// thousands; a work is made from each when its turn comes.
type planned struct {
	format  *Format
	now     candidate
	unit    *opened // nil for a file
	patient bool
	was     *knownFile // what the store knew of it; nil for nothing
	order   string
}

// orderOf returns the sort key of a file that the time of its last change would
// misplace; such files are read after all others.
func (p planned) orderOf() string {
	if p.format.Order == nil {
		return ""
	}
	return p.format.Name + "\x00" + p.format.Order(plain(p.now.path))
}

// match returns which format takes a file. A file that looks like a format's but is
// another program's is added to the report.
func (pl *planner) match(c candidate) (m match, err error) {
	if s := pl.strange[c.path]; s == c || s == aloneUnit(c) {
		return match{}, nil
	}
	file, _, err := open(c.path)
	if err != nil {
		return match{}, err
	}
	defer file.Close()
	b, ok, err := plainHead(c.path, file)
	if err != nil {
		return match{}, err
	}
	if ok {
		judged := judge(pl.formats, filepath.ToSlash(plain(c.path)), b)
		m = judged
		if pl.rep.isNamed(c.path) && (m.guess.Sure == No || m.guess.Sure == Placed && m.documents != nil) {
			m = pl.alone(b, m)
		}
		m = pl.force(m, b, pl.rep.isNamed(c.path))
		if f, ok := pl.forced(c.path, m, judged.guess.Sure); ok {
			pl.rep.force(f)
		}
	}
	if k, ok := pl.known.files[c.path]; ok && m.guess.Sure == Alike && k.Format == m.format.Name {
		m.guess.Sure = Placed // what was imported is read on, whoever wrote it
	}
	if m.guess.Sure <= Alike {
		pl.strange[c.path] = c
	}
	if m.guess.Sure == Alike {
		pl.rep.other(Other{c.path, m.format.Name, m.guess.Of, m.guess.Why})
	}
	return m, nil
}

// A unitFound is a unit some of whose files were found.
type unitFound struct {
	candidate
	formats []*Format
	files   []candidate // the files of it that were found
}

// gather groups the files that belong to units, and returns the others unchanged.
// roots is where the files were found, if that is all of them.
func (pl *planner) gather(found []candidate, roots []string) (files []candidate, units []unitFound) {
	groups := map[string][]candidate{}
	formats := map[string][]*Format{}
	for _, c := range found {
		if isSide(c.path) {
			continue
		}
		if shadowed(c.path, roots) {
			pl.rep.skip(c.path, "the same file without this ending is beside it and is read instead")
			continue
		}
		fs, u := pl.formats.unitOf(c.path)
		if u == "" {
			files = append(files, c)
			continue
		}
		groups[u], formats[u] = append(groups[u], c), fs
	}
	for u, in := range groups {
		cs := slices.Clone(in)
		if !slices.ContainsFunc(roots, func(root string) bool { return root != u && within(root, u) }) {
			cs = pl.formats.unitFiles(u)
		}
		c, ok := together(u, cs)
		in = slices.DeleteFunc(in, func(c candidate) bool { return c == candidate{path: c.path} }) // it is gone
		switch {
		case !ok:
			files = append(files, in...)
		case pl.strange[u] != c:
			units = append(units, unitFound{c, formats[u], in})
		}
	}
	slices.SortFunc(units, func(a, b unitFound) int { return byUnit(a.candidate, b.candidate) })
	return files, units
}

// byUnit sorts units: the oldest first, but a unit inside another comes after
// that one.
func byUnit(a, b candidate) int {
	switch {
	case within(a.path, b.path):
		return -1
	case within(b.path, a.path):
		return 1
	}
	return cmp.Or(cmp.Compare(a.mtime, b.mtime), cmp.Compare(a.path, b.path))
}

// together returns a unit as a candidate: with the total size and latest change of its
// files, and a hash of them, and of its folder's time, for its inode. It returns false
// without any file or, for a unit that is itself a file, without that file.
func together(unit string, cs []candidate) (candidate, bool) {
	slices.SortFunc(cs, func(a, b candidate) int { return cmp.Compare(a.path, b.path) })
	h := sha256.New()
	c := candidate{path: unit}
	folder, itself := true, false
	for _, f := range cs {
		if f.path == unit {
			folder, itself = false, true
		} else if strings.HasPrefix(f.path, unit+"-") {
			folder = false
		}
		if strings.HasSuffix(f.path, "-shm") && !folder {
			continue // readers change it
		}
		c.size += f.size
		c.mtime = max(c.mtime, f.mtime)
		fmt.Fprintf(h, "%s\x00%d\x00%d\x00%d\x00", f.path, f.size, f.mtime, f.inode)
	}
	if info, err := os.Lstat(unit); err == nil && info.IsDir() { // its time may be among what is read
		fmt.Fprintf(h, "%d\x00", info.ModTime().UnixNano())
	}
	c.inode = binary.BigEndian.Uint64(h.Sum(nil)) >> 1 // stores keep 63 bits
	return c, len(cs) > 0 && (folder || itself)
}

// notUnit notes that what was planned as a unit is none: its files are read by
// themselves.
func (pl *planner) notUnit(w *fileJob) {
	pl.rep.Files--
	pl.strange[w.now.path] = w.now
	pl.fallen = append(pl.fallen, w.unit.files)
}

// takeFallen returns the files of what turned out not to be units.
func (pl *planner) takeFallen() (fallen [][]candidate) {
	fallen, pl.fallen = pl.fallen, nil
	return fallen
}

// planUnits picks the units that are to be read.
func (pl *planner) planUnits(units []unitFound, p *Progress) (works []planned) {
	for _, u := range units {
		known, ok := pl.known.files[u.path]
		if ok && known.unchanged(u.candidate) && pl.formats.format(known.Format) != nil {
			pl.rep.Files++
			pl.rep.Unchanged++
			continue
		}
		if pl.formats.elsewhere(u) {
			pl.fallen = append(pl.fallen, u.files)
			continue
		}
		pl.rep.Files++
		works = append(works, planned{format: u.formats[0], now: u.candidate, unit: &opened{path: u.path, formats: pl.formats.mayBe(u), files: u.files}})
		p.Of++
		p.Size += u.size
	}
	return works
}

// apartWhole returns the works that the engine does, and those whose formats do
// them by themselves.
func apartWhole(works []planned) (own, whole []planned) {
	for _, w := range works {
		if w.format.Load != nil {
			whole = append(whole, w)
		} else {
			own = append(own, w)
		}
	}
	return own, whole
}

// pollEvery is how often a watch looks at all files, to find changes that the system
// did not report.
const pollEvery = 30 * time.Second

// isMoving reports whether a file changed so recently that more may come.
func isMoving(c candidate) bool { return time.Since(time.Unix(0, c.mtime)) < pollEvery }
