package writeback

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/records"
)

// A destination is the folder below which the files of a format's program are.
type destination struct {
	format interop.Format
	home   string // absolute
	looked units
}

// isUnit reports whether the path below home is that of a unit, by its name.
func (d *destination) isUnit(path string) bool {
	return records.IsUnitPath(&d.format, filepath.ToSlash(filepath.Join(d.home, filepath.FromSlash(path))))
}

// InUnit reports whether a text goes into a unit.
func (d *destination) inUnit(t interop.SourceText) bool {
	return t.As == interop.AUnit || t.As == interop.ByName && d.isUnit(t.Path)
}

// source returns the unit of a text, nil for a file, and whether the unit has the
// text's source.
func (d *destination) source(ctx context.Context, t interop.SourceText) (*records.Opened, bool, error) {
	if d.format.Put == nil || !d.inUnit(t) {
		info, err := os.Lstat(filepath.Join(d.home, filepath.FromSlash(t.Path)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, false, nil
		}
		return nil, err == nil && info.Mode().IsRegular(), err
	}
	if d.looked.path != t.Path {
		if err := d.looked.close(); err != nil {
			return nil, false, err
		}
		u := &records.Opened{Path: filepath.Join(d.home, filepath.FromSlash(t.Path)), Formats: []*interop.Format{&d.format}}
		_, err := u.Look(ctx)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, interop.ErrOther) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		d.looked = units{path: t.Path, unit: u, names: map[string]bool{}}
		sources, err := u.Unit.Sources(ctx)
		if err != nil {
			return nil, false, err
		}
		for _, s := range sources {
			d.looked.names[s.Name] = true
		}
	}
	return d.looked.unit, d.looked.names[t.Name], nil
}

// current reads the source that a text is written to; nil if it does not exist.
func (d *destination) current(ctx context.Context, t interop.SourceText) (*currentSource, error) {
	if !filepath.IsLocal(filepath.FromSlash(t.Path)) {
		return nil, nil
	}
	u, there, err := d.source(ctx, t)
	if err != nil || !there {
		return nil, err
	}
	w := &records.FileJob{Format: d.format, Now: disk.File{Path: filepath.Join(d.home, filepath.FromSlash(t.Path))}, Name: t.Name, Unit: u}
	is := &currentSource{work: w}
	return is, is.each(ctx, func([]byte) error { return nil })
}

// look opens the unit at path below home, in its current state; the caller closes it.
func (d *destination) look(ctx context.Context, path string) (*records.Opened, error) {
	u := &records.Opened{Path: filepath.Join(d.home, filepath.FromSlash(path)), Formats: []*interop.Format{&d.format}}
	if _, err := u.Look(ctx); err != nil {
		return nil, err
	}
	if _, err := u.Unit.Sources(ctx); err != nil {
		return nil, errors.Join(err, u.Unit.Close())
	}
	return u, nil
}

// headOf returns the head of the side file of a text's source; zero if there is no
// side file of this format.
func (d *destination) headOf(t interop.SourceText) records.SideHead {
	f, _, err := disk.Open(records.SidePath(filepath.Join(d.home, filepath.FromSlash(t.Path)), t.Name))
	if err != nil {
		return records.SideHead{}
	}
	defer f.Close()
	head, _, err := records.ReadSideHead(f)
	if err != nil || head.Format != d.format.Name {
		return records.SideHead{}
	}
	return head
}

// written reads back what was written to t. u is the unit that it is in, if that is open.
func (d *destination) written(ctx context.Context, t interop.SourceText, u *records.Opened, k *lack) (list records.Echoes, sum string, err error) {
	err = d.job(ctx, t.Path, t.Name, u, func(w *records.FileJob) error {
		list, sum, err = echoesOf(ctx, w, t.Lines, k)
		return err
	})
	return list, sum, err
}

// job calls f to read a source from its start. u is the unit that it is in, if that is
// open. The error is f's, or that of opening the unit.
func (d *destination) job(ctx context.Context, path, name string, u *records.Opened, f func(*records.FileJob) error) (err error) {
	if u == nil && d.format.Put != nil && d.isUnit(path) {
		if u, err = d.look(ctx, path); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, u.Unit.Close()) }()
	}
	w := &records.FileJob{Format: d.format, Now: disk.File{Path: filepath.Join(d.home, filepath.FromSlash(path))}, Name: name, Unit: u}
	w.Stream = records.NewStream(d.format, w.File())
	return f(w)
}

// repeats reports whether what was written, with the lack k, begins as the source at
// above does: an import then makes a fork of it. u is the unit that it is in, if that
// is open.
func (d *destination) repeats(ctx context.Context, k *lack, above interop.Spot, u *records.Opened) (bool, error) {
	parent := newLack()
	err := d.job(ctx, above.Path, above.Name, u, func(w *records.FileJob) error {
		return w.Read(ctx, func(r records.ReadRecord) error {
			if parent.take(r.Made); parent.first != "" {
				return errEnough
			}
			return nil
		})
	})
	if err != nil && !errors.Is(err, errEnough) {
		return false, err
	}
	return k.first != "" && k.first == parent.first, nil
}

// errEnough ends a reading.
var errEnough = errors.New("read enough")

// logs adds to k what was written into files in which other sessions have lines too.
func (d *destination) logs(all []interop.SourceText, k *lack) {
	for _, t := range all {
		if !t.Log {
			continue
		}
		r := d.format.Open(interop.File{Path: filepath.Join(d.home, filepath.FromSlash(t.Path))})
		for i, l := range t.Lines {
			if m, err := r.Read(interop.Line{N: i, Number: i + 1, Body: bytes.TrimSpace(l.Body.Bytes())}); err == nil {
				k.take(m)
			}
		}
	}
}

