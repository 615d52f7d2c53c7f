package interop

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
)

// A Discovery says what was found of one format at and under one path.
type Discovery struct {
	Format string
	Path   string // one of those that were asked for
	Files  int    // a folder or database that holds sessions counts as one
	Bytes  int64  // on disk
	New    int    // files that the store does not have
	Grown  int    // files that have changed since they were read

	// Sessions is the number of sessions, without those that another one started
	// and those that were purged here. A file that was never read counts as one if
	// a record begins a session, even if it turns out to be a copy of another's; a
	// database counts as many as have such a record.
	Sessions int
	Stored   int // sessions of these files that the store has
}

// Find looks at the files at and under paths as [Import] does and returns what was
// found of each format under each path, in the order of paths and formats. Files that
// are new or have changed are read up to where a session begins. In the report, Files,
// Unmatched, Removed and Skips are filled in.
//
// Errors are as those of [Import].
func Find(ctx context.Context, s skein.Store, formats []Format, paths []string) (all []Discovery, rep Report, err error) {
	defer skein.Wrapf(&err, "find")
	known, err := newKnownFiles(ctx, s, formats)
	if err != nil {
		return nil, rep, err
	}
	cs, err := walk(ctx, paths, &rep)
	if err != nil {
		return nil, rep, err
	}
	fd := finder{store: s, known: known, rep: &rep, planner: newPlanner(known, &reporting{Report: &rep}, Options{}), stored: map[string][]skein.SessionID{}, counts: map[place]*Discovery{}, destroyed: map[[sha256.Size]byte]bool{}}
	if err := fd.tombstones(ctx); err != nil {
		return nil, rep, err
	}
	for _, p := range paths {
		real, err := filepath.Abs(p)
		if err == nil {
			real, err = filepath.EvalSymlinks(real)
		}
		if err != nil { // it is named already
			real = p
		}
		fd.roots = append(fd.roots, real)
	}
	for path, f := range known.files {
		if at := known.onDisk(path); f.Session != "" {
			fd.stored[at] = append(fd.stored[at], f.Session)
		}
	}
	err = fd.look(ctx, cs)
	for i, p := range paths {
		for _, f := range formats {
			if n := fd.counts[place{i, f.Name}]; n != nil {
				n.Path = p
				all = append(all, *n)
			}
		}
	}
	return all, rep, err
}

// A finder is one call of Find.
type finder struct {
	store   skein.Store
	known   *knownFiles
	planner *planner
	rep     *Report
	roots   []string
	stored  map[string][]skein.SessionID // by path on disk
	counts  map[place]*Discovery

	destroyed map[[sha256.Size]byte]bool // tombstones
}

// A place is a root, by its number, and the name of a format.
type place struct {
	root   int
	format string
}

