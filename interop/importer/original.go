package importer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/fileid"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/reconcile"
	"github.com/skein-dev/skein/interop/records"
)

// Which of two files is the original must not depend on which was read first. If a
// copy was read first, the events that both have are in its session. When the original
// comes, the copy's session is taken out, the original is read, and then the copy
// again, as the fork that it is. That is done only if nothing can be lost: everything
// in the session came from its file, and the file is there with every byte of it.
// Before anything is taken out, the original's state records what is to be read again,
// so that after a kill the next import does it.

// An original is a file that is older than the one that it would be a copy of.
type original struct {
	path   string
	format *interop.Format
	of     skein.SessionID // the session that it is older than
	again  []records.Ended // that this import took out already, including its own
}

// A redo collects what is to be read again after an original.
type redo struct {
	original
	records.Reread
	made  reconcile.Made        // by the records of the files
	apart []records.StoredApart // what other files had for the sessions
}

// maxRereads is how often a file may be found to be older than others in one import.
const maxRereads = 8

// errOriginal says that a file is read on only after its copies were taken out.
var errOriginal = errors.New("its copies were read before it")

// A rereader reads files again behind those that turn out to be older.
type rereader struct {
	store     skein.Store
	known     *discover.KnownFiles
	rep       *discover.Reporting
	all       bool                                          // swap all originals that are the wrong way round, and bring back what was deleted: see Options.Again
	read      func(context.Context, discover.Planned) error // reads and stores a file
	originals []original                                    // files whose copies were read before them
	again     map[skein.SessionID]bool                      // sessions that were taken out to be read again
	rereads   map[string]int                                // how often a path was among them
}

// brings reports whether a session is stored even if it was deleted: yes if an import
// took it out, no if a person deleted it.
func (rr *rereader) brings(id skein.SessionID) bool {
	return rr.all || rr.again[id] || rr.known.TookOut(id)
}

// checkOriginal returns errOriginal if the file is older than a session that it shares
// a record with, whose events are at places, and that session can be read again.
func (c *copier) checkOriginal(ctx context.Context, r records.ReadRecord, places []skein.Place) error {
	if c.w.Unit != nil || c.w.Packed || c.rep.Own != nil {
		return nil
	}
	for i, it := range r.Made.Items {
		id := places[i].Session
		if it.Session != "" || c.judged[id] {
			continue
		}
		c.judged[id] = true
		was, err := c.follow.event(ctx, places[i])
		if err != nil {
			return err
		}
		if older, err := c.isOlder(ctx, id, r.Rec.Raw, it.Event, was); !older || err != nil {
			return err
		}
		if yields, err := c.rereader.yields(ctx, id, c.file.Path, c.known.Formats.Format(c.w.Format.Name)); !yields || err != nil {
			return err
		}
		return errOriginal
	}
	return nil
}

// yields reports whether a session can be read again behind the file at path, which is
// older; then it will be.
func (rr *rereader) yields(ctx context.Context, id skein.SessionID, path string, format *interop.Format) (bool, error) {
	if rr.rereads[path] >= maxRereads {
		return false, nil
	}
	e := original{path: path, format: format, of: id}
	for _, out := range slices.Sorted(maps.Keys(rr.again)) {
		e.again = append(e.again, records.Ended{ID: out})
	}
	if ok, err := rr.redoable(ctx, id, &redo{original: e, made: reconcile.Made{}}); !ok || err != nil {
		return false, err
	}
	rr.originals = append(rr.originals, e)
	return true, nil
}

// isOlder reports whether the file is older than the one that session id was read
// from: by the times of a record that both have, which some programs set again in a
// copy; by what comes before the conversation, for a file that was begun after a part
// of its conversation is a copy; or else by the times of the files, some of which are
// lost when a backup is restored. Copies under one ID are one session, and a file whose
// records name the other session as theirs is a copy of it under another name.
func (c *copier) isOlder(ctx context.Context, id skein.SessionID, raw []byte, mine, theirs skein.Event) (bool, error) {
	s, err := c.store.Session(ctx, id)
	if err != nil {
		return false, err
	}
	o, paths := s.Origin, c.known.PathsOf(id)
	switch {
	case o == nil, o.Format != c.w.Format.Name, o.ID == "", c.file.ID == "", len(paths) != 1: // unknown
		return false, nil
	case o.ID == c.file.ID, bytes.Contains(raw, []byte(`"`+o.ID+`"`)):
		return false, nil
	}
	other, there := disk.Look(paths[0])
	if !there {
		return false, nil
	}
	if mine.Time != theirs.Time && mine.Time != 0 && theirs.Time != 0 {
		return mine.Time < theirs.Time, nil
	}
	if s.Base == 0 { // else the file's first records are in the parent
		began, err := began(ctx, c.store, &s)
		if err != nil {
			return false, err
		}
		if copied := began > theirs.Time; copied != (c.began > mine.Time) {
			return copied, nil
		}
	}
	return byTime(c.w.Format, c.w.Now, other) < 0, nil
}

