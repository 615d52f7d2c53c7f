package interop

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

var errIrregular = errors.New("not a regular file")

// open opens a regular file for reading and returns its current state.
func open(path string) (*os.File, candidate, error) {
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return nil, candidate{}, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errIrregular
	}
	if err != nil {
		f.Close()
		return nil, candidate{}, err
	}
	return f, candidate{path, info.Size(), info.ModTime().UnixNano(), inode(info)}, nil
}

// headLen is how much of a file is examined to find its format.
const headLen = 4096

// head returns the first bytes of f and goes back to its start.
func head(f *os.File) ([]byte, error) {
	b := make([]byte, headLen)
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

// beside is File.Beside for the file at path.
func beside(path, rel string) ([]byte, bool) {
	below := rel
	for range maxAbove {
		below = strings.TrimPrefix(below, "../")
	}
	if !filepath.IsLocal(filepath.FromSlash(below)) {
		return nil, false
	}
	f, c, err := open(filepath.Join(filepath.Dir(path), filepath.FromSlash(rel)))
	if err != nil || c.size > maxBeside {
		if err == nil {
			f.Close()
		}
		return nil, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxBeside))
	return b, err == nil || errors.Is(err, fs.ErrClosed)
}

func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// cancelable returns r such that reading stops when ctx ends.
func cancelable(ctx context.Context, r io.Reader) io.Reader { return ctxReader{ctx, r} }

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
