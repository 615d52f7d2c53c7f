package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// How much of a tree is read: folders deep, entries, bytes of one file.
const (
	MaxDepth   = 32
	MaxEntries = 200_000
	MaxFile    = 1 << 30 // of a file of lines
	MaxWhole   = 48 << 20
)

// A Tree is the content of a folder. It is used by one goroutine at a time.
type Tree struct {
	Files   []File // by name
	Folders []File // by name; the first is the root, "."
	Skips   []Skip // what is not read

	root string
	open *os.Root
}

// A File is a file or folder as it was when the tree was opened.
type File struct {
	Name  string // from the root, with slashes
	Mode  fs.FileMode
	Mtime int64 // nanoseconds since 1970
	Size  int64 // bytes
}

// A Skip is something that is not read, and why.
type Skip struct{ Name, Why string }

// Open reads the names in the tree at root. leave, if not nil, reports whether a file
// or folder of this name is left out.
//
// Errors are those of reading root and everything in it (what cannot be read now does
// not count as gone), ctx's, and of a tree that is too large.
func Open(ctx context.Context, root string, leave func(name string) bool) (_ *Tree, err error) {
	t := &Tree{root: root}
	if t.open, err = os.OpenRoot(root); err != nil {
		return nil, err
	}
	info, err := t.open.Stat(".")
	if err == nil {
		t.Folders = append(t.Folders, fileOf(".", info))
		err = t.look(ctx, ".", leave, MaxDepth)
	}
	if err != nil {
		return nil, errors.Join(err, t.open.Close())
	}
	return t, nil
}

// Close closes the folder. Errors are the system's.
func (t *Tree) Close() error { return t.open.Close() }

func fileOf(name string, info fs.FileInfo) File {
	return File{name, info.Mode().Perm(), info.ModTime().UnixNano(), info.Size()}
}

func (t *Tree) look(ctx context.Context, dir string, leave func(string) bool, deeper int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(t.open.FS(), dir)
	if err != nil {
		return unread(dir, err)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if IsTemp(e.Name()) || leave != nil && leave(name) {
			continue
		}
		info, err := e.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist): // gone meanwhile
			continue
		case err != nil:
			return unread(name, err)
		case len(t.Files)+len(t.Folders)+len(t.Skips) >= MaxEntries:
			return fmt.Errorf("%s: more than %d files", t.root, MaxEntries)
		}
		if err := t.entry(ctx, name, info, leave, deeper); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tree) entry(ctx context.Context, name string, info fs.FileInfo, leave func(string) bool, deeper int) error {
	switch mode := info.Mode(); {
	case mode.IsRegular() && info.Size() > MaxFile:
		t.skip(name, fmt.Errorf("%d bytes, at most %d are read", info.Size(), MaxFile))
	case mode.IsRegular():
		f, err := t.open.OpenFile(filepath.FromSlash(name), openFlags, 0)
		if errors.Is(err, fs.ErrNotExist) { // gone meanwhile
			return nil
		}
		if err != nil {
			return unread(name, err)
		}
		t.Files = append(t.Files, fileOf(name, info))
		return f.Close()
	case mode.IsDir() && deeper == 0:
		t.skip(name, errors.New("folders nested too deep"))
	case mode.IsDir():
		t.Folders = append(t.Folders, fileOf(name, info))
		return t.look(ctx, name, leave, deeper-1)
	case mode&fs.ModeSymlink != 0:
		t.skip(name, errors.New("symbolic link"))
	default:
		t.skip(name, errors.New("no regular file"))
	}
	return nil
}

// unread returns err with the name of what cannot be read, but not its whole path.
func unread(name string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

func (t *Tree) skip(name string, err error) {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	t.Skips = append(t.Skips, Skip{name, err.Error()})
}

// File returns the file with this name, and false if there is none.
func (t *Tree) File(name string) (File, bool) {
	for _, f := range t.Files {
		if f.Name == name {
			return f, true
		}
	}
	return File{}, false
}

// file opens a regular file of the tree.
func (t *Tree) file(name string) (*os.File, error) {
	f, err := t.open.OpenFile(filepath.FromSlash(name), openFlags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: no regular file", name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
