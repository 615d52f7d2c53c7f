package writeback

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/records"
)

// A batch is sessions that are put into one database together: each time a database
// is opened, all of it is read.
type batch struct {
	path  string // of the database, below home
	waits []inBatch
	size  int // bytes of their lines
}

// An inBatch is a session and the lines made from it, to be put.
type inBatch struct {
	sess    skein.Session
	events  []skein.Event // the events that it shows, see gists; nil if these are the bytes that it was read from
	wrote   interop.Written
	above   interop.Spot // where the session that it is a fork of is; without a path if it is not there, or this is none
	exactly string       // the unit that it was read from, whose bytes these are; "" if skein made it
	of      *exportResult
	known   *skein.SourceFile // the file that is replaced, as the store knows it; nil if it does not
}

// At most this much is put into a database at once.
const (
	batchSessions = 1000
	batchBytes    = 16 << 20
)

// take writes a session, or puts it into the batch. The error concerns this session
// only.
func (x *exporter) take(ctx context.Context, w inBatch) error {
	if !x.joins(w.wrote.Texts) {
		if x.flush(ctx); x.now.err != nil {
			return x.now.err
		}
		return x.keeping([]inBatch{w}, func() error {
			if err := x.put(ctx, w.wrote.Texts); err != nil {
				return err
			}
			return x.finish(ctx, w, nil)
		})
	}
	b := &x.batch
	first := &w.wrote.Texts[0]
	if len(b.waits) > 0 && (b.path != first.Path || slices.ContainsFunc(b.waits, func(o inBatch) bool {
		return o.exactly != w.exactly || o.wrote.Texts[0].Name == first.Name
	})) {
		x.flush(ctx)
	}
	b.path = first.Path
	b.waits = append(b.waits, w)
	for _, t := range w.wrote.Texts {
		for _, l := range t.Lines {
			b.size += l.Body.Len()
		}
	}
	if len(b.waits) >= batchSessions || b.size >= batchBytes {
		x.flush(ctx)
	}
	return x.now.err
}

// joins reports whether all of a session goes into one database.
func (x *exporter) joins(texts []interop.SourceText) bool {
	if x.format.Put == nil || texts[0].Name == "" || !filepath.IsLocal(filepath.FromSlash(texts[0].Path)) || strings.ContainsAny(texts[0].Path, "\x00\\") || !x.inUnit(texts[0]) {
		return false
	}
	return !slices.ContainsFunc(texts, func(t interop.SourceText) bool { return t.Log || t.Path != texts[0].Path })
}

// flush writes the batch. If that fails, its sessions are written one by one, so
// that each has its own error, in its result.
func (x *exporter) flush(ctx context.Context) {
	b := x.batch
	x.batch = batch{}
	if len(b.waits) == 0 {
		return
	}
	var texts []interop.SourceText
	frames := map[records.RecordHash]bool{}
	for _, w := range b.waits {
		for _, t := range w.wrote.Texts {
			if t.Name == "" { // most have the same
				h := records.HashRecord(bytesOf(&t))
				if frames[h] {
					continue
				}
				frames[h] = true
			}
			texts = append(texts, t)
		}
	}
	put := false
	err := x.keeping(b.waits, func() error {
		if err := x.put(ctx, texts); err != nil {
			return err
		}
		put = true
		return x.finishAll(ctx, b)
	})
	var system *fs.PathError
	switch {
	case err == nil, put:
	case len(b.waits) > 1 && ctx.Err() == nil && !errors.As(err, &system):
		x.apart(ctx, b)
		return
	case errors.Is(err, interop.ErrChanged) && b.waits[0].exactly != "" && x.format.Write != nil && !x.anew[b.waits[0].sess.ID]:
		err = x.again(ctx, b.waits[0], err)
	}
	if err != nil {
		for _, w := range b.waits {
			w.fails(err)
			delete(x.spots, w.sess.ID)
		}
		clear(x.memo)
	}
}

// apart writes the sessions of a batch one by one.
func (x *exporter) apart(ctx context.Context, b batch) {
	now, files := x.now, x.files
	defer func() { x.now, x.files = now, files }()
	for _, w := range b.waits {
		delete(x.spots, w.sess.ID)
	}
	for _, w := range b.waits {
		if w.of.err != nil {
			continue // the session that it depends on could not be written
		}
		clear(x.memo)
		x.now, x.files = w.of, map[string]bool{}
		if err := x.one(ctx, w.sess); err != nil {
			w.fails(err)
			continue
		}
		x.flush(ctx)
	}
	clear(x.memo)
}

// again rewrites a session in a database in which the rows that it had belong to
// another. It returns the error that prevented it, or was if a new try is pointless.
func (x *exporter) again(ctx context.Context, w inBatch, was error) error {
	now, files := x.now, x.files
	defer func() { x.now, x.files = now, files }()
	delete(x.spots, w.sess.ID)
	clear(x.memo)
	x.anew[w.sess.ID] = true
	x.now, x.files = w.of, map[string]bool{}
	err := x.one(ctx, w.sess)
	if errors.Is(err, skein.ErrInvalid) {
		return was
	}
	if err == nil {
		x.flush(ctx)
	}
	return err
}

func (w *inBatch) fails(err error) {
	if w.of.err == nil {
		skein.Wrapf(&err, "session %s", w.sess.ID)
		w.of.err = err
	}
}

// finishAll writes the side files of a batch.
func (x *exporter) finishAll(ctx context.Context, b batch) (err error) {
	if x.o.NoSide {
		for _, w := range b.waits {
			err = errors.Join(err, x.finish(ctx, w, nil))
		}
		return err
	}
	u, err := x.look(ctx, b.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.Unit.Close()) }()
	for _, w := range b.waits {
		if err := x.finish(ctx, w, u); err != nil {
			w.fails(err)
		}
	}
	return nil
}

// finish writes the side file of what was written, and reports the session as written.
// u is the unit that it is in, if that is open.
func (x *exporter) finish(ctx context.Context, w inBatch, u *records.Opened) (err error) {
	out := Exported{Session: w.sess.ID, Spot: x.spots[w.sess.ID]}
	switch {
	case w.exactly != "":
		out.Exact = true
	case !x.o.NoSide:
		if out.Side, err = x.side(ctx, &w, u); err != nil {
			return err
		}
	}
	out.Losses, out.Damaged = w.wrote.Losses, x.hurt[w.sess.ID]
	w.of.done = append(w.of.done, out)
	return nil
}

// linesOf returns what the source is to hold.
func linesOf(t *interop.SourceText) *lines.Lines {
	parts := make([]lines.Rope, len(t.Lines))
	for i, l := range t.Lines {
		parts[i] = l.Body
	}
	return lines.OfRopes(parts...)
}

// bytesOf returns the lines, one after the other.
func bytesOf(t *interop.SourceText) []byte {
	var b bytes.Buffer
	for _, l := range t.Lines {
		b.Write(l.Body.Bytes())
	}
	return b.Bytes()
}
