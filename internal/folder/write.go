package folder

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein/internal/lines"
)

// Write writes the tree in lines to root. Files that are there and not in the lines
// stay. A new tree appears at once; in an existing one, each file whose bytes differ
// is replaced by renaming. If appended is not nil and returns true for a file's name,
// and the file only grows, Write appends to it, so that what its program appends
// meanwhile stays too.
//
// The error says which line is not a line of a tree or leads out of it, in which case
// nothing has changed; others are the system's and the readers'.
func Write(ctx context.Context, root string, appended func(name string) bool, tree ...io.Reader) (err error) {
	parent := filepath.Dir(root)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return err
	}
	w := &writer{ctx: ctx, dir: filepath.Join(parent, TempName()), appended: appended, parts: map[string]*gatheredFile{}}
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(w.dir)) }()
	for _, r := range tree {
		if err := w.read(r); err != nil {
			return errors.Join(err, w.close())
		}
	}
	if err := w.close(); err != nil {
		return err
	}
	if _, err := os.Lstat(root); err == nil {
		return w.put(root)
	}
	fresh := filepath.Join(w.dir, "tree")
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return err
	}
	if err := w.put(fresh); err != nil {
		return err
	}
	return os.Rename(fresh, root)
}

// A writer collects files in a folder of its own.
type writer struct {
	ctx      context.Context
	dir      string
	appended func(name string) bool
	parts    map[string]*gatheredFile
	order    []*gatheredFile
	folders  []File
}

// A gatheredFile is a file that a writer has collected.
type gatheredFile struct {
	File
	at   string
	out  *os.File
	n    int  // lines so far
	done bool // its own line has come
}

func (w *writer) read(r io.Reader) error {
	return lines.Each(r, func(line lines.Rope) error {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		return w.line(line)
	})
}

func (w *writer) line(line lines.Rope) error {
	l, err := PeekRope(line)
	if err != nil {
		return err
	}
	f, err := fileIn(l)
	switch {
	case err != nil:
		return err
	case l.Damage != "":
		return nil
	case l.Folder != "":
		w.folders = append(w.folders, f)
		return nil
	}
	p := w.parts[f.Name]
	if p == nil {
		p = &gatheredFile{File: f, at: filepath.Join(w.dir, strconv.Itoa(len(w.order)))}
		if p.out, err = os.OpenFile(p.at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return err
		}
		w.parts[f.Name], w.order = p, append(w.order, p)
	}
	return p.take(l, f)
}

func (p *gatheredFile) take(l Line, f File) error {
	switch {
	case p.done:
		return fmt.Errorf("file %s comes twice", f.Name)
	case l.Line != nil && *l.Line != p.n:
		return fmt.Errorf("file %s: line %d follows %d lines", f.Name, *l.Line, p.n)
	case l.Lines != nil && *l.Lines != p.n:
		return fmt.Errorf("file %s: %d lines of %d", f.Name, p.n, *l.Lines)
	}
	if err := l.WriteData(p.out); err != nil {
		return err
	}
	if l.Line != nil {
		p.n++
		return nil
	}
	p.File, p.done = f, true
	return p.end()
}

// end flushes what was written and closes the file.
func (p *gatheredFile) end() error {
	if p.out == nil {
		return nil
	}
	err := errors.Join(p.out.Sync(), p.out.Close())
	p.out = nil
	return err
}

func (w *writer) close() (err error) {
	for _, p := range w.order {
		err = errors.Join(err, p.end())
	}
	return err
}

// fileIn returns the file or folder in a line.
func fileIn(l Line) (f File, err error) {
	f.Name = l.File + l.Folder
	if !fs.ValidPath(f.Name) || !filepath.IsLocal(filepath.FromSlash(f.Name)) || strings.ContainsAny(f.Name, "\x00\\") || l.File == "." {
		return f, fmt.Errorf("name %q leads out of the folder", f.Name)
	}
	f.Mode, f.Mtime = 0o600, l.Mtime
	if l.Mode != "" {
		bits, err := strconv.ParseUint(l.Mode, 8, 32)
		if err != nil {
			return f, fmt.Errorf("%s: mode %q", f.Name, l.Mode)
		}
		f.Mode = fs.FileMode(bits) & fs.ModePerm
	}
	return f, nil
}

