package interop

import (
	"cmp"
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
	found, units := im.gather(found, roots)
	works := im.planUnits(units, &p)
	for _, c := range found {
		known, ok := im.files[c.path]
		if ok && unchanged(c, known) && im.format(known.Format) != nil {
			im.rep.Files++
			im.rep.Unchanged++
			continue
		}
		f, err := im.match(c)
		switch {
		case err != nil:
			im.rep.skip(c.path, why(err))
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
	orders := make(map[*work]string, len(works)) // a format may have to look into the file
	for _, w := range works {
		orders[w] = w.order()
	}
	slices.SortStableFunc(works, func(a, b *work) int { return cmp.Compare(orders[a], orders[b]) })
	return works, p
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

// match returns the first format that knows a file, or nil.
func (im *importer) match(c candidate) (*Format, error) {
	if im.strange[c.path] == c {
		return nil, nil
	}
	f, _, err := open(c.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, ok, err := plainHead(c.path, f)
	if err != nil {
		return nil, err
	}
	for i := range im.formats {
		if ok && im.formats[i].Match(filepath.ToSlash(plain(c.path)), b) {
			return &im.formats[i], nil
		}
	}
	im.strange[c.path] = c
	return nil, nil
}
