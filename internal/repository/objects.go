package repository

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxObject is the largest object that is read, in bytes, and maxAlternates how
// many folders of objects a repository may borrow from.
const (
	maxObject     = 4 << 20
	maxAlternates = 16
)

// errNoObject says that a repository does not have an object.
var errNoObject = errors.New("no such object")

// objects reads commits from a folder of objects, and from those that it
// borrows from.
type objects struct {
	dirs  []string
	size  int // bytes of a hash
	packs []*pack
	known bool // packs has been read
	zlib  io.ReadCloser
}

func newObjects(dir string, size int) *objects {
	o := &objects{dirs: []string{dir}, size: size}
	for i := 0; i < len(o.dirs) && i < maxAlternates; i++ {
		b, err := small(filepath.Join(o.dirs[i], "info", "alternates"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			at := strings.TrimSpace(line)
			if at == "" || at[0] == '#' {
				continue
			}
			if !filepath.IsAbs(at) {
				at = filepath.Join(o.dirs[i], at)
			}
			if !slices.Contains(o.dirs, at) {
				o.dirs = append(o.dirs, at)
			}
		}
	}
	return o
}

func (o *objects) close() {
	for _, p := range o.packs {
		p.close()
	}
}

// commit returns the bytes of a commit. The error is errNoObject if it is not there.
func (o *objects) commit(name string) ([]byte, error) {
	kind, b, err := o.object(name)
	if err == nil && kind != kindCommit {
		err = fmt.Errorf("it is an object of kind %d, not a commit", kind)
	}
	return b, err
}

func (o *objects) object(name string) (kind int, b []byte, err error) {
	for _, dir := range o.dirs {
		kind, b, err := o.loose(filepath.Join(dir, name[:2], name[2:]))
		if !errors.Is(err, fs.ErrNotExist) {
			return kind, b, err
		}
	}
	raw, err := hex.DecodeString(name)
	if err != nil {
		return 0, nil, err
	}
	if err := o.openPacks(); err != nil {
		return 0, nil, err
	}
	for i, p := range o.packs {
		at, err := p.find(raw)
		if errors.Is(err, errNoObject) {
			continue
		}
		if err != nil {
			return 0, nil, err
		}
		o.packs[0], o.packs[i] = p, o.packs[0] // its parents are likely in the same one
		return p.read(o, at, 0)
	}
	return 0, nil, errNoObject
}

// loose reads an object that has a file of its own.
func (o *objects) loose(name string) (kind int, b []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	b, err = o.inflate(f, maxObject)
	if err != nil {
		return 0, nil, fmt.Errorf("%s: %w", name, err)
	}
	head, body, ok := bytes.Cut(b, []byte{0})
	if word, _, _ := bytes.Cut(head, []byte{' '}); ok && string(word) == "commit" {
		return kindCommit, body, nil
	}
	return 0, nil, fmt.Errorf("%s is not a commit", name)
}

// inflate decompresses at most n bytes.
func (o *objects) inflate(r io.Reader, n int64) (b []byte, err error) {
	if o.zlib == nil {
		o.zlib, err = zlib.NewReader(r)
	} else {
		err = o.zlib.(zlib.Resetter).Reset(r, nil)
	}
	if err != nil {
		return nil, err
	}
	b, err = io.ReadAll(io.LimitReader(o.zlib, n+1))
	if err == nil && int64(len(b)) > n {
		err = fmt.Errorf("it has more than %d bytes", n)
	}
	return b, err
}

func (o *objects) openPacks() error {
	if o.known {
		return nil
	}
	o.known = true
	for _, dir := range o.dirs {
		all, err := filepath.Glob(filepath.Join(dir, "pack", "*.idx"))
		if err != nil {
			return err
		}
		for _, name := range all {
			p, err := openPack(strings.TrimSuffix(name, ".idx"), o.size)
			if errors.Is(err, fs.ErrNotExist) {
				continue // Git is repacking
			}
			if err != nil {
				return err
			}
			o.packs = append(o.packs, p)
		}
	}
	return nil
}
