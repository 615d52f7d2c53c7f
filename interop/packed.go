package interop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// plain returns the path that a file would have if it were not packed.
func plain(path string) string {
	path, _ = PlainName(path)
	return path
}

// shadowed reports whether the unpacked file is beside a packed one, and is read
// instead. roots is where files are looked for, nil for everywhere.
func shadowed(path string, roots []string) bool {
	name, packed := PlainName(path)
	if !packed {
		return false
	}
	in := roots == nil
	for _, root := range roots {
		in = in || within(root, name)
	}
	_, there := look(name)
	return in && there
}

// plainHead returns the first bytes of a file, unpacked if it is packed. A file that is
// named as packed but is not has no head.
func plainHead(path string, f *os.File) ([]byte, bool, error) {
	r, packed, err := Unpack(path, f)
	switch {
	case errors.Is(err, errNotPacked):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case !packed:
		b, err := head(f)
		return b, true, err
	}
	defer r.Close()
	b := make([]byte, headLen)
	n, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) || n > 0 {
		err = nil // it is short, being written, or damaged further on
	}
	return b[:n], true, err
}

// A packedUnit is a database or document that was unpacked to be read.
type packedUnit struct {
	Unit
	temp, path string // where it is now, the folder that contains that, and where the packed file is
	damage     error  // why it was not unpacked to its end
}

// lookPacked opens the packed unit at path: unpacked to a folder of its own,
// with its original names.
func (f *Format) lookPacked(ctx context.Context, path string) (_ Unit, err error) {
	temp, err := os.MkdirTemp("", "skein-*")
	if err != nil {
		return nil, err
	}
	name := plain(path)
	at := filepath.Join(temp, strings.TrimPrefix(name, filepath.VolumeName(name)))
	u := &packedUnit{nil, temp, path, nil}
	u.damage, err = unpackTo(ctx, at, path)
	if errors.Is(err, errNotPacked) {
		err = ErrOther
	}
	if err == nil {
		if u.Unit, err = f.Look(ctx, at); err == nil {
			return u, nil
		}
		switch {
		case ctx.Err() != nil, errors.Is(err, ErrTorn):
		case errors.Is(err, ErrOther):
			if u.damage != nil {
				err = otherError{u.damage}
			}
		default:
			err = packedError{u.says(cmp.Or(u.damage, err).Error()), err}
		}
	}
	return nil, errors.Join(err, os.RemoveAll(temp))
}

// unpackTo unpacks what can be read of the file at path; damage says why that is
// not all of it.
func unpackTo(ctx context.Context, at, path string) (damage, err error) {
	f, _, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, packed, err := Unpack(path, ctxReader{ctx, f})
	if err != nil {
		return nil, err
	}
	if !packed {
		return nil, fmt.Errorf("%s: %w", path, errNotPacked)
	}
	defer r.Close()
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return nil, err
	}
	to, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	from := readable{r: r}
	_, err = io.Copy(to, &from)
	if err = errors.Join(err, to.Close()); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	return from.damage, os.Chtimes(at, info.ModTime(), info.ModTime())
}

// An otherError says that what can be read of a damaged unit is not of a format,
// and what is wrong with it, which is reported if it is not of any other format either.
type otherError struct{ damage error }

func (e otherError) Error() string        { return e.damage.Error() }
func (e otherError) Is(target error) bool { return target == ErrOther }
func (e otherError) Unwrap() error        { return e.damage }

// says returns a text with the path that the unit is known by.
func (u *packedUnit) says(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, filepath.Join(u.temp, plain(u.path)), u.path), u.temp, "")
}

// A packedError is an error with the path that the unit is known by.
type packedError struct {
	text string
	err  error
}

func (e packedError) Error() string { return e.text }
func (e packedError) Unwrap() error { return e.err }

// Skips implements [Unit].
func (u *packedUnit) Skips() []Skip {
	all := u.Unit.Skips()
	for i := range all {
		all[i].Path, all[i].Why = u.says(all[i].Path), u.says(all[i].Why)
	}
	return all
}

// Close implements [Unit]; errors are the system's.
func (u *packedUnit) Close() error {
	err := u.Unit.Close()
	if gone := os.RemoveAll(u.temp); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
