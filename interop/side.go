package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/replay"
)

// A side file keeps what a format cannot hold, beside a source that was
// written in it. It is one line of JSON, [sideHead], and then skein's own log
// of the whole session. An import that meets the source for the first time
// imports the log, and from the source only what its program has added.
type sideHead struct {
	Side    int             `json:"skein_side"` // version: 1
	Format  string          `json:"format"`
	Session skein.SessionID `json:"session"`
	Echoes  echoes          `json:"told"`              // the source's records as they were written
	Sum     string          `json:"sum,omitempty"`     // of the source's records then, see summer
	Last    skein.Seq       `json:"last,omitempty"`    // the event up to which the session was written
	Sources bool            `json:"sources,omitempty"` // lines with the files that it was read from follow
	Writing *intent         `json:"writing,omitempty"` // what is being written: the rest describes the source before that
}

const sideSuffix = ".skein"

// maxName is the longest name of a file on most systems, in bytes.
const maxName = 255

// maxSideHead is the longest first line, in bytes.
const maxSideHead = 2 << 20

// isSide reports whether a file is a side file, by its name.
func isSide(path string) bool {
	base := filepath.Base(path)
	return strings.HasPrefix(base, ".") && strings.HasSuffix(base, sideSuffix)
}

// sidePath returns where the side file of a source is.
func sidePath(f Format, path, name string) string {
	if f.Side != nil {
		return f.Side(path, name)
	}
	base := "." + filepath.Base(path)
	if name != "" {
		if name = url.PathEscape(name); len(name) > 150 {
			name = digest([]byte(name))
		}
		base += "#" + name
	}
	if len(base+sideSuffix) > maxName {
		base = "." + digest([]byte(base))
	}
	return filepath.Join(filepath.Dir(path), base+sideSuffix)
}

// beside imports the side file of a source that was not read before, if there
// is one. It reports whether the source is to be read: not if its session was
// deleted here.
func (pr *producer) beside(ctx context.Context, w *fileJob, sink func(chunk) error) (read bool, err error) {
	if w.known.Path != "" || w.format.Write == nil {
		return true, nil
	}
	path := w.now.path
	if w.unit != nil {
		path = w.unit.path
	}
	f, side, err := open(sidePath(w.format, plain(path), w.name))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil { // without it the source would be another session, permanently
		return false, sink(chunk{w: w, end: true, failed: errors.New("its side file: " + why(err))})
	}
	defer f.Close()
	switch {
	case isPromise(side):
		return false, sink(chunk{w: w, end: true, err: errTaken})
	case side.size == 0: // whoever was about to write it was killed
		return true, nil
	}
	head, rest, err := readSideHead(f)
	if err == nil && head.Writing != nil && head.Format == w.format.Name {
		if isRecent(side) {
			return false, sink(chunk{w: w, end: true, err: errTaken})
		}
		return true, pr.takeUp(ctx, w, head)
	}
	if err != nil || head.Format != w.format.Name {
		return true, sink(w.says(fmt.Errorf("its side file cannot be read, so the session has only what is in this file: %w", cmpErr(err))))
	}
	took, err := pr.loadSide(ctx, &head, rest)
	if err == nil && head.Sources {
		err = pr.bringSources(ctx, head, f)
	}
	switch {
	case errors.Is(err, skein.ErrDeleted):
		took.Removed++
		return false, sink(chunk{w: w.aside(), took: &took})
	case err != nil && ctx.Err() != nil:
		return false, err
	case slices.ContainsFunc(later, func(is error) bool { return errors.Is(err, is) }):
		return false, sink(chunk{w: w, end: true, failed: err})
	case err != nil:
		return true, sink(w.says(fmt.Errorf("its side file: %w", err)))
	}
	w.state.Echoes, w.state.Seq = head.Echoes, max(1, head.Echoes.last())
	w.known.Session = head.Session
	return true, sink(chunk{w: w.aside(), took: &took})
}

