package interop

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
)

// still says of every file that it is not being written.
func still(candidate) bool { return false }

// plan picks the files and units that are to be read. A torn end of a moving
// one is left. roots is where the files were found, all that there are.
func (im *importer) plan(found []candidate, moving func(candidate) bool, roots ...string) ([]planned, Progress) {
	var p Progress
	files, units := im.gather(found, roots)
	works := im.planUnits(units, &p)
	return inOrder(append(works, im.planFiles(files, moving, &p)...)), p
}

// planFallen picks from the files of what turned out to be no unit.
func (im *importer) planFallen(moving func(candidate) bool) (works []planned, p Progress) {
	fallen := im.fallen
	im.fallen = nil
	for _, files := range fallen {
		unmatched, n := im.rep.Unmatched, im.rep.Files
		works = append(works, im.planFiles(files, moving, &p)...)
		if im.rep.Unmatched = unmatched; im.rep.Files == n { // all of it counts as one
			im.rep.Unmatched++
		}
	}
	return inOrder(works), p
}

// planFiles picks from files that are no units by their paths.
func (im *importer) planFiles(files []candidate, moving func(candidate) bool, p *Progress) (works []planned) {
	for _, c := range files {
		known, ok := im.files[c.path]
		if ok && (known.unchanged(c) || known.unchanged(aloneUnit(c))) && im.format(known.Format) != nil {
			im.rep.Files++
			im.rep.Unchanged++
			continue
		}
		f, documents, err := im.match(c)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was removed meanwhile, or renamed
			continue
		case err != nil:
			im.rep.fail(c.path, err)
			continue
		case len(documents) > 0:
			works = append(works, im.planUnits([]unitFound{{aloneUnit(c), documents, nil}}, p)...)
			continue
		case f == nil:
			im.rep.Unmatched++
			continue
		}
		im.rep.Files++
		if c.size == 0 && ok && known.Format == f.Name && known.records { // emptied: as if it had been deleted
			im.rep.Unchanged++
			continue
		}
		pl := planned{format: f, now: c, patient: moving(c)}
		if ok && known.Format == f.Name {
			pl.was = &known
		}
		works = append(works, pl)
		p.Of++
		p.Size += c.size
	}
	return works
}

// aloneUnit returns a file as the unit that is this file.
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
// thousands; a work is made of it when it is its turn.
type planned struct {
	format  *Format
	now     candidate
	unit    *opened // nil for a file
	patient bool
	was     *knownFile // what the store knew of it; nil for nothing
	order   string
}

// workOf returns the work that is to be done on a file or unit, with what the
// store knows of it. The error is the store's.
func (im *importer) workOf(ctx context.Context, p planned) (w *work, err error) {
	w = &work{format: *p.format, now: p.now, unit: p.unit, patient: p.patient}
	if p.was == nil {
		return w, nil
	}
	w.known, err = im.stored(ctx, p.format.Name, p.now.path)
	w.known.Size, w.known.Mtime, w.known.Inode = p.was.Size, p.was.Mtime, p.was.Inode
	return w, err
}

// orderOf returns what files that the time of their last change would misplace
// are sorted by, after all others.
func (p planned) orderOf() string {
	if p.format.Order == nil {
		return ""
	}
	return p.format.Name + "\x00" + p.format.Order(plain(p.now.path))
}

func (im *importer) format(name string) *Format {
	for i := range im.formats {
		if im.formats[i].Name == name {
			return &im.formats[i]
		}
	}
	return nil
}

// match returns the first format that knows a file, or else those that may
// know it as a document.
func (im *importer) match(c candidate) (f *Format, documents []*Format, err error) {
	if s := im.strange[c.path]; s == c || s == aloneUnit(c) {
		return nil, nil, nil
	}
	file, _, err := open(c.path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	b, ok, err := plainHead(c.path, file)
	if err != nil {
		return nil, nil, err
	}
	name := filepath.ToSlash(plain(c.path))
	for i := range im.formats {
		if ok && im.formats[i].Match(name, b) {
			return &im.formats[i], nil, nil
		}
	}
	for i := range im.formats {
		if f := &im.formats[i]; ok && f.Document != nil && f.Look != nil && f.Document(name, b) {
			documents = append(documents, f)
		}
	}
	if len(documents) == 0 {
		im.strange[c.path] = c
	}
	return nil, documents, nil
}