// began returns when the first record of a session's file was written, if it is none of
// the conversation and says so; else 0.
func began(ctx context.Context, store skein.Store, s *skein.Session) (skein.Time, error) {
	for e, err := range store.Events(ctx, s.ID, s.Base) {
		switch {
		case err != nil || reconcile.Talks(e.Kind):
			return 0, err
		case e.Kind != skein.KindCreated && e.Time != 0:
			return e.Time, nil
		}
	}
	return 0, nil
}

// byTime says which of two files of a format comes first, as inOrder and ByAge do.
func byTime(f interop.Format, a, b disk.File) int {
	byName := 0
	if f.Order != nil {
		byName = cmp.Compare(f.Order(a.Path), f.Order(b.Path))
	}
	return cmp.Or(byName, cmp.Compare(a.Age(fileid.Born), b.Age(fileid.Born)), cmp.Compare(filepath.ToSlash(a.Path), filepath.ToSlash(b.Path)))
}

// redoable adds a session to x, and what must be read again with it: forks, which
// show its events, and children in the same file. It reports whether that can be
// done without losing anything.
func (rr *rereader) redoable(ctx context.Context, id skein.SessionID, x *redo) (bool, error) {
	s, err := rr.store.Session(ctx, id)
	if err != nil || s.Binned != 0 || s.Origin == nil || x.Has(id) {
		return err == nil && x.Has(id), err
	}
	paths := rr.known.PathsOf(id)
	switch {
	case len(paths) == 1:
		if ok, err := rr.rereadable(ctx, x, paths[0]); !ok || err != nil {
			return false, err
		}
	case len(paths) > 1, !slices.Contains(x.Files, s.Origin.Path):
		return false, nil
	}
	for f, err := range skein.SourcesOf(rr.store).Files(ctx, x.format.Name) { // a file that only repeats it is forgotten with it
		if err != nil {
			return false, err
		}
		if f.CopyOf != id || f.Path == x.path || slices.Contains(x.Files, f.Path) {
			continue
		}
		if ok, err := rr.rereadable(ctx, x, f.Path); !ok || err != nil {
			return false, err
		}
	}
	var apart []skein.Event
	for ev, err := range rr.store.Events(ctx, id, s.Base) {
		switch {
		case err != nil:
			return false, err
		case strings.HasPrefix(string(ev.ClientID), apartPrefix):
			apart = append(apart, ev)
		case !x.made.Has(ev):
			return false, nil
		}
	}
	if ok, err := rr.giveAgain(ctx, x, &s, apart); !ok || err != nil {
		return false, err
	}
	for _, bin := range []bool{false, true} {
		for k, err := range rr.store.Sessions(ctx, skein.Filter{Parent: id, IncludeEmpty: true, Bin: bin}) {
			if err != nil {
				return false, err
			}
			if k.Parent.Why == skein.Child && (k.Origin == nil || len(rr.known.PathsOf(k.ID)) > 0 || !slices.Contains(x.Files, k.Origin.Path)) {
				continue // it has no part of it, and will find it again
			}
			if ok, err := rr.redoable(ctx, k.ID, x); !ok || err != nil {
				return false, err
			}
		}
	}
	if len(paths) == 0 {
		x.Kids = append(x.Kids, records.Ended{ID: id, Last: s.Last})
	} else {
		x.Sessions = append(x.Sessions, records.Ended{ID: id, Last: s.Last})
	}
	return true, nil
}

// giveAgain adds to x the events that other files had for session s. It reports whether it is
// known of each for which record it is: whatever session has that then gets it again.
func (rr *rereader) giveAgain(ctx context.Context, x *redo, s *skein.Session, apart []skein.Event) (bool, error) {
	if len(apart) == 0 {
		return true, nil
	}
	for ev, err := range rr.store.Events(ctx, s.ID, s.Base) {
		if err != nil {
			return false, err
		}
		of := reconcile.WithoutMark(ev.ClientID)
		if key, _, ok := reconcile.PartOf(of); ok {
			of = key
		}
		apart = slices.DeleteFunc(apart, func(a skein.Event) bool {
			is := a.ClientID == apartID(of, a.Payload)
			if is {
				x.apart = append(x.apart, records.StoredApart{Of: of, Kind: a.Kind, Time: a.Time, Payload: a.Payload, Moved: true})
			}
			return is
		})
	}
	return len(apart) == 0, nil
}

