package disk

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/lines"
)

// ErrChanged says that a file has changed since it was last read.
var ErrChanged = errors.New("it has changed since it was read")

// PutFile writes a file below home, whole or not at all. An existing file must have
// the same content already or, if stands is not nil, that of stands.
//
// The error says that the file has changed, and wraps [skein.ErrExists] if one has
// appeared meanwhile; others are the system's.
func PutFile(home, name string, data, stands *lines.Lines) (err error) {
	root, err := OpenHome(home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o700); err != nil {
		return err
	}
	begins, n, err := BeginsAs(root, name, data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return PlaceFile(root, name, data.Again(), func(temp, at string) error { return link(root, temp, at) })
	case err != nil:
		return err
	case begins && n == data.Len():
		return nil
	case stands == nil:
		return fmt.Errorf("file %s: %w", name, skein.ErrExists)
	}
	still := func() error {
		if same, m, err := BeginsAs(root, name, stands); err != nil || !same || m != stands.Len() {
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
		return AppendFile(filepath.Join(home, filepath.FromSlash(name)), n, rest)
	}
	return PlaceFile(root, name, data.Again(), func(temp, at string) error {
		if err := still(); err != nil { // its program may have written to it since
			return err
		}
		return root.Rename(temp, at)
	})
}

// BeginsAs reports whether a file's whole content is the beginning of a text, and how
// many bytes the file has.
//
// Errors are the system's.
func BeginsAs(root *os.Root, name string, text *lines.Lines) (begins bool, n int64, err error) {
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

// OpenHome opens the folder of a program, and creates it if necessary.
//
// Errors are the system's.
func OpenHome(home string) (*os.Root, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(home)
}

// ReplaceFile writes a file beside its place and renames it there.
//
// Errors are the system's.
func ReplaceFile(root *os.Root, name string, data io.Reader) error {
	return PlaceFile(root, name, data, root.Rename)
}

// PlaceFile writes a file beside its place, and put moves it there.
//
// Errors are the system's and put's.
func PlaceFile(root *os.Root, name string, data io.Reader, put func(temp, at string) error) error {
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

// AppendFile appends data to a file that is size bytes long, in one write: its program
// may append too.
//
// Errors are the system's, and that the file has another size.
func AppendFile(path string, size int64, data []byte) (err error) {
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
		return ErrIrregular
	case info.Size() != size:
		return ErrChanged
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}
