package interop

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/lines"
)

// A currentSource is a source, in its current state, for a session to be written to.
type currentSource struct {
	work *work
	sum  string // see summer
}

// each calls f with each record. The error is f's, that of reading, or wraps
// [ErrChanged] if the source has changed since it was first read.
func (is *currentSource) each(ctx context.Context, f func(raw []byte) error) error {
	is.work.stream = newStream(is.work.format, is.work.file())
	sum := newSummer(is.work.unit != nil)
	err := is.work.read(ctx, func(r read) error {
		sum.add(r.rec.Raw)
		return f(r.rec.Raw)
	})
	if got := sum.String(); err == nil && is.sum != "" && is.sum != got {
		err = ErrChanged
	} else if err == nil {
		is.sum = got
	}
	return err
}

// lines returns the source's lines. Errors are those of each.
func (is *currentSource) lines(ctx context.Context) (*lines.Lines, error) {
	var all [][]byte
	err := is.each(ctx, func(raw []byte) error {
		all = append(all, bytes.Clone(raw))
		return nil
	})
	return lines.New(all...), err
}

// A summer computes a checksum of what the records of a source say, ignoring the times
// of file changes and the rowids of rows.
type summer struct {
	hash.Hash
	unit bool
}

func newSummer(unit bool) summer { return summer{sha256.New(), unit} }

func (s summer) add(raw []byte) {
	if m := markOf(raw, s.unit); m.kind != nothing {
		fmt.Fprintf(s, "%s\x00%x\x00%s\x00", m.kind, m.hash, m.file)
	}
}

func (s summer) String() string { return hex.EncodeToString(s.Sum(nil)) }

// units is the unit that was looked at last, and its sources. It is valid until
// something is written.
type units struct {
	path  string
	unit  *opened
	names map[string]bool
}

func (u *units) close() (err error) {
	if u.unit != nil {
		err = u.unit.unit.Close()
	}
	*u = units{}
	return err
}

// source returns the unit of a text, nil for a file, and whether the unit has the
// text's source.
func (x *exporter) source(ctx context.Context, t Text) (*opened, bool, error) {
	if x.format.Put == nil || !x.inUnit(t) {
		info, err := os.Lstat(filepath.Join(x.home, filepath.FromSlash(t.Path)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, false, nil
		}
		return nil, err == nil && info.Mode().IsRegular(), err
	}
	if x.looked.path != t.Path {
		if err := x.looked.close(); err != nil {
			return nil, false, err
		}
		u := &opened{path: filepath.Join(x.home, filepath.FromSlash(t.Path)), formats: []*Format{&x.format}}
		_, err := u.look(ctx)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrOther) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		x.looked = units{path: t.Path, unit: u, names: map[string]bool{}}
		sources, err := u.unit.Sources(ctx)
		if err != nil {
			return nil, false, err
		}
		for _, s := range sources {
			x.looked.names[s.Name] = true
		}
	}
	return x.looked.unit, x.looked.names[t.Name], nil
}

// current reads the source that a text is written to; nil if it does not exist.
func (x *exporter) current(ctx context.Context, t Text) (*currentSource, error) {
	if !filepath.IsLocal(filepath.FromSlash(t.Path)) {
		return nil, nil
	}
	u, there, err := x.source(ctx, t)
	if err != nil || !there {
		return nil, err
	}
	w := &work{format: x.format, now: candidate{path: filepath.Join(x.home, filepath.FromSlash(t.Path))}, name: t.Name, unit: u}
	is := &currentSource{work: w}
	return is, is.each(ctx, func([]byte) error { return nil })
}

