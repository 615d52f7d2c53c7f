package writeback

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/records"
	"github.com/skein-dev/skein/replay"
)

// A sideWriter writes what a format cannot hold beside what was written in it: see SideHead.
type sideWriter struct {
	destination
	store skein.Store // see legible
	hurt  damages
	none  bool // write no side files
}

// side writes the side file of what was just written, adds what is missing of the
// session there to its losses, and returns the file's path. u is the unit that it is
// in, if that is open.
func (s *sideWriter) side(ctx context.Context, w *inBatch, u *records.Opened) (string, error) {
	t := w.wrote.Texts[0]
	at := filepath.Join(s.home, filepath.FromSlash(t.Path))
	k := newLack()
	list, sum, err := s.written(ctx, t, u, k)
	if err != nil {
		return "", err
	}
	s.logs(w.wrote.Texts, k)
	for _, t := range w.wrote.Texts {
		clear(t.Lines) // they were written, and may be long
	}
	if !k.hangs && w.above.Path != "" {
		in := u
		if w.above.Path != t.Path {
			in = nil
		}
		if k.hangs, err = s.repeats(ctx, k, w.above, in); err != nil {
			return "", err
		}
	}
	k.tell(w.sess, w.events, &w.wrote.Losses)
	s.itsModel(w.sess, &w.wrote.Losses)
	path := records.SidePath(at, t.Name)
	if err := s.sideAt(ctx, path, w.sess, list, sum); err != nil {
		return "", err
	}
	return path, s.knows(ctx, *w, list)
}

// sideAt writes the side file of a source whose records are list, and whose checksum
// is sum.
func (s *sideWriter) sideAt(ctx context.Context, path string, sess skein.Session, list records.Echoes, sum string) error {
	files, err := s.sources(ctx, sess)
	if err != nil {
		return err
	}
	head := records.SideHead{Side: 1, Format: s.format.Name, Session: sess.ID, Echoes: list, Sum: sum, Last: sess.Last, Sources: len(files) > 0}
	return writeSide(path, func(w io.Writer) error {
		if _, err := w.Write(append(skein.MustJSON(head), '\n')); err != nil {
			return err
		}
		if head.Sources {
			if err := s.sideSources(ctx, w, files); err != nil {
				return err
			}
		}
		_, err := replay.Write(ctx, w, s.store, sess.ID)
		return err
	})
}

// knows tells the store the new records of a source that was replaced, if the store
// knew the old ones.
func (s *sideWriter) knows(ctx context.Context, w inBatch, list records.Echoes) error {
	if w.known == nil {
		return nil
	}
	is, err := s.current(ctx, w.wrote.Texts[0])
	if err != nil || is == nil {
		return err
	}
	f := *w.known
	f.Records, f.Offset = 0, 0
	var all []skein.Record
	is.work.Stream = records.NewStream(is.work.Format, is.work.File())
	err = is.work.Read(ctx, func(r records.ReadRecord) error {
		rec := r.Rec
		rec.Raw, rec.Key, rec.Events = bytes.Clone(rec.Raw), "", 0
		all, f.Records, f.Offset = append(all, rec), f.Records+1, f.Offset+int64(len(rec.Raw))
		return nil
	})
	if err != nil {
		return err
	}
	f.State = records.FileState{Echoes: list, Plain: records.DecodeState(f.State).Plain, Seq: w.sess.Last}.Encode()
	f.Size, f.Mtime, f.Damaged = -1, 0, 0
	_, err = s.store.Append(ctx, skein.Batch{Session: w.sess.ID, Import: &skein.Import{File: f, Records: all, Forget: true}})
	return err
}

// itsModel reports that a session begun by another program, or by skein, does not keep
// its model: the program that continues it may not have that one.
func (s *sideWriter) itsModel(sess skein.Session, ls *interop.Losses) {
	theirs := sess.Origin != nil && sess.Origin.Format == s.format.Name
	echoes := slices.ContainsFunc(*ls, func(l interop.Loss) bool { return strings.HasPrefix(l.What, "model: ") })
	if s.format.Resume != nil && sess.Model != "" && !theirs && !echoes {
		ls.Add(max(1, sess.Base+1), "model: "+s.format.Name+" continues with the one in its settings")
	}
}

