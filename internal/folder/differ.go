package folder

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Differ compares the files of the folder at root with lines: those that now
// tells must stand as was tells them, or must not be there if it tells nothing
// of them, or have the bytes that now gives them. It returns the name of the
// first that does not, and "".
//
// The error says which line is no line of a tree, or is the system's.
func Differ(root string, was, now []byte) (_ string, err error) {
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
		is, err := dir.ReadFile(filepath.FromSlash(name))
		old, known := before[name]
		switch {
		case errors.Is(err, fs.ErrNotExist) && !known:
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", err
		case err != nil, !bytes.Equal(is, after[name]) && (!known || !bytes.Equal(is, old)):
			return name, nil
		}
	}
	return "", nil
}

// contents returns the bytes of the files that lines tell.
func contents(lines []byte) (map[string][]byte, []string, error) {
	all := map[string][]byte{}
	var order []string
	for line := range bytes.Lines(lines) {
		l, err := Parse(line)
		if err != nil {
			return nil, nil, err
		}
		if l.File == "" || l.Damage != "" {
			continue
		}
		if _, err := fileIn(l); err != nil {
			return nil, nil, fmt.Errorf("line %.60q: %w", line, err)
		}
		if _, ok := all[l.File]; !ok {
			order = append(order, l.File)
		}
		all[l.File] = append(all[l.File], l.Data()...)
	}
	return all, order, nil
}
