package interop

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
)

// A Synced says what [Sync] did.
type Synced struct {
	Session skein.SessionID `json:"session"`
	Path    string          `json:"path"`           // of the file or unit that was written to, absolute
	Name    string          `json:"name,omitempty"` // of the source in a unit
	Events  int             `json:"events"`         // that were written; 0 if there was nothing new
	Losses  Losses          `json:"losses,omitempty"`
	Report  Report          `json:"-"` // what the file brought, if it had changed
}

// Sync writes what is new in a session into the file that it came from, as f's
// program would have. Where the file has changed since it was read, that is
// imported first; if both went on, nothing is written: the file's line is then
// a fork of the session.
//
// The error wraps [ErrChanged] in that case, [skein.ErrNotFound] if there is no
// such session or the file is gone, [skein.ErrInvalid] if the session did not
// come from such a file or f cannot write one, and [skein.ErrLocked] if the
// program has it open; others are the store's and the system's.
func Sync(ctx context.Context, s skein.Store, f Format, id skein.SessionID) (done Synced, err error) {
	defer skein.Wrapf(&err, "sync %s with %s", id, f.Name)
	y := &syncer{store: s, format: f}
	done.Session = id
	if y.sess, y.from, err = y.origin(ctx, id); err != nil {
		return done, err
	}
	x := &exporter{format: f}
	y.unit, y.name = x.split(y.from.file.Path)
	y.below, y.home = homeOf(x, y.unit)
	done.Path, done.Name = y.unit, y.name
	if err := y.fresh(ctx, &done); err != nil || !y.from.wentOn {
		return done, err
	}
	if f.Lock != nil {
		unlock, err := f.Lock(ctx, y.unit, y.name)
		if err != nil {
			return done, err
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	return done, y.write(ctx, &done)
}

// A syncer is one call of Sync.
type syncer struct {
	store       skein.Store
	format      Format
	sess        skein.Session
	from        provenanceOf
	unit, name  string // of the source
	home, below string
}

// origin returns a session and where it came from.
func (y *syncer) origin(ctx context.Context, id skein.SessionID) (sess skein.Session, p provenanceOf, err error) {
	if sess, err = y.store.Session(ctx, id); err != nil {
		return sess, p, err
	}
	if y.format.Write == nil {
		return sess, p, fmt.Errorf("%w: format %s can be read only", skein.ErrInvalid, y.format.Name)
	}
	p, err = provenance(ctx, y.store, y.format.Name, sess)
	if err == nil && !p.found {
		err = fmt.Errorf("%w: no file of %s is this session's", skein.ErrInvalid, y.format.Name)
	}
	return sess, p, err
}

// homeOf returns the home of the program that path is a file of, and where it
// lies below that, with slashes.
func homeOf(x *exporter, path string) (below, home string) {
	below = x.below(path)
	if home, ok := strings.CutSuffix(filepath.ToSlash(path), "/"+below); ok {
		return below, filepath.FromSlash(home)
	}
	return filepath.Base(path), filepath.Dir(path)
}

// fresh imports what is new in the file.
func (y *syncer) fresh(ctx context.Context, done *Synced) error {
	same, err := y.stands(ctx)
	if err != nil || same {
		return err
	}
	if done.Report, err = Import(ctx, y.store, []Format{y.format}, []string{y.unit}, Options{}); err != nil {
		return err
	}
	before := y.sess.Last
	if y.sess, y.from, err = y.origin(ctx, y.sess.ID); err != nil {
		if errors.Is(err, skein.ErrInvalid) { // a fork has the file now
			err = fmt.Errorf("%s: %w: both have gone on", y.unit, ErrChanged)
		}
		return err
	}
	switch same, err := y.stands(ctx); {
	case err != nil:
		return err
	case !same:
		return fmt.Errorf("%s: %w: its program is writing it", y.unit, ErrChanged)
	case y.from.mixed && y.sess.Last > before:
		return fmt.Errorf("%s: %w: both have gone on", y.unit, ErrChanged)
	}
	return nil
}

// stands reports whether the source is as it is stored.
func (y *syncer) stands(ctx context.Context) (bool, error) {
	h := sha256.New()
	if err := WriteSource(ctx, y.store, y.format.Name, y.from.file.Path, h); err != nil {
		return false, err
	}
	is := sha256.New()
	err := y.lines(ctx, func(r io.Reader) error {
		_, err := io.Copy(is, r)
		return err
	})
	return bytes.Equal(h.Sum(nil), is.Sum(nil)), err
}

// lines gives read the source as it is now.
func (y *syncer) lines(ctx context.Context, read func(io.Reader) error) (err error) {
	if y.format.Look == nil {
		f, _, err := open(y.unit)
		if err != nil {
			return err
		}
		defer f.Close()
		w := &work{format: y.format, now: candidate{path: y.unit}}
		w.stream = newStream(y.format, w.file())
		packed, err := w.unpack(f)
		switch {
		case err != nil:
			return err
		case packed != nil:
			return errors.Join(fmt.Errorf("%w: %s is packed", skein.ErrInvalid, y.unit), packed.Close())
		}
		return read(ctxReader{ctx, f})
	}
	u, err := y.format.Look(ctx, y.unit)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.Close()) }()
	if _, err := u.Sources(ctx); err != nil {
		return err
	}
	r, err := u.Open(ctx, y.name)
	if err != nil {
		return err
	}
	defer r.Close()
	return read(r)
}