// place writes a session where it has not been written before, or over an earlier
// version of it: an existing source is replaced if it has not changed since it was
// written or read here, or if it is to be replaced whoever wrote it.
//
// The error wraps [ErrChanged] if somebody else has changed it, and
// [skein.ErrExists] if it is the file that the session came from.
func (x *exporter) place(ctx context.Context, w inBatch, p provenanceOf) error {
	t := &w.wrote.Texts[0]
	is, err := x.current(ctx, *t)
	if err != nil {
		return err
	}
	if is == nil {
		return x.take(ctx, w)
	}
	at := filepath.Join(x.home, filepath.FromSlash(t.Path))
	head := x.headOf(*t)
	cut := false // it was being written, and the write was interrupted
	if head.Session == w.sess.ID {
		if cut, err = head.wrote(ctx, is, x.format.Put != nil && x.inUnit(*t)); err != nil {
			return err
		}
	}
	ours := cut || head.Session == w.sess.ID && head.Sum == is.sum && head.Last <= w.sess.Last
	as, err := x.asStored(ctx, p, is)
	if err != nil {
		return err
	}
	if ours && !cut && head.Last == w.sess.Last && x.o.Cwd == "" || as && w.exactly != "" {
		return x.leave(ctx, w)
	}
	was, err := is.lines(ctx)
	if err != nil {
		return err
	}
	switch {
	case x.o.NoSide && slices.Equal(hashOf(t.lines()), hashOf(was)):
		return x.leave(ctx, w)
	case w.exactly != "" && ours: // it was written anew before, and has a new name, for example
		x.anew[w.sess.ID] = true
		return x.one(ctx, w.sess)
	case p.found && p.file.Path == sourcePath(realPath(at), t.Name):
		return fmt.Errorf("%s: %w: the session came from there; a sync writes what is new", at, skein.ErrExists)
	case as && !ours && t.drops(was): // skein did not write those files
	default:
		ours = ours || as
	}
	known, err := handedOver(ctx, x.store, x.format.Name, w.sess, []string{realPath(x.home)})
	switch {
	case err != nil:
		return err
	case known.found && !x.o.Over:
		return x.sync(ctx, w)
	case !ours && !x.o.Over && head.Session != w.sess.ID && w.exactly == "":
		return fmt.Errorf("%s: %w", sourcePath(at, t.Name), skein.ErrExists)
	case !ours && !x.o.Over:
		return altered(sourcePath(at, t.Name))
	case known.found:
		w.known = &known.file
	}
	t.was = was
	return x.take(ctx, w)
}

// altered is an [ErrChanged]: it says which source has changed since it was written.
type altered string

func (a altered) Error() string { return string(a) + ": somebody else has written to it since" }
func (a altered) Unwrap() error { return ErrChanged }

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// asStored reports whether a source is known to be as it was when the session was read
// from it, there or elsewhere.
func (x *exporter) asStored(ctx context.Context, p provenanceOf, is *currentSource) (bool, error) {
	if !p.found {
		return false, nil
	}
	sum := newSummer(x.format.inUnit(p.file))
	for r, err := range skein.SourcesOf(x.store).Records(ctx, x.format.Name, p.file.Path, 0) {
		if bad := (*skein.DamagedRecordsError)(nil); errors.As(err, &bad) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		sum.add(r.Raw)
	}
	return sum.String() == is.sum, nil
}

// hashOf returns a hash of a text.
func hashOf(text io.Reader) []byte {
	h := sha256.New()
	_, _ = io.Copy(h, text) // neither fails
	return h.Sum(nil)
}

// leave reports a session as there, unchanged. A log shared by all sessions gets its
// lines, if they are not in it yet.
func (x *exporter) leave(ctx context.Context, w inBatch) error {
	logs := slices.DeleteFunc(slices.Clone(w.wrote.Texts), func(t Text) bool { return !t.Log })
	if len(logs) > 0 {
		if err := x.put(ctx, logs); err != nil {
			return err
		}
	}
	out := Exported{Session: w.sess.ID, Spot: x.spots[w.sess.ID], Exact: w.exactly != "", Losses: w.wrote.Losses, Damaged: x.hurt[w.sess.ID], Unchanged: true}
	w.of.done = append(w.of.done, out)
	return nil
}

