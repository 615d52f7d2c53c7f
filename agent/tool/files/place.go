package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein/agent/tool"
)

// A place is a file as a model names it and its real path.
type place struct {
	named string // as the model named it
	path  string // absolute
	real  string // absolute, without symbolic links; the file need not exist
	base  string // the call's folder, without symbolic links
	home  string // the user's home, without symbolic links; "" if there is none
}

// place resolves path, which must not be empty, from c's folder.
func (o Options) place(c tool.Call, path string) (p place, err error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return p, fmt.Errorf("path %q: not a file name", path)
	}
	p.named, p.path = path, path
	if rest, ok := strings.CutPrefix(filepath.ToSlash(path), "~/"); ok && o.Home != "" {
		p.path = filepath.Join(o.Home, rest)
	} else if path == "~" && o.Home != "" {
		p.path = o.Home
	}
	if !filepath.IsAbs(p.path) {
		p.path = filepath.Join(c.Cwd, p.path)
	}
	p.path = filepath.Clean(p.path)
	if p.real, err = follow(p.path); err != nil {
		return p, fmt.Errorf("path %q: %w", path, err)
	}
	if p.base, err = follow(c.Cwd); err != nil {
		return p, err
	}
	if o.Home != "" {
		p.home, err = follow(o.Home)
	}
	return p, err
}

// maxLinks is how many symbolic links to missing files are followed.
const maxLinks = 40

// follow returns the real path of path, even if nothing exists there yet: it
// follows links to missing files, and links among the parent folders.
func follow(path string) (string, error) {
	for range maxLinks {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Abs(real)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		dir := filepath.Dir(path)
		if dir == path {
			return path, nil
		}
		if dir, err = follow(dir); err != nil {
			return "", err
		}
		path = filepath.Join(dir, filepath.Base(path))
		target, err := os.Readlink(path)
		if err != nil { // not a link, or nothing is there
			return path, nil //nolint:nilerr // that it cannot be read as a link is the answer
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		path = target
	}
	return "", fmt.Errorf("path %s: too many symbolic links", path)
}

// below reports whether path is dir or inside it.
func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// inside reports whether p is inside the call's folder.
func (p place) inside() bool { return below(p.base, p.real) }

// relative returns p as the model may name it: relative to the call's folder if
// it is inside.
func (p place) relative() string {
	if rel, err := filepath.Rel(p.base, p.real); err == nil && p.inside() {
		return filepath.ToSlash(rel)
	}
	return p.path
}
