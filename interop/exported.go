package interop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// Exports says how to export. The zero value is the usual case.
type Exports struct {
	NoChildren bool      // leave out the sessions that it started
	NoSide     bool      // write no side file: the way back is not exact then
	Now        time.Time // zero for the clock's
	Places     []string  // where the program looks, below home: what would lie elsewhere as it was is written anew
}

// An Exported is a session that was written.
type Exported struct {
	Session skein.SessionID `json:"session"`
	Spot    Spot            `json:"spot"`
	Exact   bool            `json:"exact"` // the bytes that it was read from
	Losses  Losses          `json:"losses,omitempty"`
	Side    string          `json:"side,omitempty"` // path of the side file
}

// Export writes a session and what it started to home, the folder that stands
// for the one where f's program keeps its files. One that was read from such
// files and has not gone on here is written byte for byte as they were; of
// others, what the program cannot hold is in Losses and, with all else, in a
// side file, from which an import makes the same session again. What is there
// already stays: nothing is overwritten.
//
// The error wraps [skein.ErrNotFound], [skein.ErrInvalid] if f cannot be
// written or the session has nothing that it could hold, or [skein.ErrExists]
// or [ErrChanged] if there is another one in its place; others are the store's
// and the system's. What was written before is returned with it.
func Export(ctx context.Context, s skein.Store, f Format, id skein.SessionID, home string, o Exports) (done []Exported, err error) {
	defer skein.Wrapf(&err, "export %s as %s", id, f.Name)
	x := &exporter{store: s, format: f, home: home, o: o, spots: map[skein.SessionID]Spot{}, files: map[string]bool{}}
	if x.o.Now.IsZero() {
		x.o.Now = time.Now()
	}
	if x.home, err = filepath.Abs(home); err != nil {
		return nil, err
	}
	err = x.tree(ctx, id)
	return x.done, err
}

// An exporter is one call of Export.
type exporter struct {
	store  skein.Store
	format Format
	home   string
	o      Exports
	spots  map[skein.SessionID]Spot // of what was written
	files  map[string]bool          // that were written as they are, by their paths in the store
	done   []Exported
}

// tree writes a session and then what it started.
func (x *exporter) tree(ctx context.Context, id skein.SessionID) error {
	if _, ok := x.spots[id]; ok {
		return nil
	}
	sess, err := x.store.Session(ctx, id)
	if err != nil {
		return err
	}
	if err := x.one(ctx, sess); err != nil {
		return fmt.Errorf("session %s: %w", id, err)
	}
	if x.o.NoChildren {
		return nil
	}
	for c, err := range x.store.Sessions(ctx, skein.Filter{Parent: id}) {
		switch {
		case err != nil:
			return err
		case c.Parent == nil || c.Parent.Why != skein.Child:
			continue
		}
		if err := x.tree(ctx, c.ID); err != nil {
			return err
		}
	}
	return nil
}

func (x *exporter) one(ctx context.Context, sess skein.Session) error {
	if o := sess.Origin; o != nil && x.files[o.Path] { // it is in its parent's file
		x.spots[sess.ID] = Spot{ID: o.ID}
		return nil
	}
	p, err := provenance(ctx, x.store, x.format.Name, sess)
	if err != nil {
		return err
	}
	if p.found && !p.wentOn && x.seen(p.file.Path) {
		return x.exact(ctx, sess, p)
	}
	if x.format.Write == nil {
		return fmt.Errorf("%w: format %s can be read only", skein.ErrInvalid, x.format.Name)
	}
	d, err := x.draft(ctx, sess)
	if err != nil {
		return err
	}
	w, err := x.format.Write(ctx, d)
	if err != nil {
		return err
	}
	if len(w.Texts) == 0 {
		return fmt.Errorf("%w: it has nothing that %s could hold", skein.ErrInvalid, x.format.Name)
	}
	w.Texts[0].reach(d.Events)
	if err := x.put(ctx, w.Texts); err != nil {
		return err
	}
	spot := Spot{w.ID, w.Texts[0].Path, w.Texts[0].Name}
	out := Exported{Session: sess.ID, Spot: spot, Losses: w.Losses}
	if !x.o.NoSide {
		if out.Side, err = x.side(ctx, sess, w.Texts[0]); err != nil {
			return err
		}
	}
	x.spots[sess.ID] = spot
	x.done = append(x.done, out)
	return nil
}

