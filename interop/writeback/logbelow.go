package writeback

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
)

// maxLog is the longest log that is appended to, in bytes.
const maxLog = 256 << 20

// logBelow appends lines to the file at name, below home and with slashes, in one
// write and without those that it already has. It creates the file if necessary.
func logBelow(home, name string, lines []interop.OutLine) (err error) {
	root, err := disk.OpenHome(home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	at := filepath.FromSlash(name)
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o700); err != nil {
		return err
	}
	was, err := readLog(root, at)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if len(was) > 0 && was[len(was)-1] != '\n' {
		b.WriteByte('\n')
	}
	has := map[string]bool{}
	for l := range bytes.Lines(was) {
		has[string(bytes.TrimSpace(l))] = true
	}
	n := b.Len()
	for _, l := range lines {
		if !has[string(bytes.TrimSpace(l.Body.Bytes()))] {
			b.Write(l.Body.Bytes())
		}
	}
	if b.Len() == n {
		return nil
	}
	f, err := root.OpenFile(at, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	return errors.Join(err, f.Sync(), f.Close())
}

// readLog returns the content of a log, nil if there is no file.
func readLog(root *os.Root, at string) ([]byte, error) {
	info, err := root.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, disk.ErrIrregular
	}
	f, err := root.Open(at)
	if err != nil {
		return nil, err
	}
	was, err := io.ReadAll(io.LimitReader(f, maxLog))
	return was, errors.Join(err, f.Close())
}
