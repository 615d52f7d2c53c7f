package interop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop/disk"
)

// ErrChanged says that a file has changed since it was last read.
var ErrChanged = disk.ErrChanged

// PutFolder writes the files held by the lines of the parts into the folder at
// path. It is a Format.Put.
//
// The error wraps [ErrChanged] if a file is not as Was says, or exists although there
// is no Was; then nothing has been written. Others are the system's.
func PutFolder(ctx context.Context, path string, parts []Part) error {
	return putFolder(ctx, path, nil, parts)
}

// PutLogs returns a PutFolder that appends to a file, instead of replacing it, if
// appended reports true for its name and all of its content stays.
func PutLogs(appended func(name string) bool) func(ctx context.Context, path string, parts []Part) error {
	return func(ctx context.Context, path string, parts []Part) error {
		return putFolder(ctx, path, appended, parts)
	}
}

func putFolder(ctx context.Context, path string, appended func(name string) bool, parts []Part) (err error) {
	defer skein.Wrapf(&err, "folder %s", path)
	var tree, gone []io.Reader
	for _, p := range parts {
		now, err := lines.Of(p.Lines)
		if err != nil {
			return err
		}
		was := p.Was
		if was == nil {
			was = lines.New()
		}
		switch differ, err := folder.Differ(path, was, now); {
		case err != nil:
			return err
		case differ != "":
			return fmt.Errorf("%s: %w", differ, ErrChanged)
		}
		tree = append(tree, now.Again())
		if p.Gone != nil {
			gone = append(gone, p.Gone)
		}
	}
	if err := folder.Write(ctx, path, appended, tree...); err != nil {
		return err
	}
	for _, names := range gone {
		if err := folder.Remove(path, names); err != nil {
			return err
		}
	}
	return nil
}

// PutDatabase writes the rows held by the lines of the parts into the database
// at path, and creates it if necessary: then a frame must be among the parts.
// It is a Format.Put.
//
// The error wraps [ErrChanged] if a row is not as Was says, or another one exists
// although there is no Was; then nothing has been written. Others are the
// system's and SQLite's.
func PutDatabase(ctx context.Context, path string, parts []Part) (err error) {
	defer skein.Wrapf(&err, "database %s", path)
	var frames, rows, was, gone []io.Reader
	for _, p := range parts {
		if p.Name == "" {
			frames = append(frames, p.Lines)
		} else {
			rows = append(rows, p.Lines)
		}
		if p.Was != nil {
			was = append(was, p.Was)
		}
		if p.Gone != nil {
			gone = append(gone, p.Gone)
		}
	}
	rows = append(frames, rows...)
	if _, err := os.Lstat(path); err == nil {
		err := foreign.Merge(ctx, path, was, gone, rows...)
		if errors.Is(err, foreign.ErrDiffers) {
			err = errors.Join(ErrChanged, err)
		}
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(path), folder.TempName())
	if err := foreign.Build(ctx, temp, rows...); err != nil {
		return err
	}
	if err := os.Chmod(temp, 0o600); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return os.Rename(temp, path)
}
