package writeback

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/records"
)

// A Synced says what [Sync] did.
type Synced struct {
	Session skein.SessionID `json:"session"`
	ID      string          `json:"id"`             // its ID in its program
	Path    string          `json:"path"`           // of the file or unit that was written to, absolute
	Name    string          `json:"name,omitempty"` // of the source in a unit
	Events  int             `json:"events"`         // that were written; 0 if there was nothing new
	Losses  interop.Losses  `json:"losses,omitempty"`
	Damaged []string        `json:"damaged,omitempty"` // what of it cannot be read here, in words; a placeholder was written in place of a new event
	Report  interop.Report  `json:"-"`                 // what was imported from the file, if it had changed
}

// Sync writes what is new in a session into the file that it came from, or was
// exported to and read from since, as f's program would have. If the file has changed
// since it was read, that is imported first; if both went on, nothing is written: the
// file's branch is then a fork of the session.
//
// The error wraps [interop.ErrChanged] in that case, [skein.ErrNotFound] if there is no
// such session or the file is gone, [skein.ErrInvalid] if the session did not
// come from such a file or f cannot write one, and [skein.ErrLocked] if the
// program has it open; others are the store's and the system's.
func Sync(ctx context.Context, s skein.Store, f interop.Format, id skein.SessionID) (done Synced, err error) {
	return SyncIn(ctx, s, f, id, nil)
}

// SyncIn is like [Sync], but writes only to a file that is in one of places, files and
// folders; if places is empty, any file will do. The error is as Sync's, and wraps
// [skein.ErrInvalid] if no file of the session is there.
func SyncIn(ctx context.Context, s skein.Store, f interop.Format, id skein.SessionID, places []string) (done Synced, err error) {
	defer skein.Wrapf(&err, "interop: sync %s with %s", id, f.Name)
	defer func() {
		if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, skein.ErrNotFound) {
			err = fmt.Errorf("%w: %w", skein.ErrNotFound, err)
		}
	}()
	y := &syncer{syncedSource: syncedSource{format: f}, places: places}
	hurt := damages{}
	y.store = legible(s, &y.format, hurt)
	y.mended = mending{s, skein.SourcesOf(s), &y.format, y.store.found}
	done.Session = id
	defer func() { done.Damaged = hurt[id] }()
	if y.sess, y.from, err = y.origin(ctx, id); err != nil {
		return done, err
	}
	y.unit, y.name = records.SplitPath(&f, y.from.File.Path)
	if _, packed := disk.PlainName(y.unit); packed {
		return done, fmt.Errorf("%w: %s is packed; unpack it first, and import it", skein.ErrInvalid, y.unit)
	}
	if records.DecodeState(y.from.File.State).Lone {
		return done, fmt.Errorf("%w: %s is not where %s keeps its files, and was imported alone", skein.ErrInvalid, y.unit, f.Name)
	}
	y.below, y.home = homeOf(&f, y.unit)
	done.ID, done.Path, done.Name = y.from.File.ID, y.unit, y.name
	if !y.from.WentOn && y.intent() == nil {
		if same, err := y.stands(ctx); same || err != nil {
			return done, err
		}
	}
	release, err := records.Hold(ctx, s, "skein sync", y.unit, records.Patience)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if y.sess, y.from, err = y.origin(ctx, id); err != nil { // another sync may have written to it
		return done, err
	}
	y.sweep()
	if y.intent() != nil {
		if err := y.goOn(ctx, &done); err != nil {
			return done, err
		}
	}
	err = y.fresh(ctx, &done)
	if done.ID, done.Name = y.from.File.ID, y.name; err != nil || !y.from.WentOn {
		return done, err
	}
	return done, y.locked(ctx, func() error { return y.write(ctx, &done) })
}

