package interop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/interop/reconcile"
)

// write writes what is new.
func (y *syncer) write(ctx context.Context, done *Synced) error {
	x := &exporter{store: y.store, format: y.format, home: y.home, o: Exports{Now: time.Now()}, spots: map[skein.SessionID]Spot{}}
	d, err := x.draft(ctx, y.sess)
	if err != nil {
		return err
	}
	d.After, d.Path, d.Name = y.from.Last, y.below, y.name
	d.Known = y.store.Records(ctx, y.format.Name, y.from.file.Path, 0)
	d.Tells = newTeller(d.Events, d.After, y.from.echoes).tells
	for _, e := range d.Events {
		if e.Seq > d.After && reconcile.Talks(e.Kind) {
			done.Events++
		}
	}
	w, err := y.format.Write(ctx, d)
	if err != nil {
		return err
	}
	done.Losses = w.Losses
	own := slices.IndexFunc(w.Texts, func(t Text) bool { return t.Path == y.below && t.Name == y.name })
	if own < 0 {
		return fmt.Errorf("%w: %s holds nothing of what is new", skein.ErrInvalid, y.format.Name)
	}
	w.Texts[own].reach(d.Events)
	last := d.Events[len(d.Events)-1].Seq
	in := newIntent(w.Texts, own, y.format.inUnit(y.from.file), last)
	in.Events, in.Losses = done.Events, done.Losses
	if err := y.saveIntent(ctx, in); err != nil {
		return err
	}
	if !y.format.inUnit(y.from.file) {
		err = y.appendLines(ctx, w.Texts[own].Lines)
	} else {
		err = y.putUnit(ctx, x, w.Texts)
	}
	if err != nil {
		return errors.Join(err, y.forget(ctx))
	}
	return y.end(ctx, x, w.Texts)
}

// end writes the files beside the source, once the source is written, and tells the
// store what was written.
func (y *syncer) end(ctx context.Context, x *exporter, texts []Text) error {
	for _, t := range texts {
		if t.Path != y.below {
			if err := x.put(ctx, []Text{t}); err != nil {
				return err
			}
		}
	}
	if err := y.adopt(ctx); err != nil {
		return err
	}
	if err := y.side(ctx, x); err != nil {
		return err
	}
	return y.saveIntent(ctx, nil)
}

// hasSide reports whether the source has a side file.
func (y *syncer) hasSide() (bool, error) {
	info, err := os.Lstat(sidePath(y.format, y.unit, y.name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Mode().IsRegular(), err
}

// side rewrites the source's side file, if there is one: only the side file has what
// the session went back over.
func (y *syncer) side(ctx context.Context, x *exporter) error {
	if has, err := y.hasSide(); !has || err != nil {
		return err
	}
	f, err := skein.SourcesOf(y.store.Store).File(ctx, y.format.Name, y.from.file.Path)
	if err != nil {
		return err
	}
	sum := newSummer(y.format.inUnit(f))
	for r, err := range y.store.Records(ctx, y.format.Name, f.Path, 0) {
		if err != nil {
			return err
		}
		sum.add(r.Raw)
	}
	return x.sideAt(ctx, sidePath(y.format, y.unit, y.name), y.sess, decodeState(f.State).Echoes, sum.String())
}

// appendLines appends to a file of lines.
func (y *syncer) appendLines(ctx context.Context, lines []OutLine) error {
	info, err := os.Stat(y.unit)
	if err != nil {
		return err
	}
	same, err := y.stands(ctx)
	switch {
	case err != nil:
		return err
	case !same:
		return ErrChanged
	}
	var b bytes.Buffer
	for r, err := range y.store.Records(ctx, y.format.Name, y.from.file.Path, max(0, y.from.file.Records-1)) {
		if err != nil {
			return err
		}
		if !bytes.HasSuffix(r.Raw, []byte("\n")) {
			b.WriteByte('\n')
		}
	}
	for _, l := range lines {
		b.Write(l.Body)
	}
	return appendFile(y.unit, info.Size(), b.Bytes())
}

// putUnit puts the sources of a unit that have something new into it.
func (y *syncer) putUnit(ctx context.Context, x *exporter, texts []Text) error {
	var parts []Part
	for _, t := range texts {
		if t.Path != y.below {
			continue
		}
		was, err := x.records(ctx, sourcePath(y.unit, t.Name))
		if err != nil && !errors.Is(err, skein.ErrNotFound) {
			return err
		}
		p := Part{Name: t.Name, Was: bytes.NewReader(was), Lines: bytes.NewReader(whole(was, t.Lines))}
		if len(t.Gone) > 0 {
			p.Gone = bytes.NewReader(bytes.Join(t.Gone, nil))
		}
		parts = append(parts, p)
	}
	return y.format.Put(ctx, y.unit, parts)
}

// whole returns the lines that a source is to have: for a folder, each file whole,
// with as many of its previous lines as its own line says.
func whole(was []byte, lines []OutLine) []byte {
	var pieces, ends []byte
	new := map[string]bool{}
	count := map[string]int{}
	touched := map[string]bool{}
	size := map[string]int{}
	isFolder := false
	for _, l := range lines {
		new[identity(l.Body, count)] = true
		if f, err := folder.Peek(l.Body); err == nil {
			isFolder, touched[f.File] = true, true
			if f.Lines != nil {
				size[f.File] = *f.Lines
			}
		}
	}
	if !isFolder {
		for _, l := range lines {
			ends = append(ends, l.Body...)
		}
		return ends
	}
	clear(count)
	for line := range bytes.Lines(was) {
		f, err := folder.Peek(line)
		if err == nil && f.Line != nil && touched[f.File] && !cut(size, f) && !new[identity(line, count)] {
			pieces = append(pieces, line...)
		}
	}
	for _, l := range lines {
		if f, err := folder.Peek(l.Body); err == nil && f.Line != nil {
			pieces = append(pieces, l.Body...)
		} else {
			ends = append(ends, l.Body...)
		}
	}
	return append(pieces, ends...)
}

// cut reports whether a line is after the end that its file is to have.
func cut(size map[string]int, l folder.Line) bool {
	n, ends := size[l.File]
	return ends && *l.Line >= n
}