// sync writes what is new to a source that was read since it was written: what
// its program has added is in the session, or is imported now.
func (x *exporter) sync(ctx context.Context, w inBatch) error {
	if x.flush(ctx); x.now.err != nil {
		return x.now.err
	}
	if err := x.looked.close(); err != nil {
		return err
	}
	done, err := SyncIn(ctx, x.raw, x.format, w.sess.ID, []string{realPath(x.home)})
	if err != nil {
		return err
	}
	w.of.done = append(w.of.done, Exported{Session: w.sess.ID, Spot: x.spots[w.sess.ID], Losses: done.Losses, Damaged: done.Damaged, Unchanged: done.Events == 0})
	return nil
}

// knows tells the store the new records of a source that was replaced, if the store
// knew the old ones.
func (x *exporter) knows(ctx context.Context, w inBatch, list echoes) error {
	if w.known == nil {
		return nil
	}
	is, err := x.current(ctx, w.wrote.Texts[0])
	if err != nil || is == nil {
		return err
	}
	f := *w.known
	f.Records, f.Offset = 0, 0
	var records []skein.Record
	is.work.stream = newStream(is.work.format, is.work.file())
	err = is.work.read(ctx, func(r read) error {
		rec := r.rec
		rec.Raw, rec.Key, rec.Events = bytes.Clone(rec.Raw), "", 0
		records, f.Records, f.Offset = append(records, rec), f.Records+1, f.Offset+int64(len(rec.Raw))
		return nil
	})
	if err != nil {
		return err
	}
	f.State = state{Echoes: list, Plain: decodeState(f.State).Plain, Seq: w.sess.Last}.encode()
	f.Size, f.Mtime, f.Damaged = -1, 0, 0
	_, err = x.store.Append(ctx, skein.Batch{Session: w.sess.ID, Import: &skein.Import{File: f, Records: records, Forget: true}})
	return err
}

// drops reports whether writing the text there would remove files from a folder whose
// lines are was.
func (t Text) drops(was *lines.Lines) bool {
	t.was = was
	for _, line := range t.gone() {
		if f, err := folder.Peek(line); err == nil && f.File != "" {
			return true
		}
	}
	return false
}

// gone returns what is to be removed from a source: its rows, since those that replace
// them have rowids of their own, and the files that it should no longer have.
func (t *Text) gone() (gone [][]byte) {
	has := map[string]bool{}
	now, was := t.lines(), t.was.Again()
	for line := now.Next(); line != nil; line = now.Next() {
		if f, err := folder.Peek(line); err == nil {
			has[f.File] = true
		}
	}
	for line := was.Next(); line != nil; line = was.Next() {
		if r, ok, err := foreign.ParseRow(line); err == nil && ok {
			if r.Rowid != nil && r.Damage == "" && r.Table != "sqlite_sequence" {
				gone = append(gone, line)
			}
		} else if f, err := folder.Peek(line); err == nil && f.File != "" && !has[f.File] {
			has[f.File] = true
			gone = append(gone, line)
		}
	}
	return gone
}

// ancestor returns where a session's parent is, if it was written to this home before.
func (x *exporter) ancestor(ctx context.Context, sess skein.Session) (Spot, bool) {
	if x.asked[sess.ID] || x.format.Write == nil {
		return Spot{}, false
	}
	if x.asked == nil {
		x.asked = map[skein.SessionID]bool{}
	}
	x.asked[sess.ID] = true
	defer delete(x.asked, sess.ID)
	d, err := x.draft(ctx, sess)
	if err != nil {
		return Spot{}, false
	}
	w, err := x.format.Write(ctx, d)
	if err != nil || len(w.Texts) == 0 || x.headOf(w.Texts[0]).Session != sess.ID {
		return Spot{}, false
	}
	if _, there, err := x.source(ctx, w.Texts[0]); err != nil || !there {
		return Spot{}, false
	}
	return Spot{w.ID, w.Texts[0].Path, w.Texts[0].Name}, true
}
