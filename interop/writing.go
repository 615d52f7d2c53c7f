package interop

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/lines"
)

// Between the moment when a source has been written and the one when the store
// knows what was written, an import must not mistake it for the program's own.
// A sync holds a lease on the source until both are done; an export first writes
// a side file that says what is being written.

// patience is how long a sync waits for another one of the same source, and how long
// a side file that announces a write is assumed to be completed soon. An import leaves
// the source for later after a second.
const (
	patience   = 30 * time.Second
	impatience = time.Second
)

// heldBy returns the ID whose lease is held while a source of a unit is written, or
// what was read from it is stored. Sixty-four IDs cover all units.
func heldBy(unit string) skein.SessionID {
	return skein.SessionID(fmt.Sprintf("writing~%02x", sha256.Sum256([]byte(unit))[0]%64))
}

// hold takes the right to write to a unit, or to store what is in it, and waits
// up to patience while somebody else has it.
//
// The error wraps [skein.ErrLocked] if the wait is in vain; others are the
// store's and ctx's.
func hold(ctx context.Context, s skein.Store, program, unit string, patience time.Duration) (release func() error, err error) {
	over := time.NewTimer(patience)
	defer over.Stop()
	for {
		release, err := tryHold(ctx, s, program, unit)
		var locked *skein.LockedError
		if !errors.As(err, &locked) {
			return release, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-over.C:
			return nil, fmt.Errorf("%s: %w: %s writes to it", unit, skein.ErrLocked, locked.Holder)
		case <-time.After(restFor / 2):
		}
	}
}

func tryHold(ctx context.Context, s skein.Store, program, unit string) (release func() error, err error) {
	l, err := skein.LeasesOf(s).Acquire(ctx, heldBy(unit), skein.LeaseRequest{Program: program})
	if err != nil {
		return nil, err
	}
	return func() error { return skein.LeasesOf(s).Release(context.WithoutCancel(ctx), l) }, nil
}

// hurry makes a watch read a file again soon.
func (w *watch) hurry(path string) { w.later[path] = time.Now().Add(2 * restFor) }