// put writes the texts that a format made: files, and units as a whole.
func (d *destination) put(ctx context.Context, texts []interop.SourceText) (err error) {
	if err := d.looked.close(); err != nil {
		return err
	}
	units := map[string][]interop.Part{}
	var order []string
	for _, t := range texts {
		if !filepath.IsLocal(filepath.FromSlash(t.Path)) || strings.ContainsAny(t.Path, "\x00\\") {
			return fmt.Errorf("%w: path %q leads out of %s", skein.ErrInvalid, t.Path, d.home)
		}
		if t.Was != nil && d.format.Lock != nil {
			unlock, err2 := d.format.Lock(ctx, filepath.Join(d.home, filepath.FromSlash(t.Path)), t.Name)
			if err2 != nil {
				return err2
			}
			defer func() { err = errors.Join(err, unlock()) }()
		}
		if t.Log {
			if err := logBelow(d.home, t.Path, t.Lines); err != nil {
				return err
			}
			continue
		}
		if d.format.Put == nil || !d.inUnit(t) {
			if err := disk.PutFile(d.home, t.Path, linesOf(&t), t.Was); err != nil {
				return err
			}
			continue
		}
		if units[t.Path] == nil {
			order = append(order, t.Path)
		}
		part := interop.Part{Name: t.Name, Lines: linesOf(&t)}
		if t.Was != nil {
			part.Was, part.Gone = t.Was.Again(), lines.New(gone(&t)...)
		}
		units[t.Path] = append(units[t.Path], part)
	}
	for _, path := range order {
		if err := d.format.Put(ctx, filepath.Join(d.home, filepath.FromSlash(path)), units[path]); err != nil {
			return err
		}
	}
	return nil
}

// A currentSource is a source, in its current state, for a session to be written to.
type currentSource struct {
	work *records.FileJob
	sum  string // see summer
}

// each calls f with each record. The error is f's, that of reading, or wraps
// [interop.ErrChanged] if the source has changed since it was first read.
func (is *currentSource) each(ctx context.Context, f func(raw []byte) error) error {
	is.work.Stream = records.NewStream(is.work.Format, is.work.File())
	sum := newSummer(is.work.Unit != nil)
	err := is.work.Read(ctx, func(r records.ReadRecord) error {
		sum.add(r.Rec.Raw)
		return f(r.Rec.Raw)
	})
	if got := sum.String(); err == nil && is.sum != "" && is.sum != got {
		err = interop.ErrChanged
	} else if err == nil {
		is.sum = got
	}
	return err
}

// lines returns the source's lines. Errors are those of each.
func (is *currentSource) lines(ctx context.Context) (*lines.Lines, error) {
	var all [][]byte
	err := is.each(ctx, func(raw []byte) error {
		all = append(all, bytes.Clone(raw))
		return nil
	})
	return lines.New(all...), err
}

// A recordsDigest computes a checksum of what the records of a source say, ignoring the times
// of file changes and the rowids of rows.
type recordsDigest struct {
	hash.Hash
	unit bool
}

func newSummer(unit bool) recordsDigest { return recordsDigest{sha256.New(), unit} }

func (s recordsDigest) add(raw []byte) {
	if m := records.MarkOf(raw, records.LineShape{Unit: s.unit}); m.Kind != records.NoMark {
		fmt.Fprintf(s, "%s\x00%x\x00%s\x00", m.Kind, m.Hash, m.File)
	}
}

func (s recordsDigest) String() string { return hex.EncodeToString(s.Sum(nil)) }

// units is the unit that was looked at last, and its sources. It is valid until
// something is written.
type units struct {
	path  string
	unit  *records.Opened
	names map[string]bool
}

func (u *units) close() (err error) {
	if u.unit != nil {
		err = u.unit.Unit.Close()
	}
	*u = units{}
	return err
}

// belowHome returns the path below home where a file or unit is to be written.
func belowHome(f *interop.Format, path string) string {
	path = filepath.ToSlash(disk.PlainPath(path))
	if f.Below != nil {
		if b := f.Below(path); b != "" && filepath.IsLocal(filepath.FromSlash(b)) {
			return b
		}
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}

// homeOf returns the home of the program that the file at path belongs to, and where
// the file is below that, with slashes.
func homeOf(f *interop.Format, path string) (below, home string) {
	below = belowHome(f, path)
	if home, ok := strings.CutSuffix(filepath.ToSlash(path), "/"+below); ok {
		return below, filepath.FromSlash(home)
	}
	return filepath.Base(path), filepath.Dir(path)
}

// echoesOf returns the list of the records of a source as it is now, just made from
// these lines, and their checksum. It releases the lines as it goes: both they and the
// records may be long.
func echoesOf(ctx context.Context, w *records.FileJob, lines []interop.OutLine, k *lack) (records.Echoes, string, error) {
	var raws []records.RecordHash
	var idents []string
	seqs, count := map[string]skein.Seq{}, map[string]int{}
	for _, l := range lines {
		seqs[records.Identity(l.Body.Gist(), count)] = l.Seq
	}
	clear(lines)
	clear(count)
	sum := newSummer(w.Unit != nil)
	err := w.Read(ctx, func(r records.ReadRecord) error {
		sum.add(r.Rec.Raw)
		k.take(r.Made)
		raws = append(raws, records.HashRecord(r.Rec.Raw))
		idents = append(idents, records.Identity(r.Rec.Raw, count))
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	b := records.EchoBuilder{}
	var seq skein.Seq
	for i, h := range raws {
		if s, ok := seqs[idents[i]]; ok {
			seq = s
		}
		b.Add(h, seq)
	}
	return b.List, sum.String(), nil
}
