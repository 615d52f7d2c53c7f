package interop

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/skein-dev/skein"
)

// still says of every file that it is not being written.
func still(candidate) bool { return false }

// plan picks the files and units that are to be read. A torn end of a moving
// one is left. roots is where the files were found, all that there are.
func (im *importer) plan(found []candidate, moving func(candidate) bool, roots ...string) ([]*work, Progress) {
	var p Progress
	files, units := im.gather(found, roots)
	works := im.planUnits(units, &p)
	return inOrder(append(works, im.planFiles(files, moving, &p)...)), p
}

// planFallen picks from the files of what turned out to be no unit.
func (im *importer) planFallen(moving func(candidate) bool) (works []*work, p Progress) {
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
func (im *importer) planFiles(files []candidate, moving func(candidate) bool, p *Progress) (works []*work) {
	for _, c := range files {
		known, ok := im.files[c.path]
		if ok && (unchanged(c, known) || unchanged(aloneUnit(c), known)) && im.format(known.Format) != nil {
			im.rep.Files++
			im.rep.Unchanged++
			continue
		}
		f, documents, err := im.match(c)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was removed meanwhile, or renamed
			continue
		case err != nil:
			im.rep.skip(c.path, why(err))
			continue
		case len(documents) > 0:
			works = append(works, im.planUnits([]unitFound{{aloneUnit(c), documents, nil}}, p)...)
			continue
		case f == nil:
			im.rep.Unmatched++
			continue
		}
		im.rep.Files++
		if known.Format != f.Name {
			known = skein.SourceFile{}
		}
		if c.size == 0 && known.Records > 0 { // emptied: as if it had been deleted
			im.rep.Unchanged++
			continue
		}
		works = append(works, &work{format: *f, now: c, known: known, patient: moving(c)})
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

func inOrder(works []*work) []*work {
	orders := make(map[*work]string, len(works)) // a format may have to look into the file
	for _, w := range works {
		orders[w] = w.order()
	}
	slices.SortStableFunc(works, func(a, b *work) int { return cmp.Compare(orders[a], orders[b]) })
	return works
}

// order returns what files that the time of their last change would misplace
// are sorted by, after all others.
func (w *work) order() string {
	if w.format.Order == nil {
		return ""
	}
	return w.format.Name + "\x00" + w.format.Order(plain(w.now.path))
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
