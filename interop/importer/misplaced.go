package importer

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/reconcile"
	"github.com/skein-dev/skein/interop/records"
)

// Earlier versions took the file that was read first for the original, and so some
// stores have the original of two files as a fork of its copy. If the user names
// the original, or imports it again, the two are swapped: the fork is taken out
// first, then its parent, and both are read again as original.go does. At every
// moment an existing file records what is to be read again.

// turnAll swaps originals and copies that are the wrong way round among the files given.
func (rr *rereader) turnAll(ctx context.Context, found []disk.File) error {
	for _, c := range found {
		if k, ok := rr.known.Files[c.Path]; !ok || k.Session == "" || !rr.all && !rr.rep.IsNamed(c.Path) {
			continue
		}
		e, err := rr.misplaced(ctx, c)
		if err == nil && e.format != nil {
			err = rr.turn(ctx, e)
		}
		if err != nil {
			if err := rr.rep.Fails(ctx, c.Path, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// misplaced returns as an original a file whose session is a fork of one that was read
// from a younger file; the zero original for any other.
func (rr *rereader) misplaced(ctx context.Context, c disk.File) (original, error) {
	k := rr.known.Files[c.Path]
	format := rr.known.Formats.Format(k.Format)
	s, err := rr.store.Session(ctx, k.Session)
	if err != nil || format == nil || !s.Parent.IsFork() || len(rr.known.PathsOf(s.ID)) != 1 || rr.rereads[c.Path] >= maxRereads {
		return original{}, skip(err)
	}
	of, err := rr.store.Session(ctx, s.Parent.Session)
	paths := rr.known.PathsOf(s.Parent.Session)
	if err != nil || len(paths) != 1 || rr.known.Files[paths[0]].Format != k.Format || of.Origin == nil || s.Origin == nil || of.Origin.ID == s.Origin.ID || of.Origin.ID == "" {
		return original{}, skip(err)
	}
	copied, there := disk.Look(paths[0])
	if !there {
		return original{}, nil
	}
	if byTime(*format, c, copied) >= 0 {
		if of.Base > 0 {
			return original{}, nil
		}
		mine, err := began(ctx, rr.store, &s)
		if err != nil || mine == 0 {
			return original{}, err
		}
		if theirs, err := began(ctx, rr.store, &of); err != nil || theirs <= mine {
			return original{}, err
		}
	}
	for r, err := range skein.SourcesOf(rr.store).Records(ctx, k.Format, c.Path, 0) {
		if err != nil || bytes.Contains(r.Raw, []byte(`"`+of.Origin.ID+`"`)) { // it is a copy under another name
			return original{}, err
		}
	}
	return original{path: c.Path, format: format, of: of.ID}, nil
}

// skip returns err, or nil if it says that a session does not exist.
func skip(err error) error {
	if errors.Is(err, skein.ErrNotFound) {
		return nil
	}
	return err
}

// turn takes out all that depends on the session that e is older than, then that
// session, and reads them again.
func (rr *rereader) turn(ctx context.Context, e original) error {
	x := redo{original: e, made: reconcile.Made{}}
	if ok, err := rr.redoable(ctx, e.of, &x); !ok || err != nil {
		return err
	}
	young := rr.known.PathsOf(e.of)[0]
	rest := records.Reread{Sessions: x.Sessions[:len(x.Sessions)-1], Kids: x.Kids} // the last one is e.of
	for _, path := range x.Files {
		if path != young {
			rest.Files = append(rest.Files, path)
		}
	}
	f, err := rr.known.Stored(ctx, e.format.Name, young)
	if err != nil {
		return err
	}
	if err := rr.noteReread(ctx, f, rest); err != nil {
		return err
	}
	for _, s := range rest.Sessions {
		_, err := skein.LifecycleOf(rr.store).Delete(ctx, s.ID, skein.Deletion{After: s.Last})
		if errors.Is(err, skein.ErrLocked) || errors.Is(err, skein.ErrConflict) { // somebody is writing to it: everything stays unchanged
			rr.rereads[e.path] = maxRereads
			return rr.readAgain(ctx, e.format, young)
		}
		if err := skip(err); err != nil {
			return err
		}
	}
	if err := rr.orphans(ctx, e.format.Name, rest.Kids); err != nil {
		return err
	}
	rr.known.Forget(e.path)
	rest.Files = slices.DeleteFunc(rest.Files, func(path string) bool { return path == e.path })
	if err := rr.noteReread(ctx, skein.SourceFile{Format: e.format.Name, Path: e.path, Size: -1}, rest); err != nil {
		return err
	}
	if err := rr.rereadBehind(ctx, e); err != nil {
		return err
	}
	return rr.readAgain(ctx, e.format, young) // does nothing unless it stayed
}

// noteReread stores what is to be read again after a file.
func (rr *rereader) noteReread(ctx context.Context, f skein.SourceFile, y records.Reread) error {
	st := records.DecodeState(f.State)
	st.Reread = &y
	f.State = st.Encode()
	return rr.note(ctx, f)
}
