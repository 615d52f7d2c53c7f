package interop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/foreign"
)

// ErrChanged says that a file is not as it was when it was read last.
var ErrChanged = errors.New("it has changed since it was read")

// PutFolder puts the files that the lines of the parts tell into the folder at
// path. It is a Format.Put.
//
// The error wraps [ErrChanged] if a file is not as Was says, or is there and
// there is no Was; then nothing has been written. Others are the system's.
func PutFolder(ctx context.Context, path string, parts []Part) error {
	return putFolder(ctx, path, nil, parts)
}

// PutLogs returns a PutFolder that appends to those files of which appended says
// so by their names, if all that they have stays.
func PutLogs(appended func(name string) bool) func(ctx context.Context, path string, parts []Part) error {
	return func(ctx context.Context, path string, parts []Part) error {
		return putFolder(ctx, path, appended, parts)
	}
}

func putFolder(ctx context.Context, path string, appended func(name string) bool, parts []Part) (err error) {
	defer skein.Wrapf(&err, "folder %s", path)
	var lines []io.Reader
	var gone []byte
	for _, p := range parts {
		var was []byte
		if p.Gone != nil {
			more, err := io.ReadAll(p.Gone)
			if err != nil {
				return err
			}
			gone = append(gone, more...)
		}
		if p.Was != nil {
			if was, err = io.ReadAll(p.Was); err != nil {
				return err
			}
		}
		now, err := io.ReadAll(p.Lines)
		if err != nil {
			return err
		}
		differ, err := folder.Differ(path, was, now)
		switch {
		case err != nil:
			return err
		case differ != "":
			return fmt.Errorf("%s: %w", differ, ErrChanged)
		}
		lines = append(lines, bytes.NewReader(now))
	}
	if err := folder.Write(ctx, path, appended, lines...); err != nil {
		return err
	}
	return folder.Remove(path, gone)
}

// PutDatabase puts the rows that the lines of the parts tell into the database
// at path, and makes it if there is none: a frame must be among the parts then.
// It is a Format.Put.
//
// The error wraps [ErrChanged] if a row is not as Was says, or another one is
// there and there is no Was; then nothing has been written. Others are the
// system's and SQLite's.
func PutDatabase(ctx context.Context, path string, parts []Part) (err error) {
	defer skein.Wrapf(&err, "database %s", path)
	var frames, lines, was, gone []io.Reader
	for _, p := range parts {
		if p.Name == "" {
			frames = append(frames, p.Lines)
		} else {
			lines = append(lines, p.Lines)
		}
		if p.Was != nil {
			was = append(was, p.Was)
		}
		if p.Gone != nil {
			gone = append(gone, p.Gone)
		}
	}
	lines = append(frames, lines...)
	if _, err := os.Lstat(path); err == nil {
		err := foreign.Merge(ctx, path, io.MultiReader(was...), io.MultiReader(gone...), lines...)
		if errors.Is(err, foreign.ErrDiffers) {
			err = errors.Join(ErrChanged, err)
		}
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(path), folder.TempName())
	if err := foreign.Build(ctx, temp, lines...); err != nil {
		return err
	}
	if err := os.Chmod(temp, 0o600); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return os.Rename(temp, path)
}

// putFile writes a file below home, whole or not at all. What is there must be
// the same already, or what stands, if that is not nil.
func putFile(home, name string, data, stands []byte) (err error) {
	root, err := openHome(home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o700); err != nil {
		return err
	}
	was, err := root.ReadFile(filepath.FromSlash(name))
	switch {
	case err == nil && bytes.Equal(was, data):
		return nil
	case err == nil && stands == nil:
		return fmt.Errorf("file %s: %w", name, skein.ErrExists)
	case err == nil && !bytes.Equal(was, stands):
		return fmt.Errorf("file %s: %w", name, ErrChanged)
	case err == nil && bytes.HasPrefix(data, was): // its program may have it open
		return appendFile(filepath.Join(home, filepath.FromSlash(name)), int64(len(was)), data[len(was):])
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return placeFile(root, name, data, func(temp, at string) error {
		if was == nil {
			return link(root, temp, at)
		}
		switch is, err := root.ReadFile(at); { // its program may have written to it since
		case err != nil:
			return err
		case !bytes.Equal(is, was):
			return fmt.Errorf("file %s: %w", name, ErrChanged)
		}
		return root.Rename(temp, at)
	})
}

// link puts a file where none is: one that came there meanwhile stays. Where a file
// system has no links it is renamed.
func link(root *os.Root, temp, at string) error {
	err := root.Link(temp, at)
	switch {
	case err == nil:
		return root.Remove(temp)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("file %s: %w", filepath.ToSlash(at), skein.ErrExists)
	}
	return root.Rename(temp, at)
}

func openHome(home string) (*os.Root, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(home)
}

// replaceFile writes a file beside its place and renames it there.
func replaceFile(root *os.Root, name string, data []byte) error {
	return placeFile(root, name, data, root.Rename)
}

// placeFile writes a file beside its place, and put puts it there.
func placeFile(root *os.Root, name string, data []byte, put func(temp, at string) error) error {
	at := filepath.FromSlash(name)
	temp := filepath.Join(filepath.Dir(at), folder.TempName())
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = put(temp, at)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

// appendFile appends data to a file that is size bytes long.
func appendFile(path string, size int64, data []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errIrregular
	case info.Size() != size:
		return ErrChanged
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}