func (fd *finder) look(ctx context.Context, cs []candidate) error {
	files, units := fd.planner.gather(cs, fd.roots)
	if err := fd.files(ctx, files); err != nil {
		return err
	}
	for _, u := range units {
		if err := fd.unit(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

// files counts files that are not units by their paths.
func (fd *finder) files(ctx context.Context, files []candidate) error {
	for _, c := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		known, ok := fd.known.files[c.path]
		if f := fd.known.formats.format(known.Format); ok && f != nil && (known.unchanged(c) || known.unchanged(aloneUnit(c))) {
			fd.count(f.Name, c, 0)
			continue
		}
		m, err := fd.planner.match(c)
		switch {
		case errors.Is(err, fs.ErrNotExist), m.guess.Sure == Alike: // it was removed or renamed meanwhile; or it has been reported
		case err != nil:
			fd.rep.skip(c.path, why(err))
		case m.documents != nil:
			if err := fd.unit(ctx, unitFound{aloneUnit(c), m.documents, nil}); err != nil {
				return err
			}
		case m.format == nil:
			fd.rep.Unmatched++
		default:
			w := &fileJob{format: *m.format, now: c}
			switch begins, destroyed := fd.peek(ctx, w); {
			case destroyed:
				fd.rep.Files++
				fd.rep.Removed++
			case begins:
				fd.count(m.format.Name, c, 1)
			default:
				fd.count(m.format.Name, c, 0)
			}
		}
	}
	return nil
}

// fallen counts the files of what turned out not to be a unit.
func (fd *finder) fallen(ctx context.Context, files []candidate) error {
	was := fd.rep.counts()
	err := fd.files(ctx, files)
	fd.rep.asOne(was)
	return err
}

// unit counts a unit, which is opened unless it is known.
func (fd *finder) unit(ctx context.Context, u unitFound) error {
	known, ok := fd.known.files[u.path]
	if f := fd.known.formats.format(known.Format); ok && f != nil && known.unchanged(u.candidate) {
		fd.count(f.Name, u.candidate, 0)
		return nil
	}
	if fd.known.formats.elsewhere(u) {
		return fd.fallen(ctx, u.files)
	}
	o := opened{path: u.path, formats: fd.known.formats.mayBe(u)}
	f, err := o.look(ctx)
	if errors.Is(err, ErrOther) {
		return fd.fallen(ctx, u.files)
	}
	if err != nil {
		if errors.Is(err, ErrTorn) { // it will be read
			fd.count(f.Name, u.candidate, 1)
		}
		fd.rep.skip(u.path, why(err))
		return ctx.Err()
	}
	sources, err := o.unit.Sources(ctx)
	fd.count(f.Name, u.candidate, fd.sessions(ctx, f, &o, u.candidate, sources))
	if err != nil {
		fd.rep.skip(u.path, why(err))
	}
	if err := o.unit.Close(); err != nil {
		return err
	}
	return ctx.Err()
}

// sessions returns how many sessions the sources of a unit hold, without those that
// were purged here. The nameless source of a database belongs to no session.
func (fd *finder) sessions(ctx context.Context, f *Format, o *opened, now candidate, sources []Source) (n int) {
	for i, s := range sources {
		if s.Name == "" && (isDatabase(o.unit) || len(sources) > 1) {
			continue
		}
		begins, destroyed := true, false
		if i < maxPeeks {
			begins, destroyed = fd.peek(ctx, &fileJob{format: *f, now: now, unit: o, name: s.Name})
		}
		switch {
		case destroyed:
			fd.rep.Removed++
		case begins:
			n++
		}
	}
	return n
}

// count counts a file or unit with this many sessions, unless it has already been
// read in its current state.
func (fd *finder) count(format string, c candidate, sessions int) {
	at := -1
	for i, r := range fd.roots {
		if (r == c.path || within(r, c.path)) && (at < 0 || len(r) > len(fd.roots[at])) {
			at = i
		}
	}
	if at < 0 { // a unit that contains a root
		at = max(0, slices.IndexFunc(fd.roots, func(r string) bool { return within(c.path, r) || strings.HasPrefix(r, c.path) }))
	}
	key := place{at, format}
	if fd.counts[key] == nil {
		fd.counts[key] = &Discovery{Format: format}
	}
	n := fd.counts[key]
	known, ok := fd.known.files[c.path]
	switch {
	case !ok || known.Format != format:
		n.New++
	case !known.unchanged(c) && !known.unchanged(aloneUnit(c)):
		n.Grown++
	}
	ids := fd.stored[c.path]
	slices.Sort(ids)
	stored := len(slices.Compact(ids))
	n.Files++
	n.Bytes += c.size
	n.Stored += stored
	n.Sessions += max(stored, sessions)
	fd.rep.Files++
}

// maxPeeks is how many sources of one unit are examined to see whether they make a
// session; the others are assumed to.
const maxPeeks = 1000

var errSeen = errors.New("seen enough")

// peek reads a file, or a source of a unit, up to the first record that begins
// its session, and reports whether there is one and whether it was purged here. If
// the file cannot be read, it reports that there is one: the import will return the error.
func (fd *finder) peek(ctx context.Context, w *fileJob) (begins, destroyed bool) {
	if w.format.Load != nil {
		return true, false // it holds events, which begin a session
	}
	var main Begin
	w.begin()
	err := guarded(func() error {
		return w.read(ctx, func(r read) error {
			for _, b := range r.made.Begin {
				if b.Name == "" {
					main = b
				}
			}
			if len(r.made.Items) == 0 || r.made.Floating {
				return nil
			}
			return errSeen
		})
	})
	switch {
	case err == nil:
		return false, false
	case !errors.Is(err, errSeen):
		return true, false
	}
	o := skein.Origin{Format: w.format.Name, Path: sourcePath(w.file().Path, w.name), ID: string(main.ID)}
	if main.Created.Origin != nil {
		o.ID = main.Created.Origin.ID
	}
	return true, fd.destroyed[erase.TombOfID(main.ID)] || fd.destroyed[erase.TombOfOrigin(o)]
}

func guarded(do func() error) (err error) {
	defer guard(&err)
	return do()
}

// tombstones reads the tombstones of purged sessions.
func (fd *finder) tombstones(ctx context.Context) error {
	b, ok := skein.PartOf[erase.Tombstones](fd.store)
	if !ok {
		return nil
	}
	for stone, err := range b.Tombstones(ctx) {
		if err != nil {
			return err
		}
		fd.destroyed[stone.Hash] = true
	}
	return nil
}
