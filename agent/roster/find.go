package roster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// extensions returns the extensions of agent files.
func extensions() []string { return []string{".md", ".agentuse"} }

// Definition returns the agent that a person means by name: a path, if it has a
// separator or the extension of an agent file, else a file of that name in one
// of the folders. A path is relative to the folder cwd.
//
// The error wraps [skein.ErrNotFound] if there is no such agent,
// [skein.ErrInvalid] (with file and line) if the file is not a valid agent
// file.
func (r *Roster) Definition(name, cwd string) (Definition, error) {
	if IsPath(name) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(cwd, name)
		}
		return read(filepath.Clean(name))
	}
	for _, dir := range r.Folders {
		d, err := in(dir, name)
		if !errors.Is(err, fs.ErrNotExist) {
			return d, err
		}
	}
	return Definition{}, fmt.Errorf("agent %q: %w in %s", name, skein.ErrNotFound, strings.Join(r.Folders, ", "))
}

// IsPath reports whether name, of an agent, is a path.
func IsPath(name string) bool {
	return strings.ContainsAny(name, `/\`) || slices.Contains(extensions(), filepath.Ext(name))
}

// in returns the agent of this name in dir: by its file's name, else by the
// name in the file. The error wraps fs.ErrNotExist if there is none.
func in(dir, name string) (Definition, error) {
	for _, ext := range extensions() {
		path := filepath.Join(dir, name+ext)
		if _, err := os.Stat(path); err == nil {
			return read(path)
		}
	}
	all, _, err := list(dir)
	if err != nil {
		return Definition{}, err
	}
	if i := slices.IndexFunc(all, func(d Definition) bool { return d.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Definition{}, fs.ErrNotExist
}

// Definitions returns the agents in the folders, by name, without those that
// are hidden by another agent of the same name; and an error for each file that
// is not a valid agent file. Other errors are the disk's.
func (r *Roster) Definitions() (all []Definition, bad []error, err error) {
	for _, dir := range r.Folders {
		found, wrong, err := list(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		bad = append(bad, wrong...)
		for _, d := range found {
			if !slices.ContainsFunc(all, func(o Definition) bool { return o.Name == d.Name }) {
				all = append(all, d)
			}
		}
	}
	slices.SortFunc(all, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	return all, bad, nil
}

// list returns the agents in dir.
func list(dir string) (all []Definition, bad []error, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		if f.IsDir() || !slices.Contains(extensions(), filepath.Ext(f.Name())) || strings.EqualFold(f.Name(), "README.md") {
			continue
		}
		d, err := read(filepath.Join(dir, f.Name()))
		if err != nil {
			bad = append(bad, err)
			continue
		}
		all = append(all, d)
	}
	return all, bad, nil
}
