package interop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
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

// side writes the side file of what was just written, adds what is missing of the
// session there to its losses, and returns the file's path. u is the unit that it is
// in, if that is open.
func (x *exporter) side(ctx context.Context, w *inBatch, u *opened) (string, error) {
	t := w.wrote.Texts[0]
	at := filepath.Join(x.home, filepath.FromSlash(t.Path))
	k := newLack()
	list, sum, err := x.written(ctx, at, t, u, k)
	if err != nil {
		return "", err
	}
	x.logs(w.wrote.Texts, k)
	for _, t := range w.wrote.Texts {
		clear(t.Lines) // they were written, and may be long
	}
	k.tell(w.sess, w.events, &w.wrote.Losses)
	x.itsModel(w.sess, &w.wrote.Losses)
	path := sidePath(x.format, at, t.Name)
	if err := x.sideAt(ctx, path, w.sess, list, sum); err != nil {
		return "", err
	}
	return path, x.knows(ctx, *w, list)
}

// headOf returns the head of the side file of a text's source; zero if there is no
// side file of this format.
func (x *exporter) headOf(t Text) sideHead {
	f, _, err := open(sidePath(x.format, filepath.Join(x.home, filepath.FromSlash(t.Path)), t.Name))
	if err != nil {
		return sideHead{}
	}
	defer f.Close()
	head, _, err := readSideHead(f)
	if err != nil || head.Format != x.format.Name {
		return sideHead{}
	}
	return head
}

// sideAt writes the side file of a source whose records are list, and whose checksum
// is sum.
func (x *exporter) sideAt(ctx context.Context, path string, sess skein.Session, list echoes, sum string) error {
	files, err := x.sources(ctx, sess)
	if err != nil {
		return err
	}
	head := sideHead{Side: 1, Format: x.format.Name, Session: sess.ID, Echoes: list, Sum: sum, Last: sess.Last, Sources: len(files) > 0}
	return writeSide(path, func(w io.Writer) error {
		if _, err := w.Write(append(skein.MustJSON(head), '\n')); err != nil {
			return err
		}
		if head.Sources {
			if err := x.sideSources(ctx, w, files); err != nil {
				return err
			}
		}
		_, err := replay.Write(ctx, w, x.store, sess.ID)
		return err
	})
}

// written reads back what was written to at.
func (x *exporter) written(ctx context.Context, at string, t Text, u *opened, k *lack) (_ echoes, sum string, err error) {
	if u == nil && x.format.Put != nil && x.isUnit(t.Path) {
		if u, err = x.look(ctx, t.Path); err != nil {
			return nil, "", err
		}
		defer func() { err = errors.Join(err, u.unit.Close()) }()
	}
	w := &work{format: x.format, now: candidate{path: at}, name: t.Name, unit: u}
	w.stream = newStream(x.format, w.file())
	return echoesOf(ctx, w, t.Lines, k)
}

// logs adds to k what was written into files in which other sessions have lines too.
func (x *exporter) logs(all []Text, k *lack) {
	for _, t := range all {
		if !t.Log {
			continue
		}
		r := x.format.Open(File{Path: filepath.Join(x.home, filepath.FromSlash(t.Path))})
		for i, l := range t.Lines {
			if m, err := r.Read(Line{N: i, Number: i + 1, Body: bytes.TrimSpace(l.Body)}); err == nil {
				k.take(m)
			}
		}
	}
}

// look opens the unit at path below home, in its current state; the caller closes it.
func (x *exporter) look(ctx context.Context, path string) (*opened, error) {
	u := &opened{path: filepath.Join(x.home, filepath.FromSlash(path)), formats: []*Format{&x.format}}
	if _, err := u.look(ctx); err != nil {
		return nil, err
	}
	if _, err := u.unit.Sources(ctx); err != nil {
		return nil, errors.Join(err, u.unit.Close())
	}
	return u, nil
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

// beside imports the side file of a source that was not read before, if there
// is one. It reports whether the source is to be read: not if its session was
// deleted here.
func (pr *producer) beside(ctx context.Context, w *work, sink func(chunk) error) (read bool, err error) {
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
func (pr *producer) takeUp(ctx context.Context, w *work, head sideHead) error {
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
func (w *work) aside() *work { return &work{format: w.format, now: w.now, unit: w.unit, name: w.name} }

// says returns a chunk that reports w, and why.
func (w *work) says(err error) chunk {
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
			t.News = append(t.News, News{Session: s.Here, Created: s.New == s.Events, Events: s.New, Messages: s.Messages})
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
