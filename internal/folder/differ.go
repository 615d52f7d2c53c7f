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

// Differ compares the files of the folder at root with lines: each file in now must
// have its bytes in was, or must not exist if it is not in was, or must have its bytes
// in now. It returns the name of the first file that differs, or "". It never reads a
// whole file into memory.
//
// The error says which line is not a line of a tree, or is the system's.
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

// A fileHash is the hash of the bytes of a file.
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

// contents returns the hashes of the files in lines, and their names in order.
func contents(tree io.Reader) (map[string]hash.Hash, []string, error) {
	all := map[string]hash.Hash{}
	var order []string
	err := lines.Each(tree, func(line lines.Rope) error {
		l, err := PeekRope(line)
		if err != nil || l.File == "" || l.Damage != "" {
			return err
		}
		if _, err := fileIn(l); err != nil {
			return fmt.Errorf("line %.60q: %w", line.Gist(), err)
		}
		if all[l.File] == nil {
			order, all[l.File] = append(order, l.File), sha256.New()
		}
		return l.WriteData(all[l.File])
	})
	return all, order, err
}