// writeSide writes a whole file, replacing any that exists.
func writeSide(path string, write func(io.Writer) error) (err error) {
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), folder.TempName()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	err = errors.Join(write(b), b.Flush(), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// sources returns the files that a session was read from, in another format than it
// is written to now: its own, and the parts that its unit has only once.
func (s *sideWriter) sources(ctx context.Context, sess skein.Session) (all []skein.SourceFile, err error) {
	o := sess.Origin
	if o == nil || o.Format == s.format.Name {
		return nil, nil
	}
	own, err := skein.SourcesOf(s.store).File(ctx, o.Format, o.Path)
	switch {
	case errors.Is(err, skein.ErrNotFound) || err == nil && own.Session != sess.ID:
		return nil, nil
	case err != nil:
		return nil, err
	}
	if at := strings.LastIndexByte(o.Path, '#'); at > 0 {
		unit, err := skein.SourcesOf(s.store).File(ctx, o.Format, o.Path[:at])
		switch {
		case err == nil && unit.Session == "":
			if all, err = s.withWhole(ctx, all, unit, sess.ID); err != nil {
				return nil, err
			}
		case err != nil && !errors.Is(err, skein.ErrNotFound):
			return nil, err
		}
	}
	return s.withWhole(ctx, all, own, sess.ID)
}

// withWhole appends f, from which session id was read, unless records of it are damaged:
// a part of it would not be the file.
func (s *sideWriter) withWhole(ctx context.Context, all []skein.SourceFile, f skein.SourceFile, id skein.SessionID) ([]skein.SourceFile, error) {
	for _, err := range skein.SourcesOf(s.store).Records(ctx, f.Format, f.Path, 0) {
		if bad := (*skein.DamagedRecordsError)(nil); errors.As(err, &bad) {
			s.hurt.add(id, Gap{First: bad.First, Last: bad.Last}.String()+" of "+f.Path+": "+bad.Err.Error())
			return all, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return append(all, f), nil
}

// sideSources writes the records of files.
func (s *sideWriter) sideSources(ctx context.Context, w io.Writer, files []skein.SourceFile) error {
	line := func(l records.SideLine) error {
		_, err := w.Write(append(skein.MustJSON(l), '\n'))
		return err
	}
	for _, f := range files {
		if err := line(records.SideLine{File: &records.SideSource{Format: f.Format, Path: f.Path, Session: f.Session, ID: f.ID, CopyOf: f.CopyOf, State: f.State}}); err != nil {
			return err
		}
		for r, err := range skein.SourcesOf(s.store).Records(ctx, f.Format, f.Path, 0) {
			if err != nil {
				return err
			}
			if err := line(records.SideLine{Record: &records.SideRecord{Raw: r.Raw, Key: r.Key, Events: r.Events, Copy: r.Copy, Damage: r.Damage}}); err != nil {
				return err
			}
		}
	}
	return line(records.SideLine{End: true})
}

// keeping writes these sessions and then their side files. The side files say from
// the beginning what is being written, so that it is known after a kill; their earlier
// content is put back if nothing was written.
func (s *sideWriter) keeping(ws []inBatch, write func() error) (err error) {
	if s.none {
		return write()
	}
	root, err := disk.OpenHome(s.home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	made := map[string]promised{}
	for _, w := range ws {
		if rel, p, ok := s.promise(root, w); ok {
			made[rel] = p
		}
	}
	err = write()
	for rel, p := range made {
		err = errors.Join(err, p.takeBack(root, rel))
	}
	return err
}

// promise puts, at the path of a session's side file, one that says what is about to
// be written, followed by the earlier content; if that cannot be done, the session
// cannot be written either.
func (s *sideWriter) promise(root *os.Root, w inBatch) (rel string, p promised, made bool) {
	t := w.wrote.Texts[0]
	if w.exactly != "" || !filepath.IsLocal(filepath.FromSlash(t.Path)) || strings.ContainsAny(t.Path, "\x00\\") {
		return "", p, false
	}
	rel, err := filepath.Rel(s.home, records.SidePath(filepath.Join(s.home, filepath.FromSlash(t.Path)), t.Name))
	if err != nil || root.MkdirAll(filepath.Dir(rel), 0o700) != nil {
		return "", p, false
	}
	f, err := root.Open(rel)
	if errors.Is(err, fs.ErrNotExist) {
		p.now = append(skein.MustJSON(s.promises(w, nil)), '\n')
		return rel, p, disk.PlaceFile(root, filepath.ToSlash(rel), bytes.NewReader(p.now), root.Rename) == nil
	}
	if err != nil {
		return "", p, false
	}
	p.was, err = lines.Append([]byte{}, bufio.NewReaderSize(f, 64<<10), records.MaxSideHead)
	if errors.Is(err, io.EOF) || errors.Is(err, lines.ErrLong) { // it is not a side file, or no longer one
		err = nil
	}
	if err := errors.Join(err, f.Close()); err != nil || t.Was == nil && len(p.was) > 0 { // it belongs to a source that no longer exists
		return "", p, false
	}
	p.now = append(skein.MustJSON(s.promises(w, p.was)), '\n')
	return rel, p, exchange(root, rel, p.was, p.now) == nil
}

// promises returns the head of a side file that says what is about to be written; was
// is the head of the existing one.
func (s *sideWriter) promises(w inBatch, was []byte) records.SideHead {
	in := s.intends(w)
	head := records.SideHead{Side: 1, Format: s.format.Name, Session: w.sess.ID}
	if is, err := records.ParseSideHead(was); err == nil && is.Format == head.Format && is.Session == head.Session {
		if head = is; is.Writing != nil { // it was killed before, and part of that may have been written
			in.Also(is.Writing)
		}
	}
	head.Writing = in
	return head
}

// intends returns what is about to be written to a session's own text.
func (s *sideWriter) intends(w inBatch) *records.Intent {
	t := w.wrote.Texts[0]
	m := records.NewMarker(records.LineShape{Unit: s.format.Put != nil && s.inUnit(t)})
	filled := map[string]bool{}
	all := linesOf(&t)
	for l, ok := all.NextRope(); ok; l, ok = all.NextRope() {
		r, ok := m.Add(l, 0)
		for i, c := range r.Columns {
			if ok && r.Values[i] != nil {
				filled[r.Table+"."+c] = true
			}
		}
	}
	return &records.Intent{Last: w.sess.Last, Marks: m.Marks(), Filled: filled}
}

// A promised is a side file whose first line says what is being written.
type promised struct {
	was []byte // how it began before; nil if it was not there
	now []byte // how it begins
}

// takeBack restores a side file if nothing has been written.
//
// The error is the system's.
func (p promised) takeBack(root *os.Root, rel string) error {
	if p.was != nil {
		return exchange(root, rel, p.now, p.was)
	}
	begins, n, err := disk.BeginsAs(root, filepath.ToSlash(rel), lines.New(p.now))
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && (!begins || n != int64(len(p.now))): // it was written
		return nil
	case err != nil:
		return err
	}
	return root.Remove(rel)
}

// exchange replaces the beginning of a file: if the file begins with was, it then
// begins with now, followed by what came after was.
//
// The error is the system's.
func exchange(root *os.Root, rel string, was, now []byte) (err error) {
	f, err := root.Open(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	is := make([]byte, len(was))
	if n, _ := io.ReadFull(f, is); !bytes.Equal(is[:n], was) { // it is another file by now
		return nil
	}
	return disk.PlaceFile(root, filepath.ToSlash(rel), io.MultiReader(bytes.NewReader(now), f), root.Rename)
}
