package interop

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/skein-dev/skein"
)

// splitPath returns the unit and the name of a source, by its path in the store.
func splitPath(f *Format, path string) (unit, name string) {
	at := strings.LastIndexByte(path, '#')
	if f.Look == nil || at < 0 || isUnitPath(f, filepath.ToSlash(path)) {
		return path, ""
	}
	return path[:at], unescape(path[at+1:])
}

// inUnit reports whether a file that was read is a unit, or a source of one.
func inUnit(f *Format, file skein.SourceFile) bool {
	return f.Look != nil && !decodeState(file.State).Plain
}

// isUnitPath reports whether path, absolute and with slashes, is that of a unit.
func isUnitPath(f *Format, path string) bool {
	return f.Unit != nil && (f.Unit(path) == path || f.Unit(path+"/x") == path)
}

func isDatabase(u Unit) bool {
	if p, ok := u.(*copiedUnit); ok {
		u = p.Unit
	}
	return FromDatabase(u)
}

// opened is a unit that is to be read or is being read.
type opened struct {
	path    string
	formats []*Format   // that may know it
	files   []candidate // files of it that were found: to be read by themselves if it is not a unit
	unit    Unit
	left    atomic.Bool // some source was not imported to its end: the unit must not look unchanged
}

func (o *opened) file(name string) File {
	if u, ok := o.unit.(*copiedUnit); ok && u.lone {
		return File{Path: filepath.Join(filepath.Dir(o.path), u.inside), Name: name, Unit: true, Beside: func(string) ([]byte, bool) { return nil, false }}
	}
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
		m, lone := lone(f, o.path)
		switch {
		case lone:
			o.unit, err = lookLone(ctx, f, o.path, m)
		case packed:
			o.unit, err = lookPacked(ctx, f, o.path)
		default:
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

// readSource runs the stream of a source over its content.
func (w *fileJob) readSource(ctx context.Context, emit func(read) error) error {
	r, err := w.unit.unit.Open(ctx, w.name)
	if err != nil {
		return err
	}
	defer r.Close()
	in := bufio.NewReaderSize(cancelable(ctx, r), 64<<10)
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

// unescape returns the source name that was given to sourcePath.
func unescape(name string) string {
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}
