package folder

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skein-dev/skein/internal/lines"
)

// Differ compares the files of the folder at root with lines: those that now
// tells must stand as was tells them, or must not be there if it tells nothing
// of them, or have the bytes that now gives them. It returns the name of the
// first that does not, and "". No file is in memory whole.
//
// The error says which line is no line of a tree, or is the system's.
func Differ(root string, was, now io.Reader) (_ string, err error) {
	before, _, err := contents(was)
	if err != nil {
		return "", err
	}
	after, order, err := contents(now)
	if err != nil {
		return "", err
	}
	dir, err := os.OpenRoot(root)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	for _, name := range order {
		is, err := contentOf(dir, name)
		old, known := before[name]
		switch {
		case errors.Is(err, fs.ErrNotExist) && !known:
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", err
		case err != nil, is != sumOf(after[name]) && (!known || is != sumOf(old)):
			return name, nil
		}
	}
	return "", nil
}

// A fileHash stands for the bytes of a file.
type fileHash [sha256.Size]byte

func sumOf(h hash.Hash) (c fileHash) {
	h.Sum(c[:0])
	return c
}

func contentOf(dir *os.Root, name string) (fileHash, error) {
	f, err := dir.Open(filepath.FromSlash(name))
	if err != nil {
		return fileHash{}, err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return sumOf(h), errors.Join(err, f.Close())
}

// contents returns what stands for the bytes of the files that lines tell.
func contents(tree io.Reader) (map[string]hash.Hash, []string, error) {
	all := map[string]hash.Hash{}
	var order []string
	err := lines.Each(tree, func(line []byte) error {
		l, err := Parse(line)
		if err != nil || l.File == "" || l.Damage != "" {
			return err
		}
		if _, err := fileIn(l); err != nil {
			return fmt.Errorf("line %.60q: %w", line, err)
		}
		if all[l.File] == nil {
			order, all[l.File] = append(order, l.File), sha256.New()
		}
		return l.writeTo(all[l.File])
	})
	return all, order, err
}
