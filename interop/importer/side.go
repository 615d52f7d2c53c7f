package importer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/records"
	"github.com/skein-dev/skein/replay"
)

// beside imports the side file of a source that was not read before, if there
// is one. It reports whether the source is to be read: not if its session was
// deleted here.
func (pr *producer) beside(ctx context.Context, w *records.FileJob, sink func(records.Chunk) error) (read bool, err error) {
	if w.Known.Path != "" || w.Format.Write == nil {
		return true, nil
	}
	path := w.Now.Path
	if w.Unit != nil {
		path = w.Unit.Path
	}
	f, side, err := disk.Open(records.SidePath(disk.PlainPath(path), w.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil { // without it the source would be another session, permanently
		return false, sink(records.Chunk{Job: w, End: true, Failed: errors.New("its side file: " + disk.Why(err))})
	}
	defer f.Close()
	switch {
	case records.IsPromise(side):
		return false, sink(records.Chunk{Job: w, End: true, Err: errTaken})
	case side.Size == 0: // whoever was about to write it was killed
		return true, nil
	}
	head, rest, err := records.ReadSideHead(f)
	if err == nil && head.Writing != nil && head.Format == w.Format.Name {
		if records.IsRecent(side) {
			return false, sink(records.Chunk{Job: w, End: true, Err: errTaken})
		}
		return true, pr.takeUp(ctx, w, head)
	}
	if err != nil || head.Format != w.Format.Name {
		return true, sink(w.Says(fmt.Errorf("its side file cannot be read, so the session has only what is in this file: %w", cmpErr(err))))
	}
	took, err := pr.loadSide(ctx, &head, rest)
	if err == nil && head.Sources {
		err = pr.bringSources(ctx, head, f)
	}
	switch {
	case errors.Is(err, skein.ErrDeleted):
		took.Removed++
		return false, sink(records.Chunk{Job: w.Aside(), Took: &took})
	case err != nil && ctx.Err() != nil:
		return false, err
	case slices.ContainsFunc(later, func(is error) bool { return errors.Is(err, is) }):
		return false, sink(records.Chunk{Job: w, End: true, Failed: err})
	case err != nil:
		return true, sink(w.Says(fmt.Errorf("its side file: %w", err)))
	}
	w.State.Echoes, w.State.Seq = head.Echoes, max(1, head.Echoes.Last())
	w.Known.Session = head.Session
	return true, sink(records.Chunk{Job: w.Aside(), Took: &took})
}

// takeUp lets a source be read whose writer was killed: this store knows what was
// written of the session. Other stores read it as it is. The error is the store's.
func (pr *producer) takeUp(ctx context.Context, w *records.FileJob, head records.SideHead) error {
	s, err := pr.store.Session(ctx, head.Session)
	switch {
	case errors.Is(err, skein.ErrNotFound), err == nil && s.Last < head.Writing.Last:
		return nil
	case err != nil:
		return err
	}
	w.State.Echoes, w.State.Intent, w.Known.Session = head.Echoes, head.Writing, head.Session
	return nil
}

// later are the reasons why a side file cannot be imported now that are not the fault of
// the file: its source must not be read without it.
var later = []error{skein.ErrAway, skein.ErrReadOnly, skein.ErrFull, skein.ErrUnknown, skein.ErrClosed, skein.ErrLocked, skein.ErrFenced, skein.ErrRefused}

func cmpErr(err error) error {
	if err == nil {
		return errors.New("it is another format's")
	}
	return err
}

// loadSide imports the log of a side file, and sets the ID that its session has here.
func (pr *producer) loadSide(ctx context.Context, head *records.SideHead, log *bufio.Reader) (t interop.Took, err error) {
	if head.Sources {
		if err := records.EachSideLine(log, func(records.SideLine) error { return nil }); err != nil {
			return t, err
		}
	}
	done, err := replay.Load(ctx, pr.store, disk.Cancelable(ctx, log), replay.Options{Again: pr.again})
	t.Damaged = done.Damaged
	main := head.Session
	for _, s := range done.Sessions {
		if s.New > 0 {
			t.News = append(t.News, interop.Growth{Session: s.Here, Created: s.New == s.Events, Events: s.New, Messages: s.Messages})
		}
		if s.Session != main {
			continue
		}
		if head.Session = s.Here; s.Err != nil {
			return t, s.Err
		}
	}
	return t, err
}

// bringSources imports the source files of a side file's session, once the session is
// stored.
func (pr *producer) bringSources(ctx context.Context, head records.SideHead, f io.ReadSeeker) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, rest, err := records.ReadSideHead(f)
	if err != nil {
		return err
	}
	b := bringer{ctx: ctx, store: pr.store, session: head.Session}
	if err := records.EachSideLine(rest, b.take); err != nil {
		return err
	}
	return b.flush()
}

// A bringer imports the files in a side file.
type bringer struct {
	ctx     context.Context
	store   skein.Store
	session skein.SessionID // the session whose files these are; others' are skipped
	file    skein.SourceFile
	known   bool // the store knows the file: no more of it is needed
	records []skein.Record
	bytes   int
}

// take handles one line.
func (b *bringer) take(l records.SideLine) error {
	switch {
	case l.File != nil:
		if err := b.flush(); err != nil {
			return err
		}
		f := l.File
		b.file = skein.SourceFile{Format: f.Format, Path: f.Path, Session: f.Session, ID: f.ID, CopyOf: f.CopyOf, State: f.State}
		_, err := skein.SourcesOf(b.store).File(b.ctx, f.Format, f.Path)
		b.known = err == nil || f.Session != "" && f.Session != b.session
		if err != nil && !errors.Is(err, skein.ErrNotFound) {
			return err
		}
	case l.Record != nil && !b.known:
		r := skein.Record{
			N: b.file.Records, Offset: b.file.Offset, Raw: l.Record.Raw,
			Key: l.Record.Key, Events: l.Record.Events, Copy: l.Record.Copy, Damage: l.Record.Damage,
		}
		b.file.Records++
		b.file.Offset += int64(len(r.Raw))
		if r.Damage != "" {
			b.file.Damaged++
		}
		b.records = append(b.records, r)
		if b.bytes += len(r.Raw); b.bytes > records.ChunkBytes || len(b.records) >= records.ChunkRecords {
			return b.flush()
		}
	}
	return nil
}

// flush stores the records taken so far. The file's size and time stay unknown, so
// that if the file exists, it is looked at.
func (b *bringer) flush() error {
	if len(b.records) == 0 {
		return nil
	}
	_, err := b.store.Append(b.ctx, skein.Batch{Session: b.file.Session, Import: &skein.Import{File: b.file, Records: b.records}})
	b.records, b.bytes = nil, 0
	return err
}