// keeping writes these sessions and then their side files. The side files say from
// the beginning what is being written, so that it is known after a kill; their earlier
// content is put back if nothing was written.
func (x *exporter) keeping(ws []inBatch, write func() error) (err error) {
	if x.o.NoSide {
		return write()
	}
	root, err := openHome(x.home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	made := map[string]promised{}
	for _, w := range ws {
		if rel, p, ok := x.promise(root, w); ok {
			made[rel] = p
		}
	}
	err = write()
	for rel, p := range made {
		err = errors.Join(err, p.takeBack(root, rel))
	}
	return err
}

// A promised is a side file whose first line says what is being written.
type promised struct {
	was []byte // how it began before; nil if it was not there
	now []byte // how it begins
}

// promise puts, at the path of a session's side file, one that says what is about to
// be written, followed by the earlier content; if that cannot be done, the session
// cannot be written either.
func (x *exporter) promise(root *os.Root, w inBatch) (rel string, p promised, made bool) {
	t := w.wrote.Texts[0]
	if w.exactly != "" || !filepath.IsLocal(filepath.FromSlash(t.Path)) || strings.ContainsAny(t.Path, "\x00\\") {
		return "", p, false
	}
	rel, err := filepath.Rel(x.home, sidePath(x.format, filepath.Join(x.home, filepath.FromSlash(t.Path)), t.Name))
	if err != nil || root.MkdirAll(filepath.Dir(rel), 0o700) != nil {
		return "", p, false
	}
	f, err := root.Open(rel)
	if errors.Is(err, fs.ErrNotExist) {
		p.now = append(skein.MustJSON(x.promises(w, nil)), '\n')
		return rel, p, placeFile(root, filepath.ToSlash(rel), bytes.NewReader(p.now), root.Rename) == nil
	}
	if err != nil {
		return "", p, false
	}
	p.was, err = lines.Append([]byte{}, bufio.NewReaderSize(f, 64<<10), maxSideHead)
	if errors.Is(err, io.EOF) || errors.Is(err, lines.ErrLong) { // it is not a side file, or no longer one
		err = nil
	}
	if err := errors.Join(err, f.Close()); err != nil || t.was == nil && len(p.was) > 0 { // it belongs to a source that no longer exists
		return "", p, false
	}
	p.now = append(skein.MustJSON(x.promises(w, p.was)), '\n')
	return rel, p, exchange(root, rel, p.was, p.now) == nil
}

// takeBack restores a side file if nothing has been written.
//
// The error is the system's.
func (p promised) takeBack(root *os.Root, rel string) error {
	if p.was != nil {
		return exchange(root, rel, p.now, p.was)
	}
	begins, n, err := beginsAs(root, filepath.ToSlash(rel), lines.New(p.now))
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
	return placeFile(root, filepath.ToSlash(rel), io.MultiReader(bytes.NewReader(now), f), root.Rename)
}

// promises returns the head of a side file that says what is about to be written; was
// is the head of the existing one.
func (x *exporter) promises(w inBatch, was []byte) sideHead {
	in := x.intends(w)
	head := sideHead{Side: 1, Format: x.format.Name, Session: w.sess.ID}
	if is, err := parseSideHead(was); err == nil && is.Format == head.Format && is.Session == head.Session {
		if head = is; is.Writing != nil { // it was killed before, and part of that may have been written
			in.also(is.Writing)
		}
	}
	head.Writing = in
	return head
}

// intends returns what is about to be written to a session's own text.
func (x *exporter) intends(w inBatch) *intent {
	t := w.wrote.Texts[0]
	m := newMarker(x.format.Put != nil && x.inUnit(t))
	filled := map[string]bool{}
	all := t.lines()
	for l := all.Next(); l != nil; l = all.Next() {
		r, ok := m.add(l, 0)
		for i, c := range r.Columns {
			if ok && r.Values[i] != nil {
				filled[r.Table+"."+c] = true
			}
		}
	}
	return &intent{Last: w.sess.Last, Marks: m.marks(), Filled: filled}
}

// also adds what another intent was about to write.
func (in *intent) also(was *intent) {
	for kind, list := range was.Marks {
		b := echoBuilder{}
		for _, l := range []echoes{in.Marks[kind], list} {
			l.each(b.add)
		}
		in.Marks[kind] = b.list
	}
	for c := range was.Filled {
		in.Filled[c] = true
	}
}

// markOf is markOf for a record that is read back: for a row, the columns that its
// database filled in do not count.
func (in *intent) markOf(raw []byte, unit bool) mark {
	r, ok, err := foreign.ParseRow(raw)
	if !unit || err != nil || !ok || r.Damage != "" {
		return markOf(raw, unit)
	}
	for i, c := range r.Columns {
		if !in.Filled[r.Table+"."+c] {
			r.Values[i] = nil
		}
	}
	return mark{kind: rowsOf + r.Table, hash: hashRow(r)}
}

// wrote reports whether everything in a source was written here: before, or by a
// writer that was killed.
//
// Errors are those of reading it.
func (h sideHead) wrote(ctx context.Context, is *currentSource, unit bool) (bool, error) {
	if h.Writing == nil {
		return false, nil
	}
	known := h.Echoes.index()
	marks := map[mark]bool{}
	for kind, list := range h.Writing.Marks {
		list.each(func(r recordHash, _ skein.Seq) { marks[mark{kind: kind, hash: r}] = true })
	}
	all := true
	err := is.each(ctx, func(raw []byte) error {
		m := h.Writing.markOf(raw, unit)
		all = all && (m.kind == nothing || len(known[hashRecord(raw)]) > 0 || marks[mark{kind: m.kind, hash: m.hash}])
		return nil
	})
	return all, err
}

// isPromise reports whether a side file of earlier versions is about to be written.
func isPromise(c candidate) bool { return c.size == 0 && isRecent(c) }

// isRecent reports whether the writer of a side file may not have finished yet.
func isRecent(c candidate) bool { return time.Since(time.Unix(0, c.mtime)) < patience }
