package interop

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/skein-dev/skein"
)

// opened is a unit that is to be read or is being read.
type opened struct {
	path    string
	formats []*Format   // that may know it
	files   []candidate // files of it that were found: to be read by themselves if it is not a unit
	unit    Unit
	left    atomic.Bool // some source was not imported to its end: the unit must not look unchanged
}

func (w *work) unfinished() bool { return w.unit != nil && w.name == "" && w.unit.left.Load() }

func (o *opened) file(name string) File {
	return File{Path: plain(o.path), Name: name, Unit: true, Beside: func(rel string) ([]byte, bool) {
		if info, err := os.Lstat(o.path); err == nil && info.IsDir() {
			return beside(filepath.Join(o.path, "x"), rel)
		}
		return beside(o.path, rel)
	}}
}

// sourcePath returns the path under which a store knows a source: that of its unit,
// followed by a number sign and its name, escaped.
func sourcePath(unit, name string) string {
	if name == "" {
		return unit
	}
	if name = url.PathEscape(name); len(name) > 512 {
		name = digest([]byte(name))
	}
	return unit + "#" + name
}

// produceUnit reads what has changed in a unit and hands it to sink, the
// source "" last: when that ends, the unit's current state is known.
func (pr *producer) produceUnit(ctx context.Context, w *work, sink func(chunk) error) (err error) {
	alone := &work{format: w.format, now: w.now, unit: w.unit} // for what is reported of the unit, not of a source
	fail := func(err error) error {
		if errors.Is(err, ErrTorn) {
			return sink(chunk{w: alone, end: true, skips: []Skip{{w.now.path, why(err)}}, torn: true})
		}
		return sink(chunk{w: alone, end: true, failed: err})
	}
	f, err := w.unit.look(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrOther):
		return sink(chunk{w: alone, end: true, other: true})
	case err != nil:
		return fail(err)
	}
	defer func() {
		if closing := w.unit.unit.Close(); closing != nil && err == nil {
			err = sink(w.says(closing))
		}
	}()
	w.format = *f
	if w.known, err = pr.im.known.stored(ctx, w.format.Name, w.now.path); err != nil {
		return fail(err)
	}
	sources, err := w.unit.sources(ctx)
	if err != nil {
		return fail(err)
	}
	if p, packed := w.unit.unit.(*packedUnit); packed && p.damage != nil {
		if err := sink(chunk{w: alone, err: p.damage}); err != nil {
			return err
		}
	}
	for _, s := range sources {
		if s.Name == "" {
			continue
		}
		if err := pr.produceSource(ctx, w, s, sink); err != nil {
			return err
		}
	}
	if skips := w.unit.unit.Skips(); len(skips) > 0 {
		if err := sink(chunk{w: alone, skips: skips}); err != nil {
			return err
		}
	}
	return pr.produce(ctx, w.begin(), sink)
}

func (o *opened) sources(ctx context.Context) (all []Source, err error) {
	defer guard(&err)
	return o.unit.Sources(ctx)
}

// look opens the unit in the first format that knows it.
func (o *opened) look(ctx context.Context) (_ *Format, err error) {
	defer guard(&err)
	err = ErrOther
	_, packed := PlainName(o.path)
	if info, err := os.Lstat(o.path); err == nil && info.IsDir() {
		packed = false
	}
	for _, f := range o.formats {
		if packed {
			o.unit, err = f.lookPacked(ctx, o.path)
		} else {
			o.unit, err = f.Look(ctx, o.path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			if _, there := os.Lstat(o.path); there != nil { // there are only files that may belong to it
				err = ErrOther
			}
		}
		if !errors.Is(err, ErrOther) {
			return f, err
		}
	}
	if other := (otherError{}); errors.As(err, &other) {
		err = other.damage
	}
	return nil, err
}

// produceSource reads a source, if it has changed.
func (pr *producer) produceSource(ctx context.Context, of *work, s Source, sink func(chunk) error) (err error) {
	w := &work{format: of.format, unit: of.unit, name: s.Name, patient: of.patient}
	w.now = candidate{path: sourcePath(of.unit.path, s.Name), size: s.Size}
	sum := sha256.Sum256([]byte(s.Stamp))
	w.now.inode = binary.BigEndian.Uint64(sum[:]) >> 1
	if w.known, err = pr.im.known.stored(ctx, w.format.Name, w.now.path); err != nil {
		return sink(chunk{w: w, end: true, failed: err})
	}
	if s.Stamp != "" && w.now.path != pr.im.ours && unchanged(w.now, w.known) && w.known.Records > 0 {
		return nil
	}
	return pr.produce(ctx, w.begin(), sink)
}

// readSource runs the stream of a source over its content.
func (w *work) readSource(ctx context.Context, emit func(read) error) error {
	r, err := w.unit.unit.Open(ctx, w.name)
	if err != nil {
		return err
	}
	defer r.Close()
	in := bufio.NewReaderSize(ctxReader{ctx, r}, 64<<10)
	head, err := in.Peek(headLen)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	w.head = skein.Hash(digest(head))
	if _, err := io.CopyN(io.Discard, in, w.stream.at.Offset); err != nil {
		return err
	}
	return w.stream.run(in, emit)
}

// restFor is the shortest time between two looks at a unit that is watched. If a look
// takes longer, the unit rests for twice as long as it took.
const restFor = 100 * time.Millisecond

// takeUnits reads what is new in units.
func (w *watch) takeUnits(ctx context.Context, units []unitFound) error {
	for _, u := range units {
		var p Progress
		for _, pl := range w.im.planner.planUnits([]unitFound{u}, &p) {
			start := time.Now()
			if err := w.takeOne(ctx, pl); err != nil {
				return err
			}
			w.rest[u.path] = time.Now().Add(max(restFor, 2*time.Since(start)))
		}
	}
	fallen := w.im.planner.fallen
	w.im.planner.fallen = nil
	for _, c := range slices.Concat(fallen...) {
		if err := w.take(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// readUnit reads one unit.
func (im *importer) readUnit(ctx context.Context, w *work) error {
	var t *target
	return im.producer.produceUnit(ctx, w, func(ch chunk) error {
		if t == nil || t.w != ch.w {
			t = newTarget(im, ch.w)
		}
		return im.takeChunk(ctx, t, ch)
	})
}