// rereadable adds a file to x, and reports whether all that is stored of it came
// from it and is still in it.
func (rr *rereader) rereadable(ctx context.Context, x *redo, path string) (bool, error) {
	f, err := rr.known.Stored(ctx, x.format.Name, path)
	st := records.DecodeState(f.State)
	if err != nil || f.Path == "" || disk.PlainPath(path) != path || st.Intent != nil || len(st.Echoes) > 0 || st.Rewriting || st.Withdrew {
		return false, err
	}
	on, _, err := disk.Open(path)
	if err != nil {
		return false, nil // it cannot be read now
	}
	defer on.Close()
	made, err := madeBy(ctx, rr.store, f)
	if err != nil {
		return false, err
	}
	for id := range made {
		x.made[id] = true
	}
	var at int64
	for r, err := range skein.SourcesOf(rr.store).Records(ctx, f.Format, f.Path, 0) {
		if err != nil {
			return false, err
		}
		b := make([]byte, len(r.Raw))
		if _, err := io.ReadFull(on, b); err != nil || !bytes.Equal(b, r.Raw) || r.Offset != at {
			return false, nil
		}
		at += int64(len(b))
	}
	x.Files = append(x.Files, path)
	if y := st.Reread; y != nil { // it is forgotten with the file, so this one's copies come after x too
		x.Files, x.again, x.Kids = append(x.Files, y.Files...), append(x.again, y.Sessions...), append(x.Kids, y.Kids...)
	}
	return true, nil
}