// put moves what was collected to root, and sets the folders' times last.
func (w *writer) put(root string) (err error) {
	to, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	for _, f := range w.folders {
		if err := to.MkdirAll(filepath.FromSlash(f.Name), 0o700); err != nil {
			return err
		}
	}
	for _, p := range w.order {
		if err := putFile(to, p, w.appended != nil && w.appended(p.Name)); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	slices.SortFunc(w.folders, func(a, b File) int { return strings.Compare(b.Name, a.Name) })
	slices.SortStableFunc(w.folders, func(a, b File) int { return strings.Count(b.Name, "/") - strings.Count(a.Name, "/") })
	for _, f := range w.folders {
		if err := dress(to, f); err != nil {
			return err
		}
	}
	return nil
}

// putFile writes one file to its place, unless it is there with these bytes.
func putFile(to *os.Root, p *gatheredFile, appended bool) error {
	name := filepath.FromSlash(p.Name)
	if err := to.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	data, err := os.Open(p.at)
	if err != nil {
		return err
	}
	defer data.Close()
	had, begins := begins(to, name, data)
	if _, err := data.Seek(had, io.SeekStart); err != nil {
		return err
	}
	info, err := data.Stat()
	switch {
	case err != nil:
		return err
	case begins && had == info.Size():
	case begins && appended:
		err = appendTo(to, name, data)
	default:
		err = replace(to, name, data)
	}
	if err != nil {
		return err
	}
	return dress(to, p.File)
}

// appendTo appends the rest of data to the file with this name.
func appendTo(to *os.Root, name string, data io.Reader) error {
	rest, err := io.ReadAll(data)
	if err != nil {
		return err
	}
	out, err := to.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = out.Write(rest) // in one call: others append too
	return errors.Join(err, out.Sync(), out.Close())
}

// replace replaces the file with this name by data.
func replace(to *os.Root, name string, data *os.File) error {
	if _, err := data.Seek(0, io.SeekStart); err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(name), TempName())
	out, err := to.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, data)
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		err = to.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, to.Remove(temp))
	}
	return nil
}

// dress sets the mode and time of a file.
func dress(to *os.Root, f File) error {
	name := filepath.FromSlash(f.Name)
	if err := to.Chmod(name, f.Mode); err != nil {
		return err
	}
	if f.Mtime == 0 {
		return nil
	}
	at := time.Unix(0, f.Mtime)
	return to.Chtimes(name, at, at)
}

// begins returns how many bytes the file with this name has, and whether data
// begins with them.
func begins(to *os.Root, name string, data io.Reader) (n int64, ok bool) {
	was, err := to.OpenFile(name, openFlags, 0)
	if err != nil {
		return 0, false
	}
	defer was.Close()
	if info, err := was.Stat(); err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	a, b := bufio.NewReader(was), bufio.NewReader(data)
	for ; ; n++ {
		x, err := a.ReadByte()
		if err != nil {
			return n, errors.Is(err, io.EOF)
		}
		if y, err := b.ReadByte(); err != nil || x != y {
			return n, false
		}
	}
}

// Remove removes the files below root that lines name.
//
// The error says which line is not a line of a tree or leads out of it, or is the
// system's.
func Remove(root string, names io.Reader) (err error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	return lines.Each(names, func(line lines.Rope) error {
		l, err := PeekRope(line)
		if err != nil {
			return err
		}
		f, err := fileIn(l)
		if err != nil {
			return err
		}
		if err := dir.Remove(filepath.FromSlash(f.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}
