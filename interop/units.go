package interop

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/skein-dev/skein"
)

// opened is a unit that is to be read, and while it is.
type opened struct {
	path    string
	formats []*Format // that may know it
	unit    Unit
	left    atomic.Bool // some source was not taken to its end: it must not look unchanged
}

func (w *work) unfinished() bool { return w.unit != nil && w.name == "" && w.unit.left.Load() }

func (o *opened) file(name string) File {
	return File{Path: o.path, Name: name, Beside: func(rel string) ([]byte, bool) {
		if info, err := os.Lstat(o.path); err == nil && info.IsDir() {
			return beside(filepath.Join(o.path, "x"), rel)
		}
		return beside(o.path, rel)
	}}
}

// sourcePath is the path under which a store knows a source: that of its unit,
// and behind a number sign its name, escaped.
func sourcePath(unit, name string) string {
	if name == "" {
		return unit
	}
	if name = url.PathEscape(name); len(name) > 512 {
		name = digest([]byte(name))
	}
	return unit + "#" + name
}

// onDisk returns where on disk that is which a store knows by path.
func (im *importer) onDisk(path string) string {
	f := im.format(im.files[path].Format)
	if at := strings.LastIndexByte(path, '#'); at > 0 && f != nil && f.Look != nil {
		if _, err := os.Lstat(path); err != nil {
			return path[:at]
		}
	}
	return path
}

// unitOf returns the formats that say which unit a file belongs to, as the
// first of them does, and "" if there are none.
func (im *importer) unitOf(path string) (fs []*Format, unit string) {
	for i := range im.formats {
		if f := &im.formats[i]; f.Unit != nil {
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

// A unitFound is a unit some of whose files were found.
type unitFound struct {
	candidate
	formats []*Format
}

// gather puts the files that belong to units together, and returns the others
// as they were. roots is where the files were found, if they are all that
// there are.
func (im *importer) gather(found []candidate, roots []string) (files []candidate, units []unitFound) {
	groups := map[string][]candidate{}
	formats := map[string][]*Format{}
	for _, c := range found {
		if isSide(c.path) {
			continue
		}
		fs, u := im.unitOf(c.path)
		if u == "" {
			files = append(files, c)
			continue
		}
		groups[u], formats[u] = append(groups[u], c), fs
	}
	for u, cs := range groups {
		if !slices.ContainsFunc(roots, func(root string) bool { return root != u && within(root, u) }) {
			cs = im.unitFiles(u)
		}
		c, ok := together(u, cs)
		if !ok || im.strange[u] == c {
			continue
		}
		units = append(units, unitFound{c, formats[u]})
	}
	slices.SortFunc(units, func(a, b unitFound) int { return byUnit(a.candidate, b.candidate) })
	return files, units
}

// byUnit sorts units: the oldest first, but what lies in another comes after
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

func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// unitFiles returns the files of a unit.
func (im *importer) unitFiles(unit string) (cs []candidate) {
	add := func(path string) {
		if _, u := im.unitOf(path); u == unit {
			if c, ok := look(path); ok {
				cs = append(cs, c)
			}
		}
	}
	info, err := os.Lstat(unit)
	if err != nil {
		return nil
	}
	if !info.IsDir() {
		for _, suffix := range []string{"", "-wal", "-journal"} {
			add(unit + suffix)
		}
		return cs
	}
	_ = filepath.WalkDir(unit, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			add(path)
		}
		return nil // what cannot be read now is found when the unit is
	})
	return cs
}

// together returns a unit as a candidate: as large and as young as its files
// are, with a hash of them for its inode. It is none without a file, nor, if it
// is a file itself, without that one.
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
	c.inode = binary.BigEndian.Uint64(h.Sum(nil)) >> 1 // stores keep 63 bits
	return c, len(cs) > 0 && (folder || itself)
}

// planUnits picks the units that are to be read.
func (im *importer) planUnits(units []unitFound, p *Progress) (works []*work) {
	for _, u := range units {
		im.rep.Files++
		known, ok := im.files[u.path]
		if ok && unchanged(u.candidate, known) && im.format(known.Format) != nil {
			im.rep.Unchanged++
			continue
		}
		works = append(works, &work{format: *u.formats[0], now: u.candidate, known: known, unit: &opened{path: u.path, formats: u.formats}})
		p.Of++
		p.Size += u.size
	}
	return works
}

