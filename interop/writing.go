package interop

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/foreign"
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
func (in *intent) markOf(raw []byte, unit bool) recordMark {
	r, ok, err := foreign.ParseRow(raw)
	if !unit || err != nil || !ok || r.Damage != "" {
		return markOf(raw, unit)
	}
	for i, c := range r.Columns {
		if !in.Filled[r.Table+"."+c] {
			r.Values[i] = nil
		}
	}
	return recordMark{kind: rowsOf + r.Table, hash: hashRow(r)}
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
	marks := map[recordMark]bool{}
	for kind, list := range h.Writing.Marks {
		list.each(func(r recordHash, _ skein.Seq) { marks[recordMark{kind: kind, hash: r}] = true })
	}
	all := true
	err := is.each(ctx, func(raw []byte) error {
		m := h.Writing.markOf(raw, unit)
		all = all && (m.kind == nothing || len(known[hashRecord(raw)]) > 0 || marks[recordMark{kind: m.kind, hash: m.hash}])
		return nil
	})
	return all, err
}

// isPromise reports whether a side file of earlier versions is about to be written.
func isPromise(c candidate) bool { return c.size == 0 && isRecent(c) }

// isRecent reports whether the writer of a side file may not have finished yet.
func isRecent(c candidate) bool { return time.Since(time.Unix(0, c.mtime)) < patience }

// leftFor is how long files must be unchanged to count as left behind by a process that
// was killed. No live process takes so long; one that slept with its machine fails
// afterward, and leaves its source unchanged.
const leftFor = time.Hour

// sweep removes the temporary files around a source whose writer was killed. The lease
// of the source is held, but another source there may be being written, so only old
// files are removed. What cannot be removed stays.
func sweep(unit string, around []string) {
	dirs := append([]string{filepath.Dir(unit)}, around...)
	if info, err := os.Lstat(unit); err == nil && info.IsDir() {
		dirs = append(dirs, unit)
	}
	for i, dir := range dirs {
		sweepIn(dir, i > 0)
	}
}

func sweepIn(dir string, below bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	var old []string
	deep := 0
	if below {
		deep = maxFolders
	}
	find(root, ".", deep, &old)
	for _, name := range old {
		_ = root.RemoveAll(name)
	}
}

// find adds what is left behind in a folder and its subfolders.
func find(root *os.Root, dir string, deep int, old *[]string) {
	d, err := root.Open(dir)
	if err != nil {
		return
	}
	entries, _ := d.ReadDir(-1)
	_ = d.Close()
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		info, err := e.Info()
		switch {
		case err != nil || !info.IsDir() && !info.Mode().IsRegular():
		case folder.IsOurs(e.Name()):
			if time.Since(info.ModTime()) > leftFor {
				*old = append(*old, name)
			}
		case info.IsDir() && deep > 0:
			find(root, name, deep-1, old)
		}
	}
}
