package discover

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/records"
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

	Since skein.Time // when the first session of the files that were never read began, as far as their records say; 0 if unknown
}

// Find looks at the files at and under paths as [importer.Import] does and returns what was
// found of each format under each path, in the order of paths and formats. Files that
// are new or have changed are read up to where a session begins. In the report, Files,
// Unmatched, Removed and Skips are filled in.
//
// Errors are as those of [importer.Import].
func Find(ctx context.Context, s skein.Store, formats []interop.Format, paths []string) (all []Discovery, rep interop.Report, err error) {
	defer skein.Wrapf(&err, "find")
	known, err := Known(ctx, s, formats)
	if err != nil {
		return nil, rep, err
	}
	cs, err := disk.Walk(ctx, paths, &rep)
	if err != nil {
		return nil, rep, err
	}
	fd := finder{store: s, known: known, rep: &rep, planner: NewPlanner(known, &Reporting{Report: &rep}, interop.Options{}), stored: map[string][]skein.SessionID{}, counts: map[place]*Discovery{}, destroyed: map[[sha256.Size]byte]bool{}}
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
	for path, f := range known.Files {
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
	known   *KnownFiles
	planner *Planner
	rep     *interop.Report
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

func (fd *finder) look(ctx context.Context, cs []disk.File) error {
	files, units := fd.planner.Gather(cs, fd.roots)
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
func (fd *finder) files(ctx context.Context, files []disk.File) error {
	for _, c := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		known, ok := fd.known.Files[c.Path]
		if f := fd.known.Formats.Format(known.Format); ok && f != nil && (known.Unchanged(c) || known.Unchanged(aloneUnit(c))) {
			fd.count(f.Name, c, glimpse{})
			continue
		}
		m, err := fd.planner.match(c)
		switch {
		case errors.Is(err, fs.ErrNotExist), m.guess.Sure == interop.Alike: // it was removed or renamed meanwhile; or it has been reported
		case err != nil:
			fd.rep.AddSkip(c.Path, disk.Why(err))
		case m.documents != nil:
			if err := fd.unit(ctx, UnitFound{aloneUnit(c), m.documents, nil}); err != nil {
				return err
			}
		case m.format == nil:
			fd.planner.countUnmatched(c)
		default:
			w := &records.FileJob{Format: *m.format, Now: c}
			seen, destroyed := fd.peek(ctx, w)
			if destroyed {
				fd.rep.Files++
				fd.rep.Removed++
				continue
			}
			fd.count(m.format.Name, c, seen)
		}
	}
	return nil
}

// fallen counts the files of what turned out not to be a unit.
func (fd *finder) fallen(ctx context.Context, files []disk.File) (err error) {
	fd.planner.asOne(files, func() { err = fd.files(ctx, files) })
	return err
}

// unit counts a unit, which is opened unless it is known.
func (fd *finder) unit(ctx context.Context, u UnitFound) error {
	known, ok := fd.known.Files[u.Path]
	if f := fd.known.Formats.Format(known.Format); ok && f != nil && known.Unchanged(u.File) {
		fd.count(f.Name, u.File, glimpse{})
		return nil
	}
	if fd.known.Formats.elsewhere(u) {
		return fd.fallen(ctx, u.files)
	}
	o := records.Opened{Path: u.Path, Formats: fd.known.Formats.mayBe(u)}
	f, err := o.Look(ctx)
	if errors.Is(err, interop.ErrOther) {
		return fd.fallen(ctx, u.files)
	}
	if err != nil {
		if errors.Is(err, interop.ErrTorn) { // it will be read
			fd.count(f.Name, u.File, glimpse{sessions: 1})
		}
		fd.rep.AddSkip(u.Path, disk.Why(err))
		return ctx.Err()
	}
	sources, err := o.Unit.Sources(ctx)
	fd.count(f.Name, u.File, fd.sessions(ctx, f, &o, u.File, sources))
	if err != nil {
		fd.rep.AddSkip(u.Path, disk.Why(err))
	}
	if err := o.Unit.Close(); err != nil {
		return err
	}
	return ctx.Err()
}

// sessions returns which sessions the sources of a unit hold, without those that
// were purged here. The nameless source of a database belongs to no session.
func (fd *finder) sessions(ctx context.Context, f *interop.Format, o *records.Opened, now disk.File, sources []interop.Source) (all glimpse) {
	for i, s := range sources {
		if s.Name == "" && (records.IsDatabase(o.Unit) || len(sources) > 1) {
			continue
		}
		seen, destroyed := glimpse{sessions: 1}, false
		if i < maxPeeks {
			seen, destroyed = fd.peek(ctx, &records.FileJob{Format: *f, Now: now, Unit: o, Name: s.Name})
		}
		if destroyed {
			fd.rep.Removed++
			continue
		}
		all.sessions += seen.sessions
		all.since = earlier(all.since, seen.since)
	}
	return all
}

// A glimpse is what the beginning of a file, or of the sources of a unit, says.
type glimpse struct {
	sessions int        // that begin there
	since    skein.Time // when the first of them began; 0 if unknown
}

// earlier returns the earlier of two times, of which 0 is unknown.
func earlier(a, b skein.Time) skein.Time {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// count counts a file or unit with these sessions, unless it has already been
// read in its current state.
func (fd *finder) count(format string, c disk.File, seen glimpse) {
	at := -1
	for i, r := range fd.roots {
		if (r == c.Path || disk.Within(r, c.Path)) && (at < 0 || len(r) > len(fd.roots[at])) {
			at = i
		}
	}
	if at < 0 { // a unit that contains a root
		at = max(0, slices.IndexFunc(fd.roots, func(r string) bool { return disk.Within(c.Path, r) || strings.HasPrefix(r, c.Path) }))
	}
	key := place{at, format}
	if fd.counts[key] == nil {
		fd.counts[key] = &Discovery{Format: format}
	}
	n := fd.counts[key]
	known, ok := fd.known.Files[c.Path]
	switch {
	case !ok || known.Format != format:
		n.New++
	case !known.Unchanged(c) && !known.Unchanged(aloneUnit(c)):
		n.Grown++
	}
	ids := fd.stored[c.Path]
	slices.Sort(ids)
	stored := len(slices.Compact(ids))
	n.Files++
	n.Bytes += c.Size
	n.Stored += stored
	n.Sessions += max(stored, seen.sessions)
	n.Since = earlier(n.Since, seen.since)
	fd.rep.Files++
}

// maxPeeks is how many sources of one unit are examined to see whether they make a
// session; the others are assumed to.
const maxPeeks = 1000

var errSeen = errors.New("seen enough")

// peek reads a file, or a source of a unit, up to the first record that begins
// its session, and returns whether there is one and whether it was purged here. If
// the file cannot be read, it says that there is one: the import will return the error.
func (fd *finder) peek(ctx context.Context, w *records.FileJob) (seen glimpse, destroyed bool) {
	one := glimpse{sessions: 1}
	if w.Format.Load != nil {
		return one, false // it holds events, which begin a session
	}
	var main interop.Begin
	w.Begin()
	err := guarded(func() error {
		return w.Read(ctx, func(r records.ReadRecord) error {
			for _, b := range r.Made.Begin {
				if b.Name == "" {
					main = b
				}
			}
			if len(r.Made.Items) == 0 || r.Made.Floating {
				return nil
			}
			one.since = r.Made.Items[0].Event.Time
			return errSeen
		})
	})
	switch {
	case err == nil:
		return seen, false
	case !errors.Is(err, errSeen):
		return one, false
	}
	o := skein.Origin{Format: w.Format.Name, Path: records.SourcePath(w.File().Path, w.Name), ID: string(main.ID)}
	if main.Created.Origin != nil {
		o.ID = main.Created.Origin.ID
	}
	return one, fd.destroyed[erase.TombOfID(main.ID)] || fd.destroyed[erase.TombOfOrigin(o)]
}

func guarded(do func() error) (err error) {
	defer records.Guard(&err)
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