// RereadAll reads the files again that are copies of files read after them, in this
// import or one that was stopped. It returns only an error that would affect the next
// file too.
func (rr *rereader) RereadAll(ctx context.Context) error {
	for path, k := range rr.known.Files {
		f := rr.known.Formats.Format(k.Format)
		if !k.Reread || f == nil {
			continue
		}
		if err := rr.readAgain(ctx, f, path); err != nil {
			return err
		}
	}
	for len(rr.originals) > 0 {
		e := rr.originals[0]
		rr.originals = rr.originals[1:]
		if err := rr.rereadBehind(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// rereadBehind takes out the copies of a file, then reads it and after it the copies.
func (rr *rereader) rereadBehind(ctx context.Context, e original) error {
	rr.rereads[e.path]++
	if err := rr.takeOut(ctx, e); err != nil {
		if err := rr.rep.Fails(ctx, e.path, err); err != nil {
			return err
		}
	}
	return rr.readAgain(ctx, e.format, e.path)
}

// takeOut deletes the copies of a file, once its state names them. They are checked
// again first: since the file was found, something may have been said in them, or they
// may have been read again themselves.
func (rr *rereader) takeOut(ctx context.Context, e original) error {
	x := redo{original: e, made: reconcile.Made{}}
	ok, err := rr.redoable(ctx, e.of, &x)
	if err != nil && !errors.Is(err, skein.ErrNotFound) {
		return err
	}
	if !ok { // it stays unchanged
		x.Reread, x.again, x.apart, rr.rereads[e.path] = records.Reread{}, e.again, nil, maxRereads
	}
	f, err := rr.known.Stored(ctx, e.format.Name, e.path)
	if err != nil {
		return err
	}
	st := records.DecodeState(f.State)
	if st.Reread == nil {
		st.Reread = &records.Reread{}
	}
	y := st.Reread
	y.Files, y.Sessions, y.Kids = append(y.Files, x.Files...), slices.Concat(y.Sessions, x.Sessions, x.again), append(y.Kids, x.Kids...)
	st.Apart = append(st.Apart, x.apart...)
	f.Format, f.Path, f.State = e.format.Name, e.path, st.Encode()
	f.CopyOf, f.Size, f.Mtime, f.Inode = "", -1, 0, 0
	if err := rr.note(ctx, f); err != nil {
		return err
	}
	for _, s := range x.Sessions {
		switch _, err := skein.LifecycleOf(rr.store).Delete(ctx, s.ID, skein.Deletion{After: s.Last}); {
		case errors.Is(err, skein.ErrLocked), errors.Is(err, skein.ErrConflict): // somebody is writing to it: it stays unchanged
			rr.rereads[e.path] = maxRereads
			return nil
		case err != nil && !errors.Is(err, skein.ErrNotFound):
			return err
		}
	}
	return nil
}

// readAgain reads a file whose copies were taken out, and then the copies.
func (rr *rereader) readAgain(ctx context.Context, format *interop.Format, path string) error {
	f, err := rr.known.Stored(ctx, format.Name, path)
	if err != nil {
		return rr.rep.Fails(ctx, path, err)
	}
	y := records.DecodeState(f.State).Reread
	if y == nil { // it could not be stored
		return nil
	}
	if len(y.Files) == 0 && f.Size != -1 {
		return rr.ends(ctx, f)
	}
	copies, err := rr.takenOut(ctx, format.Name, y.Files)
	if err == nil && f.Size == -1 { // nothing of it has been read yet, so none of the sessions are its own
		err = rr.orphans(ctx, format.Name, y.Kids)
	}
	if err != nil {
		return rr.rep.Fails(ctx, path, err)
	}
	for _, x := range slices.Concat(y.Sessions, y.Kids) {
		rr.again[x.ID] = true
	}
	defer clear(rr.again)
	for i, c := range append([]disk.File{{Path: path}}, copies...) {
		if err := rr.readOne(ctx, format, c.Path, i > 0); err != nil {
			return err
		}
	}
	if left, err := rr.takenOut(ctx, format.Name, append(y.Files, path)); err != nil || len(left) > 0 {
		return err
	}
	if f, err = rr.known.Stored(ctx, format.Name, path); err != nil {
		return rr.rep.Fails(ctx, path, err)
	}
	return rr.ends(ctx, f)
}

// ends notes in the state of a file that its copies were read again. Sessions that did
// not begin again stay listed: what is left of their files is in other sessions, but
// another file may have more of them.
func (rr *rereader) ends(ctx context.Context, f skein.SourceFile) error {
	st := records.DecodeState(f.State)
	was := st.Reread
	st.Reread = nil
	for _, x := range slices.Concat(was.Sessions, was.Kids) {
		switch _, err := rr.store.Session(ctx, x.ID); {
		case errors.Is(err, skein.ErrNotFound):
			if st.Reread == nil {
				st.Reread = &records.Reread{}
			}
			if !st.Reread.Has(x.ID) {
				st.Reread.Sessions = append(st.Reread.Sessions, x)
			}
		case err != nil:
			return rr.rep.Fails(ctx, f.Path, err)
		}
	}
	if st.Reread != nil && len(was.Files)+len(was.Kids) == 0 && len(was.Sessions) == len(st.Reread.Sessions) {
		return nil
	}
	f.State = st.Encode()
	if err := rr.note(ctx, f); err != nil {
		return rr.rep.Fails(ctx, f.Path, err)
	}
	return nil
}

// orphans deletes the children whose file was taken out. The error is the store's.
func (rr *rereader) orphans(ctx context.Context, format string, kids []records.Ended) error {
	for _, x := range kids {
		s, err := rr.store.Session(ctx, x.ID)
		if err == nil && s.Origin != nil {
			if _, err = skein.SourcesOf(rr.store).File(ctx, format, s.Origin.Path); errors.Is(err, skein.ErrNotFound) {
				_, err = skein.LifecycleOf(rr.store).Delete(ctx, x.ID, skein.Deletion{After: x.Last})
			}
		}
		if err != nil && !errors.Is(err, skein.ErrNotFound) && !errors.Is(err, skein.ErrLocked) && !errors.Is(err, skein.ErrConflict) {
			return err
		}
	}
	return nil
}

// takenOut returns, in order, those of the files at paths that the store does not know
// or has not read to the end. The error is the store's.
func (rr *rereader) takenOut(ctx context.Context, format string, paths []string) (out []disk.File, err error) {
	for _, path := range paths {
		switch f, err := skein.SourcesOf(rr.store).File(ctx, format, path); {
		case errors.Is(err, skein.ErrNotFound):
			rr.known.Forget(path)
		case err != nil:
			return nil, err
		case f.Size > 0:
			continue
		}
		if c, there := disk.Look(path); there {
			out = append(out, c)
		}
	}
	f := rr.known.Formats.Format(format)
	slices.SortFunc(out, func(a, b disk.File) int { return byTime(*f, a, b) })
	return out, nil
}

// readOne reads a file that the walk did not find, or found before. What a copy has
// was reported when it was first read.
func (rr *rereader) readOne(ctx context.Context, format *interop.Format, path string, isCopy bool) error {
	c, there := disk.Look(path)
	if !there {
		return nil
	}
	pl := discover.Planned{Format: format, Now: c}
	if known, ok := rr.known.Files[path]; ok && known.Format == format.Name {
		pl.Was = &known
	}
	if isCopy {
		was := *rr.rep.Report
		*rr.rep.Report = interop.Report{}
		defer func() {
			is := rr.rep.Report
			was.Add(is.Unimported)
			*is = was
		}()
	}
	return rr.read(ctx, pl)
}

// note stores what is known about a file.
func (rr *rereader) note(ctx context.Context, f skein.SourceFile) error {
	_, err := rr.store.Append(ctx, skein.Batch{Session: f.Session, Import: &skein.Import{File: f}})
	if err == nil {
		rr.known.Keep(f)
	}
	return err
}