// takeUp lets a source be read whose writer was killed: this store knows what was
// written of the session. Other stores read it as it is. The error is the store's.
func (pr *producer) takeUp(ctx context.Context, w *fileJob, head sideHead) error {
	s, err := pr.store.Session(ctx, head.Session)
	switch {
	case errors.Is(err, skein.ErrNotFound), err == nil && s.Last < head.Writing.Last:
		return nil
	case err != nil:
		return err
	}
	w.state.Echoes, w.state.Intent, w.known.Session = head.Echoes, head.Writing, head.Session
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

// aside is a work for reporting something that concerns none of its records.
func (w *fileJob) aside() *fileJob {
	return &fileJob{format: w.format, now: w.now, unit: w.unit, name: w.name}
}

// says returns a chunk that reports w, and why.
func (w *fileJob) says(err error) chunk {
	return chunk{w: w.aside(), skips: []Skip{{w.now.path, why(err)}}}
}

func readSideHead(f io.Reader) (head sideHead, rest *bufio.Reader, err error) {
	in := bufio.NewReaderSize(f, 64<<10)
	line, err := lines.Append(nil, in, maxSideHead)
	if err != nil {
		return head, nil, err
	}
	head, err = parseSideHead(line)
	return head, in, err
}

func parseSideHead(line []byte) (head sideHead, err error) {
	if err := json.Unmarshal(line, &head); err != nil {
		return head, err
	}
	if head.Side != 1 || head.Session.Check() != nil {
		return head, fmt.Errorf("version %d", head.Side)
	}
	return head, nil
}

// loadSide imports the log of a side file, and sets the ID that its session has here.
func (pr *producer) loadSide(ctx context.Context, head *sideHead, log *bufio.Reader) (t Took, err error) {
	if head.Sources {
		if err := eachSideLine(log, func(sideLine) error { return nil }); err != nil {
			return t, err
		}
	}
	done, err := replay.Load(ctx, pr.store, ctxReader{ctx, log}, replay.Options{Again: pr.again})
	t.Damaged = done.Damaged
	main := head.Session
	for _, s := range done.Sessions {
		if s.New > 0 {
			t.News = append(t.News, Growth{Session: s.Here, Created: s.New == s.Events, Events: s.New, Messages: s.Messages})
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
func (pr *producer) bringSources(ctx context.Context, head sideHead, f io.ReadSeeker) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, rest, err := readSideHead(f)
	if err != nil {
		return err
	}
	b := bringer{ctx: ctx, store: pr.store, session: head.Session}
	if err := eachSideLine(rest, b.take); err != nil {
		return err
	}
	return b.flush()
}

// A sideLine is a line of a side file's section of source records. A side file of a
// session that was read from another program's files has their records too, so that
// it can be written there again unchanged: between the head, which announces them,
// and the log, one record a line, and a line at the end.
type sideLine struct {
	File   *sideSource `json:"file,omitempty"`
	Record *sideRecord `json:"record,omitempty"`
	End    bool        `json:"end,omitempty"`
}

type sideSource struct {
	Format  string          `json:"format"`
	Path    string          `json:"path"`
	Session skein.SessionID `json:"session,omitempty"`
	ID      string          `json:"id,omitempty"`
	CopyOf  skein.SessionID `json:"copy_of,omitempty"`
	State   []byte          `json:"state,omitempty"`
}

type sideRecord struct {
	Raw    []byte         `json:"raw"`
	Key    skein.ClientID `json:"key,omitempty"`
	Events int            `json:"events,omitempty"`
	Copy   bool           `json:"copy,omitempty"`
	Damage string         `json:"damage,omitempty"`
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

// maxSideLine is the longest line of a record in a side file, in bytes.
const maxSideLine = MaxRecord*4/3 + 2<<20

// eachSideLine calls f with the lines up to the end of the records.
func eachSideLine(in *bufio.Reader, f func(sideLine) error) error {
	for {
		text, err := lines.Append(nil, in, maxSideLine)
		if err != nil {
			return err
		}
		var l sideLine
		if err := json.Unmarshal(text, &l); err != nil {
			return err
		}
		if l.End {
			return nil
		}
		if err := f(l); err != nil {
			return err
		}
	}
}

// take handles one line.
func (b *bringer) take(l sideLine) error {
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
		if b.bytes += len(r.Raw); b.bytes > chunkBytes || len(b.records) >= chunkRecords {
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
