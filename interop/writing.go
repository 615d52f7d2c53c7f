package interop

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// Between the moment when a source has been written and the one when the store
// knows what was written, an import must not take it for the program's own.
// Who writes back holds a lease of the source's until both are true; who
// exports puts the side file there first, empty.

// patience is how long a sync waits for another one of the same source, and how
// long an empty side file is believed to be about to be filled. An import leaves
// the source for later after a second.
const (
	patience   = 30 * time.Second
	impatience = time.Second
)

// heldBy is the ID whose lease is held while a source of a unit is written, or
// what was read of it is stored. Sixty-four stand for all.
func heldBy(unit string) skein.SessionID {
	return skein.SessionID(fmt.Sprintf("writing~%02x", sha256.Sum256([]byte(unit))[0]%64))
}

// hold takes the right to write to a unit, or to store what is in it, and waits
// so long while somebody else has it.
//
// The error wraps [skein.ErrLocked] if that does not end; others are the
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
	l, err := s.Acquire(ctx, heldBy(unit), skein.LeaseRequest{Program: program})
	if err != nil {
		return nil, err
	}
	return func() error { return s.Release(context.WithoutCancel(ctx), l) }, nil
}

// current reports, with errTaken, that what was read is not to be stored: a
// sync is writing to the source, or somebody else has stored something of it
// since. Nobody does so before done is called.
func (t *target) current(ctx context.Context) (done func() error, err error) {
	done = func() error { return nil }
	if t.im.ours != "" || !t.knew || t.w.format.Write == nil {
		return done, nil
	}
	unit := t.w.now.path
	if t.w.unit != nil {
		unit = t.w.unit.path
	}
	if t.isRecent() || t.w.state.Intent != nil {
		if t.im.soon != nil {
			done, err = tryHold(ctx, t.im.store, "skein import", unit)
		} else {
			done, err = hold(ctx, t.im.store, "skein import", unit, impatience)
		}
		switch {
		case errors.Is(err, skein.ErrLocked):
			return nil, errTaken
		case err != nil:
			return nil, err
		}
	}
	f, err := t.im.store.File(ctx, t.file.Format, t.file.Path)
	switch {
	case errors.Is(err, skein.ErrNotFound):
		return done, nil
	case err == nil && !isAs(f, t.w.known):
		t.im.keep(f)
		err = errTaken
	}
	if err != nil {
		return nil, errors.Join(err, done())
	}
	return done, nil
}

// isRecent reports whether the source changed so lately that a sync may be
// what changed it.
func (t *target) isRecent() bool {
	if t.w.unit == nil {
		return isMoving(t.w.now)
	}
	return len(t.w.unit.files) == 0 || slices.ContainsFunc(t.w.unit.files, isMoving)
}

// isAs reports whether as much is stored of a source as of another.
func isAs(a, b skein.SourceFile) bool {
	was, is := decodeState(a.State), decodeState(b.State)
	return a.Session == b.Session && a.Records == b.Records && was.Sum == is.Sum && bytes.Equal(was.Told, is.Told) && was.Intent.same(is.Intent)
}

// waits notes that a file is left for later.
func (im *importer) waits(t *target) {
	path := t.w.now.path
	if t.w.unit != nil {
		path = t.w.unit.path
		if len(t.w.unit.files) > 0 {
			path = t.w.unit.files[0].path
		}
		t.w.unit.left.Store(true)
	}
	if im.soon == nil {
		im.leaves(path, &im.rep.Waiting, errLocked)
		return
	}
	im.soon(path)
}

// hurry makes a watch read a file again soon.
func (w *watch) hurry(path string) { w.later[path] = time.Now().Add(2 * restFor) }

// keeping does what writes these sessions and then their side files, which are
// there from the beginning, and go again if they were not written.
func (x *exporter) keeping(ws []inBatch, write func() error) (err error) {
	if x.o.NoSide {
		return write()
	}
	root, err := openHome(x.home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	made := map[string][]byte{} // what was there
	for _, w := range ws {
		if rel, was, ok := x.promise(root, w); ok {
			made[rel] = was
		}
	}
	err = write()
	for rel, was := range made {
		info, err2 := root.Lstat(rel)
		switch {
		case err2 != nil || !info.Mode().IsRegular() || info.Size() > 0:
		case was != nil:
			err = errors.Join(err, replaceFile(root, filepath.ToSlash(rel), was))
		default:
			err = errors.Join(err, root.Remove(rel))
		}
	}
	return err
}

// promise puts an empty file where the side file of a session will be, unless
// there is one that stays, and returns what was there; where that cannot be done,
// what is to be written cannot either.
func (x *exporter) promise(root *os.Root, w inBatch) (rel string, was []byte, made bool) {
	t := w.wrote.Texts[0]
	if w.exactly != "" || !filepath.IsLocal(filepath.FromSlash(t.Path)) || strings.ContainsAny(t.Path, "\x00\\") {
		return "", nil, false
	}
	rel, err := filepath.Rel(x.home, sidePath(x.format, filepath.Join(x.home, filepath.FromSlash(t.Path)), t.Name))
	if err != nil || root.MkdirAll(filepath.Dir(rel), 0o700) != nil {
		return "", nil, false
	}
	if t.was != nil {
		if was, err = root.ReadFile(rel); err == nil {
			return rel, was, replaceFile(root, filepath.ToSlash(rel), nil) == nil
		}
	}
	f, err := root.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", nil, false
	}
	return rel, nil, f.Close() == nil
}

// isPromise reports whether a side file is one that is about to be written.
func isPromise(c candidate) bool {
	return c.size == 0 && time.Since(time.Unix(0, c.mtime)) < patience
}
