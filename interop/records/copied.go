package records

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
)

// A CopiedUnit is a unit that was copied to be read: unpacked, or alone.
type CopiedUnit struct {
	interop.Unit
	temp   string            // the folder with the copy
	inside string            // where the unit is in that
	lone   bool              // it stands in its program's place for it, with nothing beside it
	paths  *strings.Replacer // from those of the copy to those that the user knows
	Damage error             // why it was not unpacked to its end
}

// lookPacked opens the packed unit at path: unpacked to a folder of its own,
// with its original names.
func lookPacked(ctx context.Context, f *interop.Format, path string) (interop.Unit, error) {
	name := disk.PlainPath(path)
	inside := strings.TrimPrefix(name, filepath.VolumeName(name))
	u, err := lookCopy(ctx, f, path, inside, func(to string) (damage, err error) { return disk.UnpackTo(ctx, to, path) })
	if err != nil {
		return nil, err
	}
	return u, nil
}

// lookCopy opens as a unit what fill makes of the file at path: a file at this path
// inside a new folder. damage says why it is not all of the file.
func lookCopy(ctx context.Context, f *interop.Format, path, inside string, fill func(to string) (damage, err error)) (_ *CopiedUnit, err error) {
	temp, err := os.MkdirTemp("", "skein-*")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(temp, inside)
	unit := file
	if f.Unit != nil {
		unit = filepath.FromSlash(cmp.Or(f.Unit(filepath.ToSlash(file)), filepath.ToSlash(file)))
	}
	u := &CopiedUnit{temp: temp, inside: strings.TrimPrefix(unit, temp), paths: strings.NewReplacer(file, path, unit, path, temp, "")}
	u.Damage, err = fill(file)
	if errors.Is(err, disk.ErrNotPacked) {
		err = interop.ErrOther
	}
	if err == nil {
		if u.Unit, err = f.Look(ctx, unit); err == nil {
			return u, nil
		}
		switch {
		case ctx.Err() != nil, errors.Is(err, interop.ErrTorn):
		case errors.Is(err, interop.ErrOther):
			if u.Damage != nil {
				err = otherError{u.Damage}
			}
		default:
			err = copiedError{u.paths.Replace(cmp.Or(u.Damage, err).Error()), err}
		}
	}
	return nil, errors.Join(err, os.RemoveAll(temp))
}

// An otherError says that what can be read of a damaged unit is not of a format,
// and what is wrong with it, which is reported if it is not of any other format either.
type otherError struct{ damage error }

func (e otherError) Error() string { return e.damage.Error() }

func (e otherError) Is(target error) bool { return target == interop.ErrOther }

func (e otherError) Unwrap() error { return e.damage }

// A copiedError is an error with the path that the unit is known by.
type copiedError struct {
	text string
	err  error
}

func (e copiedError) Error() string { return e.text }

func (e copiedError) Unwrap() error { return e.err }

// Skips implements [interop.Unit].
func (u *CopiedUnit) Skips() []interop.Skip {
	all := u.Unit.Skips()
	for i := range all {
		all[i].Path, all[i].Why = u.paths.Replace(all[i].Path), u.paths.Replace(all[i].Why)
	}
	return all
}

// Close implements [interop.Unit]; errors are the system's.
func (u *CopiedUnit) Close() error {
	err := u.Unit.Close()
	if gone := os.RemoveAll(u.temp); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// lone returns the placed file as which the file at path is to be read, if it is not in the
// place of one.
func lone(f *interop.Format, at string) (m interop.PlacedFile, ok bool) {
	if len(f.PlacedFiles) == 0 || f.Unit != nil && f.Unit(filepath.ToSlash(disk.PlainPath(at))) != "" {
		return m, false
	}
	head := disk.HeadAt(at)
	if len(head) == 0 || f.Document != nil && f.Document(filepath.ToSlash(at), head).Sure > interop.No {
		return m, false
	}
	if _, m, g := FindPlaced([]interop.Format{*f}, head); g.Sure > interop.No {
		return m, m.Path != ""
	}
	return AnyPlaced(f)
}

// AnyPlaced returns the placed file that a file is taken for because the user says that it
// is the format's: the first one, if the format has no other way to read a file.
func AnyPlaced(f *interop.Format) (m interop.PlacedFile, ok bool) {
	if len(f.PlacedFiles) == 0 || f.Match != nil || f.Document != nil {
		return m, false
	}
	return f.PlacedFiles[0], f.PlacedFiles[0].Path != ""
}

// lookLone opens the file at path as a unit of which it is the only file: a copy of it,
// in its place in a folder of its own.
func lookLone(ctx context.Context, f *interop.Format, at string, m interop.PlacedFile) (interop.Unit, error) {
	name := strings.TrimSuffix(filepath.Base(disk.PlainPath(at)), filepath.Ext(disk.PlainPath(at)))
	inside := filepath.FromSlash(strings.ReplaceAll(m.Path, "*", name))
	u, err := lookCopy(ctx, f, at, inside, func(to string) (damage, err error) {
		if _, packed := disk.PlainName(at); packed {
			damage, err = disk.UnpackTo(ctx, to, at)
		} else {
			err = copyTo(ctx, to, at)
		}
		if err == nil {
			err = aged(to)
		}
		return damage, err
	})
	if err != nil {
		return nil, err
	}
	u.lone = true
	return u, nil
}

// IsLone reports whether a unit is a file that is read alone.
func IsLone(u interop.Unit) bool {
	c, ok := u.(*CopiedUnit)
	return ok && c.lone
}

// copyTo copies a file, and the log of a database.
func copyTo(ctx context.Context, to, at string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal"} {
		from, is, err := disk.Open(at + suffix)
		if suffix != "" && errors.Is(err, os.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
		out, err := os.OpenFile(to+suffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_, err = io.Copy(out, disk.Cancelable(ctx, from))
			err = errors.Join(err, out.Close())
		}
		when := time.Unix(0, is.Mtime)
		if err = errors.Join(err, from.Close()); err == nil {
			err = os.Chtimes(to+suffix, when, when)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// aged makes a copy look as if its program were done with it: what its folder lacks
// will not come.
func aged(at string) error {
	info, err := os.Lstat(at)
	if err != nil || !interop.IsFresh(info.ModTime().UnixNano()) {
		return err
	}
	before := info.ModTime().Add(-interop.TornFor)
	return os.Chtimes(at, before, before)
}

// FindPlaced returns the first format that has a placed file like this one, and the format's
// guess; nil if there is none. Known ones come before those that are only alike.
func FindPlaced(list []interop.Format, head []byte) (of *interop.Format, m interop.PlacedFile, g interop.Guess) {
	if len(head) == 0 {
		return nil, m, g
	}
	for i := range list {
		for _, other := range list[i].PlacedFiles {
			if other.Is == nil {
				continue
			}
			if is := other.Is(head); is.Sure > g.Sure {
				of, m, g = &list[i], other, is
			}
		}
	}
	return of, m, g
}
