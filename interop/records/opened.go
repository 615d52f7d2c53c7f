package records

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
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
)

// SplitPath returns the unit and the name of a source, by its path in the store.
func SplitPath(f *interop.Format, path string) (unit, name string) {
	at := strings.LastIndexByte(path, '#')
	if f.Look == nil || at < 0 || IsUnitPath(f, filepath.ToSlash(path)) {
		return path, ""
	}
	return path[:at], unescape(path[at+1:])
}

// InUnit reports whether a file that was read is a unit, or a source of one.
func InUnit(f *interop.Format, file skein.SourceFile) bool {
	return f.Look != nil && !DecodeState(file.State).Plain
}

// IsUnitPath reports whether path, absolute and with slashes, is that of a unit.
func IsUnitPath(f *interop.Format, path string) bool {
	return f.Unit != nil && (f.Unit(path) == path || f.Unit(path+"/x") == path)
}

// IsDatabase reports whether a unit is a database, or a copy of one.
func IsDatabase(u interop.Unit) bool {
	if p, ok := u.(*CopiedUnit); ok {
		u = p.Unit
	}
	return interop.FromDatabase(u)
}

// Opened is a unit that is to be read or is being read.
type Opened struct {
	Path    string
	Formats []*interop.Format // that may know it
	Files   []disk.File       // files of it that were found: to be read by themselves if it is not a unit
	Unit    interop.Unit
	Left    atomic.Bool // some source was not imported to its end: the unit must not look unchanged
}

func (o *Opened) file(name string) interop.File {
	if u, ok := o.Unit.(*CopiedUnit); ok && u.lone {
		return interop.File{Path: filepath.Join(filepath.Dir(o.Path), u.inside), Name: name, Unit: true, Beside: func(string) ([]byte, bool) { return nil, false }}
	}
	return interop.File{Path: disk.PlainPath(o.Path), Name: name, Unit: true, Beside: func(rel string) ([]byte, bool) {
		if info, err := os.Lstat(o.Path); err == nil && info.IsDir() {
			return disk.Beside(filepath.Join(o.Path, "x"), rel)
		}
		return disk.Beside(o.Path, rel)
	}}
}

// SourcePath returns the path under which a store knows a source: that of its unit,
// followed by a number sign and its name, escaped.
func SourcePath(unit, name string) string {
	if name == "" {
		return unit
	}
	if name = url.PathEscape(name); len(name) > 512 {
		name = Digest([]byte(name))
	}
	return unit + "#" + name
}

// Sources returns the unit's sources.
//
// Errors are the unit's.
func (o *Opened) Sources(ctx context.Context) (all []interop.Source, err error) {
	defer Guard(&err)
	return o.Unit.Sources(ctx)
}

// Look opens the unit in the first format that knows it.
//
// The error is that of the format that knows it, and wraps [interop.ErrOther] if no
// format does.
func (o *Opened) Look(ctx context.Context) (_ *interop.Format, err error) {
	defer Guard(&err)
	err = interop.ErrOther
	_, packed := disk.PlainName(o.Path)
	if info, err := os.Lstat(o.Path); err == nil && info.IsDir() {
		packed = false
	}
	for _, f := range o.Formats {
		m, lone := lone(f, o.Path)
		switch {
		case lone:
			o.Unit, err = lookLone(ctx, f, o.Path, m)
		case packed:
			o.Unit, err = lookPacked(ctx, f, o.Path)
		default:
			o.Unit, err = f.Look(ctx, o.Path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			if _, there := os.Lstat(o.Path); there != nil { // there are only files that may belong to it
				err = interop.ErrOther
			}
		}
		if !errors.Is(err, interop.ErrOther) {
			return f, err
		}
	}
	if other := (otherError{}); errors.As(err, &other) {
		err = other.damage
	}
	return nil, err
}

// readSource runs the stream of a source over its content.
func (w *FileJob) readSource(ctx context.Context, emit func(ReadRecord) error) error {
	r, err := w.Unit.Unit.Open(ctx, w.Name)
	if err != nil {
		return err
	}
	defer r.Close()
	in := bufio.NewReaderSize(disk.Cancelable(ctx, r), 64<<10)
	head, err := in.Peek(disk.HeadLen)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	w.Head = skein.Hash(Digest(head))
	if _, err := io.CopyN(io.Discard, in, w.Stream.at.Offset); err != nil {
		return err
	}
	return w.Stream.Run(in, emit)
}

// unescape returns the source name that was given to SourcePath.
func unescape(name string) string {
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}
