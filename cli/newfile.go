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

// writeNew writes a file that does not exist yet, for the owner only, whole or
// not at all.
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
	if err := os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) { // there is one by now
		return fmt.Errorf("file %s %w", path, skein.ErrExists)
	} else if err != nil { // no links on this disk
		return os.Rename(f.Name(), path)
	}
	return os.Remove(f.Name())
}

// free returns an error if there is something at path, or no folder that it
// could be in.
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

// cause returns what went wrong in err, without the path that was tried.
func cause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}
