package interop

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
)

// still reports, for every file, that it is not being written.
func still(candidate) bool { return false }

// A planner picks what an import is to read, and finds out which formats know it.
type planner struct {
	im      *importer
	strange map[string]candidate // files that no format knows
	fallen  [][]candidate        // files of what turned out not to be units, to be read by themselves
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
	fallen := pl.fallen
	pl.fallen = nil
	for _, files := range fallen {
		was := pl.im.rep.counts()
		works = append(works, pl.planFiles(files, moving, &p)...)
		pl.im.rep.asOne(was)
	}
	return inOrder(works), p
}

// planFiles picks from files that are not units by their paths.
func (pl *planner) planFiles(files []candidate, moving func(candidate) bool, p *Progress) (works []planned) {
	for _, c := range files {
		known, ok := pl.im.known.files[c.path]
		if ok && (known.unchanged(c) || known.unchanged(aloneUnit(c))) && pl.im.formats.format(known.Format) != nil {
			pl.im.rep.Files++
			pl.im.rep.Unchanged++
			continue
		}
		m, err := pl.match(c)
		f := m.format
		switch {
		case errors.Is(err, fs.ErrNotExist), m.guess.Sure == Alike: // it was removed or renamed meanwhile; or it has been reported
			continue
		case err != nil:
			pl.im.rep.fail(c.path, err)
			continue
		case m.documents != nil:
			works = append(works, pl.planUnits([]unitFound{{aloneUnit(c), m.documents, nil}}, p)...)
			continue
		case f == nil:
			pl.im.rep.Unmatched++
			continue
		}
		pl.im.rep.Files++
		if c.size == 0 && ok && known.Format == f.Name && known.records { // emptied: as if it had been deleted
			pl.im.rep.Unchanged++
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

// workOf returns the work that is to be done on a file or unit, with what the
// store knows about it. The error is the store's.
func (im *importer) workOf(ctx context.Context, p planned) (w *work, err error) {
	w = &work{format: *p.format, now: p.now, unit: p.unit, patient: p.patient}
	if p.was == nil {
		return w, nil
	}
	w.known, err = im.known.stored(ctx, p.format.Name, p.now.path)
	w.known.Size, w.known.Mtime, w.known.Inode = p.was.Size, p.was.Mtime, p.was.Inode
	return w, err
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
		judged := judge(pl.im.formats, filepath.ToSlash(plain(c.path)), b)
		m = pl.force(judged, b, slices.Contains(pl.im.named, c.path))
		if f, ok := pl.forced(c.path, m, judged.guess.Sure); ok {
			pl.im.rep.force(f)
		}
	}
	if k, ok := pl.im.known.files[c.path]; ok && m.guess.Sure == Alike && k.Format == m.format.Name {
		m.guess.Sure = Placed // what was imported is read on, whoever wrote it
	}
	if m.guess.Sure <= Alike {
		pl.strange[c.path] = c
	}
	if m.guess.Sure == Alike {
		pl.im.rep.other(Other{c.path, m.format.Name, m.guess.Of, m.guess.Why}, slices.Contains(pl.im.named, c.path))
	}
	return m, nil
}
