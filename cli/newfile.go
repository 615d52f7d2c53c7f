package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skein-dev/skein"
)

// writeNew writes a file that does not exist yet, readable by its owner only. It
// writes all of it or nothing.
func writeNew(path string, write func(io.Writer) error) (err error) {
	if err := free(path); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".skein-export-*") // 0600
	if err != nil {
		return fmt.Errorf("folder %s: %w", filepath.Dir(path), cause(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	b := bufio.NewWriter(f)
	if err := cmp.Or(write(b), b.Flush(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) { // another program created it
		return fmt.Errorf("file %s %w", path, skein.ErrExists)
	} else if err != nil { // the file system has no links
		return os.Rename(f.Name(), path)
	}
	return os.Remove(f.Name())
}

// free returns an error if there is something at path, or no folder to hold it.
func free(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return usagef("%s is a folder; name a file in it", path)
	case err == nil:
		return advise(fmt.Errorf("file %s %w", path, skein.ErrExists), "name another one; nothing was written")
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return advise(missing("there is no folder %s", filepath.Dir(path)), "make it first; nothing was written")
	}
	return nil
}

// cause returns what went wrong, without the path that err names.
func cause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}
