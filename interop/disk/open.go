package disk

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrIrregular says that something is neither a file nor a folder.
var ErrIrregular = errors.New("not a regular file")

// Open opens a regular file for reading and returns its current state.
//
// Errors are the system's, and that it is not a regular file.
func Open(path string) (*os.File, File, error) {
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return nil, File{}, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrIrregular
	}
	if err != nil {
		f.Close()
		return nil, File{}, err
	}
	return f, File{path, info.Size(), info.ModTime().UnixNano(), inode(info)}, nil
}

// HeadLen is how much of a file is examined to find its format, in bytes, unless its
// first line is longer: then that is examined up to MaxHead, because a format may be
// known by what a record ends with.
const (
	HeadLen = 4096
	MaxHead = 256 << 10
)

// Head returns the first HeadLen bytes of f, whose read position stays.
//
// Errors are the system's.
func Head(f *os.File) ([]byte, error) {
	b := make([]byte, HeadLen)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:n], nil
}

// maxBeside is the longest file that File.Beside reads, in bytes.
const maxBeside = 1 << 20

// maxAbove is how many folders up File.Beside looks.
const maxAbove = 4

// Beside is File.Beside for the file at path.
func Beside(path, rel string) ([]byte, bool) {
	below := rel
	for range maxAbove {
		below = strings.TrimPrefix(below, "../")
	}
	if !filepath.IsLocal(filepath.FromSlash(below)) {
		return nil, false
	}
	f, c, err := Open(filepath.Join(filepath.Dir(path), filepath.FromSlash(rel)))
	if err != nil || c.Size > maxBeside {
		if err == nil {
			f.Close()
		}
		return nil, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxBeside))
	return b, err == nil || errors.Is(err, fs.ErrClosed)
}

// Within reports whether path is root or below it.
func Within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// Cancelable returns r such that reading stops when ctx ends.
func Cancelable(ctx context.Context, r io.Reader) io.Reader { return ctxReader{ctx, r} }

// ctxReader stops reading when ctx ends.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c ctxReader) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}
