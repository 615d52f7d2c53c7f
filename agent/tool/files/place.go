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

// A place is a file as a model names it and where it really is.
type place struct {
	named string // as it was named
	path  string // absolute
	real  string // absolute, without symbolic links; the file need not be there
	base  string // the call's folder, likewise
	home  string // the user's home, likewise; "" if there is none
}

// place finds path, which must not be empty, from c's folder.
func (o Options) place(c tool.Call, path string) (p place, err error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return p, fmt.Errorf("path %q: it names no file", path)
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

// maxLinks is how many symbolic links to files that are not there are
// followed.
const maxLinks = 40

// follow returns where path really is, also if there is nothing yet: what a
// link points to, in the folder that its folder is a link to.
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
		if err != nil { // it is no link, or nothing is there
			return path, nil //nolint:nilerr // that it cannot be read as a link is the answer
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		path = target
	}
	return "", fmt.Errorf("path %s: too many symbolic links", path)
}

// below reports whether path is dir or lies in it.
func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// inside reports whether p lies in the call's folder.
func (p place) inside() bool { return below(p.base, p.real) }

// relative returns p as the model may name it: from the call's folder if it
// is in it.
func (p place) relative() string {
	if rel, err := filepath.Rel(p.base, p.real); err == nil && p.inside() {
		return filepath.ToSlash(rel)
	}
	return p.path
}