// produceUnit reads what has changed in a unit and hands it to sink, the
// source "" last: with its end the unit is known as it is now.
func (im *importer) produceUnit(ctx context.Context, w *work, sink func(chunk) error) (err error) {
	alone := &work{format: w.format, now: w.now, unit: w.unit} // what is said of the unit, not of a source
	fail := func(err error) error {
		return sink(chunk{w: alone, end: true, skips: []Skip{{w.now.path, why(err)}}})
	}
	f, err := w.unit.look(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrOther):
		return sink(chunk{w: alone, end: true, other: true})
	case err != nil:
		return fail(err)
	}
	defer func() { err = errors.Join(err, w.unit.unit.Close()) }()
	w.format = *f
	if w.known, err = im.knownOf(ctx, w); err != nil {
		return err
	}
	sources, err := w.unit.unit.Sources(ctx)
	if err != nil {
		return fail(err)
	}
	for _, s := range sources {
		if s.Name == "" {
			continue
		}
		if err := im.produceSource(ctx, w, s, sink); err != nil {
			return err
		}
	}
	if skips := w.unit.unit.Skips(); len(skips) > 0 {
		if err := sink(chunk{w: alone, skips: skips}); err != nil {
			return err
		}
	}
	return im.produce(ctx, w.begin(), sink)
}

// look opens the unit as one of the first format that knows it.
func (o *opened) look(ctx context.Context) (*Format, error) {
	err := ErrOther
	for _, f := range o.formats {
		if o.unit, err = f.Look(ctx, o.path); !errors.Is(err, ErrOther) {
			return f, err
		}
	}
	return nil, err
}

// produceSource reads a source, if it has changed.
func (im *importer) produceSource(ctx context.Context, of *work, s Source, sink func(chunk) error) (err error) {
	w := &work{format: of.format, unit: of.unit, name: s.Name, patient: of.patient}
	w.now = candidate{path: sourcePath(of.unit.path, s.Name), size: s.Size}
	sum := sha256.Sum256([]byte(s.Stamp))
	w.now.inode = binary.BigEndian.Uint64(sum[:]) >> 1
	if w.known, err = im.knownOf(ctx, w); err != nil {
		return err
	}
	if s.Stamp != "" && unchanged(w.now, w.known) && w.known.Records > 0 {
		return nil
	}
	return im.produce(ctx, w.begin(), sink)
}

// knownOf returns what the store knows of the file that w reads.
func (im *importer) knownOf(ctx context.Context, w *work) (skein.SourceFile, error) {
	f, err := im.store.File(ctx, w.format.Name, w.now.path)
	if errors.Is(err, skein.ErrNotFound) {
		return skein.SourceFile{}, nil
	}
	return f, err
}

// readSource runs the stream of a source over what is there.
func (w *work) readSource(ctx context.Context, emit func(read) error) error {
	r, err := w.unit.unit.Open(ctx, w.name)
	if err != nil {
		return err
	}
	defer r.Close()
	in := bufio.NewReaderSize(ctxReader{ctx, r}, 64<<10)
	head, err := in.Peek(headLen)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	w.head = skein.Hash(digest(head))
	if _, err := io.CopyN(io.Discard, in, w.stream.at.Offset); err != nil {
		return err
	}
	return w.stream.run(in, emit)
}

// restFor is the shortest time between two looks at a unit that is watched.
// One that takes longer is left alone for twice as long as it took.
const restFor = 100 * time.Millisecond

// takeUnits reads what is new in units.
func (w *watch) takeUnits(ctx context.Context, units []unitFound) error {
	for _, u := range units {
		var p Progress
		for _, wk := range w.im.planUnits([]unitFound{u}, &p) {
			start := time.Now()
			if err := w.im.readUnit(ctx, wk); err != nil {
				return err
			}
			w.rest[u.path] = time.Now().Add(max(restFor, 2*time.Since(start)))
		}
	}
	return nil
}

// readUnit reads one unit.
func (im *importer) readUnit(ctx context.Context, w *work) error {
	var t *target
	return im.produceUnit(ctx, w, func(ch chunk) error {
		if t == nil || t.w != ch.w {
			t = newTarget(im, ch.w)
		}
		return im.takeChunk(ctx, t, ch)
	})
}
