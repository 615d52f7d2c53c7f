package interop

import (
	"bufio"
	"bytes"
	"cmp"
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
	"github.com/skein-dev/skein/internal/lines"
)

// ErrChanged says that a file has changed since it was last read.
var ErrChanged = errors.New("it has changed since it was read")

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

// putFile writes a file below home, whole or not at all. An existing file must have
// the same content already or, if stands is not nil, that of stands.
func putFile(home, name string, data, stands *lines.Lines) (err error) {
	root, err := openHome(home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o700); err != nil {
		return err
	}
	begins, n, err := beginsAs(root, name, data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return placeFile(root, name, data.Again(), func(temp, at string) error { return link(root, temp, at) })
	case err != nil:
		return err
	case begins && n == data.Len():
		return nil
	case stands == nil:
		return fmt.Errorf("file %s: %w", name, skein.ErrExists)
	}
	still := func() error {
		if same, m, err := beginsAs(root, name, stands); err != nil || !same || m != stands.Len() {
			return cmp.Or(err, fmt.Errorf("file %s: %w", name, ErrChanged))
		}
		return nil
	}
	if err := still(); err != nil {
		return err
	}
	if begins { // its program may have it open
		text, rest := data.Again(), make([]byte, data.Len()-n)
		if _, err := io.CopyN(io.Discard, text, n); err != nil {
			return err
		}
		if _, err := io.ReadFull(text, rest); err != nil {
			return err
		}
		return appendFile(filepath.Join(home, filepath.FromSlash(name)), n, rest)
	}
	return placeFile(root, name, data.Again(), func(temp, at string) error {
		if err := still(); err != nil { // its program may have written to it since
			return err
		}
		return root.Rename(temp, at)
	})
}

// beginsAs reports whether a file's whole content is the beginning of a text, and how
// many bytes the file has.
func beginsAs(root *os.Root, name string, text *lines.Lines) (begins bool, n int64, err error) {
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return false, 0, err
	}
	defer f.Close()
	is, want := bufio.NewReaderSize(f, 64<<10), bufio.NewReaderSize(text.Again(), 64<<10)
	for {
		switch _, err := is.Peek(1); {
		case errors.Is(err, io.EOF):
			return true, n, nil
		case err != nil:
			return false, n, err
		}
		a, _ := is.Peek(is.Buffered())
		b, _ := want.Peek(len(a)) // a text yields no errors but the end
		if !bytes.Equal(a, b) {
			return false, n, nil
		}
		n += int64(len(a))
		if _, err := is.Discard(len(a)); err != nil {
			return false, n, err
		}
		if _, err := want.Discard(len(a)); err != nil {
			return false, n, err
		}
	}
}

// link puts a file where no file is: one that has appeared meanwhile stays. If the file
// system has no links, it is renamed.
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
func replaceFile(root *os.Root, name string, data io.Reader) error {
	return placeFile(root, name, data, root.Rename)
}

// placeFile writes a file beside its place, and put moves it there.
func placeFile(root *os.Root, name string, data io.Reader, put func(temp, at string) error) error {
	at := filepath.FromSlash(name)
	temp := filepath.Join(filepath.Dir(at), folder.TempName())
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = put(temp, at)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

// appendFile appends data to a file that is size bytes long, in one write: its program
// may append too.
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

// maxLog is the longest log that is appended to, in bytes.
const maxLog = 256 << 20

// logBelow appends lines to the file at name, below home and with slashes, in one
// write and without those that it already has. It creates the file if necessary.
func logBelow(home, name string, lines []OutLine) (err error) {
	root, err := openHome(home)
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
		if !has[string(bytes.TrimSpace(l.Body))] {
			b.Write(l.Body)
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
		return nil, errIrregular
	}
	f, err := root.Open(at)
	if err != nil {
		return nil, err
	}
	was, err := io.ReadAll(io.LimitReader(f, maxLog))
	return was, errors.Join(err, f.Close())
}