// draft gathers what a format's Write is told.
func (x *exporter) draft(ctx context.Context, sess skein.Session) (Draft, error) {
	d := Draft{Session: sess, Home: x.home, Now: x.o.Now, Other: x.other(ctx)}
	d.Beside = func(rel string) ([]byte, bool) { return beside(filepath.Join(x.home, "x"), rel) }
	d.Dir = sess.Cwd
	if d.Dir == "" {
		d.Dir = sess.Project
	}
	if dir, err := filepath.EvalSymlinks(d.Dir); err == nil && filepath.IsAbs(d.Dir) {
		d.Dir = dir
	}
	d.Blob = func(h skein.Hash) ([]byte, error) { return x.store.Blob(ctx, sess.ID, h) }
	for e, err := range x.store.Events(ctx, sess.ID, 0) {
		if err != nil {
			return d, err
		}
		d.Events = append(d.Events, e)
	}
	return d, nil
}

// other returns where other sessions are: where they were just written, or
// what they were read from, if that lies in the same home.
func (x *exporter) other(ctx context.Context) func(skein.SessionID) (Spot, bool) {
	return func(id skein.SessionID) (Spot, bool) {
		if spot, ok := x.spots[id]; ok {
			return spot, true
		}
		s, err := x.store.Session(ctx, id)
		if err != nil || s.Origin == nil || s.Origin.Format != x.format.Name {
			return Spot{}, false
		}
		unit, name := x.split(s.Origin.Path)
		below, home := homeOf(x, unit)
		if real, err := filepath.EvalSymlinks(x.home); err != nil || real != home {
			return Spot{}, false
		}
		return Spot{s.Origin.ID, below, name}, true
	}
}

// exact writes the source that a session was read from, byte for byte.
func (x *exporter) exact(ctx context.Context, sess skein.Session, p provenanceOf) error {
	unit, name := x.split(p.file.Path)
	below := x.below(unit)
	data, err := x.records(ctx, p.file.Path)
	if err != nil {
		return err
	}
	if x.format.Put == nil || !x.format.inUnit(p.file) {
		err = putFile(x.home, below, data)
	} else {
		parts := []Part{{Name: name, Lines: bytes.NewReader(data)}}
		if name != "" { // of the frame, what makes the tables
			frame, err := x.records(ctx, unit)
			if err != nil && !errors.Is(err, skein.ErrNotFound) {
				return err
			}
			parts = append(parts, Part{Lines: bytes.NewReader(frame)})
		}
		err = x.format.Put(ctx, filepath.Join(x.home, filepath.FromSlash(below)), parts)
	}
	if err != nil {
		return err
	}
	x.files[p.file.Path] = true
	spot := Spot{p.file.ID, below, name}
	x.spots[sess.ID] = spot
	x.done = append(x.done, Exported{Session: sess.ID, Spot: spot, Exact: true})
	return nil
}

func (x *exporter) records(ctx context.Context, path string) ([]byte, error) {
	var b bytes.Buffer
	err := WriteSource(ctx, x.store, x.format.Name, path, &b)
	return b.Bytes(), err
}

// split returns the unit and the name of a source, by its path in the store.
func (x *exporter) split(path string) (unit, name string) {
	at := strings.LastIndexByte(path, '#')
	if x.format.Look == nil || at < 0 || x.format.is(filepath.ToSlash(path)) {
		return path, ""
	}
	return path[:at], unescape(path[at+1:])
}

// put writes what a format made: files, and units as a whole.
func (x *exporter) put(ctx context.Context, texts []Text) error {
	units := map[string][]Part{}
	var order []string
	for _, t := range texts {
		if !filepath.IsLocal(filepath.FromSlash(t.Path)) || strings.ContainsAny(t.Path, "\x00\\") {
			return fmt.Errorf("%w: path %q leads out of %s", skein.ErrInvalid, t.Path, x.home)
		}
		var b bytes.Buffer
		for _, l := range t.Lines {
			b.Write(l.Body)
		}
		if t.Log {
			if err := logBelow(x.home, t.Path, t.Lines); err != nil {
				return err
			}
			continue
		}
		if x.format.Put == nil || !x.isUnit(t.Path) {
			if err := putFile(x.home, t.Path, b.Bytes()); err != nil {
				return err
			}
			continue
		}
		if units[t.Path] == nil {
			order = append(order, t.Path)
		}
		units[t.Path] = append(units[t.Path], Part{Name: t.Name, Lines: &b})
	}
	for _, path := range order {
		if err := x.format.Put(ctx, filepath.Join(x.home, filepath.FromSlash(path)), units[path]); err != nil {
			return err
		}
	}
	return nil
}

// isUnit reports whether what lies at path below home is a unit, by its name.
func (x *exporter) isUnit(path string) bool {
	return x.format.is(filepath.ToSlash(filepath.Join(x.home, filepath.FromSlash(path))))
}

// inUnit reports whether a file that was read is a unit, or a source of one.
func (f *Format) inUnit(file skein.SourceFile) bool {
	return f.Look != nil && !decodeState(file.State).Plain
}

// is reports whether a unit lies at path, absolute and with slashes.
func (f *Format) is(path string) bool {
	return f.Unit != nil && (f.Unit(path) == path || f.Unit(path+"/x") == path)
}