// write writes what is new.
func (y *syncer) write(ctx context.Context, done *Synced) error {
	x := &exporter{store: y.store, format: y.format, home: y.home, o: Exports{Now: time.Now()}, spots: map[skein.SessionID]Spot{}}
	d, err := x.draft(ctx, y.sess)
	if err != nil {
		return err
	}
	d.After, d.Path, d.Name = y.from.last, y.below, y.name
	d.Known = y.store.Records(ctx, y.format.Name, y.from.file.Path, 0)
	d.Other = y.other(ctx, x)
	for _, e := range d.Events {
		if e.Seq > d.After && talks(e.Kind) {
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
	if y.format.Look == nil {
		err = y.appendLines(ctx, w.Texts[own].Lines)
	} else {
		err = y.putUnit(ctx, x, w.Texts)
	}
	if err != nil {
		return err
	}
	for _, t := range w.Texts {
		if t.Path != y.below {
			if err := x.put(ctx, []Text{t}); err != nil {
				return err
			}
		}
	}
	return y.adopt(ctx, w.Texts[own].Lines)
}

// other returns where sessions that came from the same format are.
func (y *syncer) other(ctx context.Context, x *exporter) func(skein.SessionID) (Spot, bool) {
	return func(id skein.SessionID) (Spot, bool) {
		s, err := y.store.Session(ctx, id)
		if err != nil || s.Origin == nil || s.Origin.Format != y.format.Name {
			return Spot{}, false
		}
		unit, name := x.split(s.Origin.Path)
		below, _ := homeOf(x, unit)
		return Spot{s.Origin.ID, below, name}, true
	}
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
		parts = append(parts, Part{Name: t.Name, Was: bytes.NewReader(was), Lines: bytes.NewReader(whole(was, t.Lines))})
	}
	return y.format.Put(ctx, y.unit, parts)
}

// whole returns the lines that a source is to have: of a folder, each file
// whole, with the lines that it had.
func whole(was []byte, lines []OutLine) []byte {
	var pieces, ends []byte
	new := map[string]bool{}
	count := map[string]int{}
	touched := map[string]bool{}
	isFolder := false
	for _, l := range lines {
		new[identity(l.Body, count)] = true
		if f, err := folder.Parse(l.Body); err == nil {
			isFolder, touched[f.File] = true, true
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
		f, err := folder.Parse(line)
		if err == nil && f.Line != nil && touched[f.File] && !new[identity(line, count)] {
			pieces = append(pieces, line...)
		}
	}
	for _, l := range lines {
		if f, err := folder.Parse(l.Body); err == nil && f.Line != nil {
			pieces = append(pieces, l.Body...)
		} else {
			ends = append(ends, l.Body...)
		}
	}
	return append(pieces, ends...)
}

// adopt reads again what was written, as records of events that the session
// has.
func (y *syncer) adopt(ctx context.Context, lines []OutLine) error {
	known := map[recordHash]int{}
	for r, err := range y.store.Records(ctx, y.format.Name, y.from.file.Path, 0) {
		if err != nil {
			return err
		}
		known[hashRecord(r.Raw)]++
	}
	w := &work{format: y.format}
	w.stream = newStream(y.format, File{Path: y.unit, Name: y.name, Beside: func(string) ([]byte, bool) { return nil, false }})
	var raws [][]byte
	err := y.lines(ctx, func(r io.Reader) error {
		return w.stream.run(r, func(rd read) error {
			if h := hashRecord(rd.rec.Raw); known[h] > 0 {
				known[h]--
			} else {
				raws = append(raws, rd.rec.Raw)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	var rep Report
	im, err := newImporter(ctx, y.store, []Format{y.format}, Options{}, &rep)
	if err != nil {
		return err
	}
	im.adopts = map[string]told{y.from.file.Path: match(y.from.told, raws, lines)}
	found, err := walk(ctx, []string{y.unit}, &rep)
	if err != nil {
		return err
	}
	return im.importAll(ctx, found, still, nil)
}

// match adds to list the new records of a source, which was given these lines.
func match(list told, raws [][]byte, lines []OutLine) told {
	seqs, count := map[string]skein.Seq{}, map[string]int{}
	for _, l := range lines {
		seqs[identity(l.Body, count)] = l.Seq
	}
	clear(count)
	b := builderOfTold{list: slices.Clone(list)}
	list.each(func(_ recordHash, s skein.Seq) { b.seq = s })
	seq := b.seq
	for _, raw := range raws {
		if s := seqs[identity(raw, count)]; s > 0 {
			seq = s
		}
		b.add(hashRecord(raw), seq)
	}
	return b.list
}
