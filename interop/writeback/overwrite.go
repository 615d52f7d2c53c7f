package writeback

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/records"
)

// place writes a session where it has not been written before, or over an earlier
// version of it: an existing source is replaced if it has not changed since it was
// written or read here, or if it is to be replaced whoever wrote it.
//
// The error wraps [interop.ErrChanged] if somebody else has changed it, and
// [skein.ErrExists] if it is the file that the session came from.
func (x *exporter) place(ctx context.Context, w inBatch, p importer.ProvenanceOf) error {
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
		if cut, err = wrote(ctx, head, is, x.format.Put != nil && x.inUnit(*t)); err != nil {
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
	case x.o.NoSide && slices.Equal(hashOf(linesOf(t)), hashOf(was)):
		return x.leave(ctx, w)
	case w.exactly != "" && ours: // it was written anew before, and has a new name, for example
		x.anew[w.sess.ID] = true
		return x.one(ctx, w.sess)
	case p.Found && p.File.Path == records.SourcePath(realPath(at), t.Name):
		return fmt.Errorf("%s: %w: the session came from there; to write what is new, use skein sync", at, skein.ErrExists)
	case as && !ours && drops(t, was): // skein did not write those files
	default:
		ours = ours || as
	}
	known, err := importer.HandedOver(ctx, x.store, x.format.Name, w.sess, []string{realPath(x.home)})
	switch {
	case err != nil:
		return err
	case known.Found && !x.o.Over:
		return x.sync(ctx, w)
	case !ours && !x.o.Over && head.Session != w.sess.ID && w.exactly == "":
		return fmt.Errorf("%s: %w", records.SourcePath(at, t.Name), skein.ErrExists)
	case !ours && !x.o.Over:
		return altered(records.SourcePath(at, t.Name))
	case known.Found:
		w.known = &known.File
	}
	t.Was = was
	return x.take(ctx, w)
}

// altered is an [interop.ErrChanged]: it says which source has changed since it was written.
type altered string

func (a altered) Error() string { return string(a) + ": another program has written to it since" }
func (a altered) Unwrap() error { return interop.ErrChanged }

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// asStored reports whether a source is known to be as it was when the session was read
// from it, there or elsewhere.
func (x *exporter) asStored(ctx context.Context, p importer.ProvenanceOf, is *currentSource) (bool, error) {
	if !p.Found {
		return false, nil
	}
	sum := newSummer(records.InUnit(&x.format, p.File))
	for r, err := range skein.SourcesOf(x.store).Records(ctx, x.format.Name, p.File.Path, 0) {
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
	logs := slices.DeleteFunc(slices.Clone(w.wrote.Texts), func(t interop.SourceText) bool { return !t.Log })
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

// drops reports whether writing the text there would remove files from a folder whose
// lines are was.
func drops(t *interop.SourceText, was *lines.Lines) bool {
	t.Was = was
	for _, line := range gone(t) {
		if f, err := folder.Peek(line); err == nil && f.File != "" {
			return true
		}
	}
	return false
}

// gone returns what is to be removed from a source: its rows, since those that replace
// them have rowids of their own, and the files that it should no longer have.
func gone(t *interop.SourceText) (gone [][]byte) {
	has := map[string]bool{}
	now, was := linesOf(t), t.Was.Again()
	for line, ok := now.NextRope(); ok; line, ok = now.NextRope() {
		if f, err := folder.PeekRope(line); err == nil {
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
func (x *exporter) ancestor(ctx context.Context, sess skein.Session) (interop.Spot, bool) {
	if x.asked[sess.ID] || x.format.Write == nil {
		return interop.Spot{}, false
	}
	if x.asked == nil {
		x.asked = map[skein.SessionID]bool{}
	}
	x.asked[sess.ID] = true
	defer delete(x.asked, sess.ID)
	d, err := x.draft(ctx, sess)
	if err != nil {
		return interop.Spot{}, false
	}
	d.Memo = nil // nothing of this is put, so nothing that follows may rely on it
	w, err := x.format.Write(ctx, d)
	if err != nil || !x.stands(ctx, sess.ID, w) {
		return interop.Spot{}, false
	}
	return interop.Spot{ID: w.ID, Path: w.Texts[0].Path, Name: w.Texts[0].Name}, true
}

// stands reports whether a session was written to this home before where w has it.
func (x *exporter) stands(ctx context.Context, id skein.SessionID, w interop.Written) bool {
	if len(w.Texts) == 0 || x.headOf(w.Texts[0]).Session != id {
		return false
	}
	_, there, err := x.source(ctx, w.Texts[0])
	return err == nil && there
}

// wrote reports whether everything in a source was written here: before, or by a
// writer that was killed.
//
// Errors are those of reading it.
func wrote(ctx context.Context, h records.SideHead, is *currentSource, unit bool) (bool, error) {
	if h.Writing == nil {
		return false, nil
	}
	known := h.Echoes.Index()
	marks := map[records.RecordMark]bool{}
	for kind, list := range h.Writing.Marks {
		list.Each(func(r records.RecordHash, _ skein.Seq) { marks[records.RecordMark{Kind: kind, Hash: r}] = true })
	}
	all := true
	err := is.each(ctx, func(raw []byte) error {
		m := h.Writing.MarkOf(raw, records.LineShape{Unit: unit})
		all = all && (m.Kind == records.NoMark || len(known[records.HashRecord(raw)]) > 0 || marks[records.RecordMark{Kind: m.Kind, Hash: m.Hash}])
		return nil
	})
	return all, err
}