// locked calls write, which writes to the source, while its program cannot.
func (y *syncer) locked(ctx context.Context, write func() error) (err error) {
	if y.format.Lock != nil {
		unlock, err2 := y.format.Lock(ctx, y.unit, y.name)
		if err2 != nil {
			return err2
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	return write()
}

// A syncer is one call of Sync.
type syncer struct {
	syncedSource
	mended skein.Store // the store with only its source records mended, not its events: an import may store what it reads here
	places []string    // where a file must be; anywhere if empty
	sess   skein.Session
}

// sweep removes what a process that was killed has left around the source.
func (y *syncer) sweep() {
	var around []string
	if y.format.Around != nil {
		for _, dir := range y.format.Around(filepath.ToSlash(y.unit)) {
			around = append(around, filepath.FromSlash(dir))
		}
	}
	sweep(y.unit, around)
}

// origin returns a session and where it came from.
func (y *syncer) origin(ctx context.Context, id skein.SessionID) (sess skein.Session, p importer.ProvenanceOf, err error) {
	if sess, err = y.store.Session(ctx, id); err != nil {
		return sess, p, err
	}
	if y.format.Write == nil {
		return sess, p, fmt.Errorf("%w: format %s can only be read", skein.ErrInvalid, y.format.Name)
	}
	p, err = importer.Provenance(ctx, y.store, y.format.Name, sess)
	goesOn := p.File.Session
	if err == nil && !(p.Found && importer.IsIn(y.places, p.File.Path)) {
		p, err = importer.HandedOver(ctx, y.store, y.format.Name, sess, y.places)
	}
	switch {
	case err != nil || p.Found:
	case goesOn != "" && goesOn != sess.ID:
		err = fmt.Errorf("%w: its file continues with session %s", skein.ErrInvalid, goesOn)
	default:
		err = fmt.Errorf("%w: no file of %s contains this session", skein.ErrInvalid, y.format.Name)
	}
	return sess, p, err
}

// fresh imports what is new in the file.
func (y *syncer) fresh(ctx context.Context, done *Synced) error {
	same, err := y.stands(ctx)
	if err != nil || same && !y.from.Mixed {
		return err
	}
	if done.Report, err = y.bring(ctx); err != nil {
		return err
	}
	before := y.sess.Last
	if err := y.again(ctx); err != nil {
		return err
	}
	switch same, err := y.stands(ctx); {
	case err != nil:
		return err
	case !same:
		return fmt.Errorf("%s: %w: its program is writing it", y.unit, interop.ErrChanged)
	case y.from.Mixed, y.from.WentOn && y.sess.Last > before:
		return fmt.Errorf("%s: %w: both the file and the session have new messages", y.unit, interop.ErrChanged)
	}
	return nil
}

// again looks up where the session came from once more, after an import.
func (y *syncer) again(ctx context.Context) (err error) {
	y.sess, y.from, err = y.origin(ctx, y.sess.ID)
	if errors.Is(err, skein.ErrInvalid) { // a fork has the file now
		err = fmt.Errorf("%s: %w: both the file and the session have new messages", y.unit, interop.ErrChanged)
	}
	return err
}

// bring imports the unit.
func (y *syncer) bring(ctx context.Context) (rep interop.Report, err error) {
	im, err := y.read(ctx, &rep, nil)
	if err == nil {
		err = im.PlaceApart(ctx)
	}
	return rep, err
}

// read imports what is in the unit now. adopts is what it was just given; nil if its
// content is the program's.
func (y *syncer) read(ctx context.Context, rep *interop.Report, adopts *records.Adoption) (*importer.Pipeline, error) {
	own := &discover.Syncing{Path: y.from.File.Path, Adopts: adopts}
	im, err := importer.NewPipeline(ctx, y.mended, []interop.Format{y.format}, interop.Options{}, &discover.Reporting{Report: rep, Own: own})
	if err != nil {
		return nil, err
	}
	for _, path := range []string{y.unit, own.Path} { // the source no longer matches what is stored of it
		f := im.Known.Files[path]
		f.Size = -1
		im.Known.Files[path] = f
	}
	found, err := disk.Walk(ctx, []string{y.unit}, rep)
	if err == nil {
		err = im.Import(ctx, found, discover.Still, []string{y.unit})
	}
	if err == nil {
		err = own.Err
	}
	return im, err
}
