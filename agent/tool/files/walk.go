package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Bounds of a walk.
const (
	maxVisited = 500_000
	maxWalk    = 30 * time.Second
	maxDeep    = 200 // depth of nested folders
)

// errEnough ends a walk that has found enough.
var errEnough = errors.New("enough was found")

// A walker visits the files below a folder, in the order of their names. It
// does not follow links.
type walker struct {
	real    string // the folder
	all     bool   // include what git ignores
	flat    bool   // only the folder itself
	top     string // folder to which rules are relative
	prefix  string // path of real from top, with a slash at the end; "" if it is the top
	visited int
	unread  int // folders that could not be read
	cutOff  bool

	// visit is called for each file and folder with its path from real, with
	// slashes; its error ends the walk.
	visit func(path string, d fs.DirEntry) error
}

// walk visits everything below w.real. The errors are visit's and ctx's, except
// errEnough; cutOff says that a bound was reached.
func (w *walker) walk(ctx context.Context) error {
	top, rs, err := above(w.real)
	if err != nil {
		return err
	}
	w.top = top
	if rel, err := filepath.Rel(top, w.real); err == nil && rel != "." {
		w.prefix = filepath.ToSlash(rel) + "/"
	}
	limited, stop := context.WithTimeout(ctx, maxWalk)
	defer stop()
	err = w.folder(limited, "", rs, 0)
	switch {
	case errors.Is(err, errEnough):
		return nil
	case err != nil && ctx.Err() == nil && limited.Err() != nil:
		w.cutOff = true
		return nil
	}
	return err
}

// folder walks through the folder dir, which is "" or ends with a slash.
func (w *walker) folder(ctx context.Context, dir string, rs ignoreRules, deep int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(w.real, filepath.FromSlash(dir)))
	if err != nil {
		w.unread++
		if deep == 0 {
			return err
		}
	}
	if !w.all && slices.ContainsFunc(entries, func(d fs.DirEntry) bool { return d.Name() == ".gitignore" }) {
		own, err := readRules(w.prefix+dir, filepath.Join(w.real, filepath.FromSlash(dir), ".gitignore"))
		if err != nil {
			w.unread++
		}
		rs = append(rs[:len(rs):len(rs)], own...)
	}
	for _, d := range entries {
		if d.IsDir() && slices.Contains([]string{".git", ".hg", ".svn", ".jj"}, d.Name()) {
			continue
		}
		path := dir + d.Name()
		if !w.all && rs.ignored(w.prefix+path, d) {
			continue
		}
		if w.visited++; w.visited > maxVisited {
			w.cutOff = true
			return errEnough
		}
		if err := w.visit(path, d); err != nil {
			return err
		}
		if d.IsDir() && !w.flat && deep < maxDeep {
			if err := w.folder(ctx, path+"/", rs, deep+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// notes says what a walk did not visit.
func (w *walker) notes() string {
	var s strings.Builder
	if w.unread > 0 {
		s.WriteString("[some folders could not be read]\n")
	}
	if w.cutOff {
		s.WriteString("[there are too many files to search them all; give a folder]\n")
	}
	return s.String()
}
