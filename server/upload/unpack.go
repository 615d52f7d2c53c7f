package upload

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/openapi"
)

// Bounds of unpacking an archive.
const (
	maxUnpacked = 1 << 30 // bytes in all
	maxPacked   = 10_000  // files
	maxDepth    = 32      // folders in a name
)

// Unpack writes what was sent into dir, as one file or several: name says whether it
// is an archive. No file is written outside dir, whatever the names are.
//
// The error wraps [skein.ErrInvalid] if a name or the archive is wrong, is a problem
// of status 413 if too much is in it, or says what failed.
func Unpack(dir, name string, body io.Reader) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	b := unpackFolder{root: root, left: maxUnpacked}
	switch archiveOf(name) {
	case ".zip":
		return b.zip(body)
	case ".tar":
		return b.tar(body)
	case ".tar.gz", ".tgz":
		return b.tgz(body)
	}
	return b.put(name, body)
}

// IsArchive reports whether a name is that of an archive, which holds several files.
func IsArchive(name string) bool { return archiveOf(name) != "" }

// archiveOf returns the ending of the name of an archive, "" for other names.
func archiveOf(name string) string {
	for _, end := range []string{".zip", ".tar", ".tar.gz", ".tgz"} {
		if strings.HasSuffix(strings.ToLower(name), end) {
			return end
		}
	}
	return ""
}

// unpackFolder is a folder that files are written to.
type unpackFolder struct {
	root  *os.Root
	left  int64 // bytes that may still be written
	files int
}

// put writes a file. Its name may contain folders, in the syntax of any system.
func (b *unpackFolder) put(name string, from io.Reader) (err error) {
	name = path.Clean(strings.TrimLeft(strings.ReplaceAll(name, `\`, "/"), "/"))
	if !filepath.IsLocal(filepath.FromSlash(name)) || name == "." || strings.Count(name, "/") > maxDepth || strings.ContainsAny(name, "\x00:") {
		return fmt.Errorf("%w name %q: want the name of a file, without ..", skein.ErrInvalid, name)
	}
	if b.files++; b.files > maxPacked {
		return tooMuch("more than %d files", maxPacked)
	}
	if err := b.root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o700); err != nil {
		return fmt.Errorf("%w name %q: %w", skein.ErrInvalid, name, err)
	}
	f, err := b.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("%w name %q: %w", skein.ErrInvalid, name, err)
	}
	n, err := io.Copy(f, io.LimitReader(clientReader{from}, b.left+1))
	if b.left -= n; err == nil && b.left < 0 {
		err = tooMuch("more than %d bytes", maxUnpacked)
	}
	return errors.Join(err, f.Close())
}

func tooMuch(format string, args ...any) error {
	return openapi.Refuse(http.StatusRequestEntityTooLarge, "size", "the archive holds "+format, args...)
}

func (b *unpackFolder) tgz(from io.Reader) error {
	z, err := gzip.NewReader(from)
	if err != nil {
		return noArchive(err)
	}
	return b.tar(z)
}

// noArchive returns an error saying that what was sent is not the archive that
// its name says, unless it was too long.
func noArchive(err error) error {
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		return err
	}
	return fmt.Errorf("%w archive: %w", skein.ErrInvalid, err)
}

// tar unpacks regular files, and skips everything else.
func (b *unpackFolder) tar(from io.Reader) error {
	for t := tar.NewReader(from); ; {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return noArchive(err)
		case h.Typeflag != tar.TypeReg:
			continue
		}
		if err := b.put(h.Name, t); err != nil {
			return err
		}
	}
}

// zip unpacks regular files, and skips everything else. The archive is stored
// beside them meanwhile, because its directory is at its end.
func (b *unpackFolder) zip(from io.Reader) (err error) {
	f, err := os.CreateTemp("", "skein-import-*.zip")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	n, err := io.Copy(f, from)
	if err != nil {
		return err
	}
	z, err := zip.NewReader(f, n)
	if err != nil {
		return noArchive(err)
	}
	for _, x := range z.File {
		if !x.Mode().IsRegular() {
			continue
		}
		if err := b.unzip(x); err != nil {
			return err
		}
	}
	return nil
}

func (b *unpackFolder) unzip(x *zip.File) (err error) {
	r, err := x.Open()
	if err != nil {
		return noArchive(err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return b.put(x.Name, r)
}

// clientReader is the source of a file: its errors are those of the client, not of
// the disk.
type clientReader struct{ io.Reader }

// Read implements [io.Reader].
func (s clientReader) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = noArchive(err)
	}
	return n, err
}
