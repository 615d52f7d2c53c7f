package repository

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// An ID names a repository, the same in every clone.
type ID string

// A Place is what Git's files say about a folder.
type Place struct {
	Repository ID     // "" if nothing identifies it elsewhere
	Project    string // absolute path of the working tree or the bare repository, links resolved; without Git, the folder itself
	Folder     string // path of the folder below Project, with slashes; "" for Project itself
	Branch     string // "" if HEAD is detached, or there is no Git
	Commit     string // hash of the commit that is checked out, in hex; "" if there is none
	Worktree   string // name of a linked worktree; "" in the main one
	Git        bool   // whether there is a repository
}

// A PlaceFinder finds places. The zero value does.
type PlaceFinder struct {
	// Cache is a folder to remember in which commit is the first one of a repository,
	// so that the way to it is gone once; "" remembers nothing.
	Cache string
}

// At is [PlaceFinder.At] of one that remembers nothing. The error is as of that.
func At(dir string) (Place, error) { return PlaceFinder{}.At(dir) }

// At returns the place of a folder, which need not exist any more. The error is
// what could not be read; the place then has the rest.
func (f PlaceFinder) At(dir string) (Place, error) {
	p, r, err := head(dir)
	if r == nil {
		return p, err
	}
	errs := []error{err}
	c, err := r.config()
	errs = append(errs, err)
	if p.Repository = c.remote(p.Branch); p.Repository == "" && p.Commit != "" {
		root, err := r.firstCommit(p.Commit, rootCache{f.Cache, r.common})
		if errs = append(errs, err); root != "" {
			p.Repository = ID("root:" + root)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return p, fmt.Errorf("repository of %s: %w", dir, err)
	}
	return p, nil
}

// Head is [At] without the repository, which can take long to find: that of a
// repository without a remote is the first of all its commits. The error is as of At.
func Head(dir string) (Place, error) {
	p, _, err := head(dir)
	return p, err
}

// head returns what is checked out in a folder, and where the repository's files
// are; nil if there is none.
func head(dir string) (Place, *repo, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Place{}, nil, err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	p := Place{Project: dir}
	r, root, err := find(dir)
	if r == nil {
		return p, nil, err
	}
	p.Git, p.Project, p.Worktree = true, root, r.worktree
	if in, err := filepath.Rel(root, dir); err == nil && in != "." && !r.bare {
		p.Folder = filepath.ToSlash(in)
	}
	p.Branch, p.Commit, err = r.head()
	return p, r, err
}

// Project returns the project of a folder: the nearest folder, it or one above
// it, that is a working tree or a bare repository; without Git, the folder
// itself. Links are resolved.
func Project(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for at := dir; ; {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || isBare(at) {
			return at
		}
		up := filepath.Dir(at)
		if up == at {
			return dir
		}
		at = up
	}
}

// A repo is where the files of a repository are.
type repo struct {
	dir      string // of this working tree: HEAD
	common   string // of all its working trees: config, refs, objects
	worktree string
	bare     bool
}

// find returns the repository of a folder, and the root of the working tree; nil
// if there is none.
func find(dir string) (*repo, string, error) {
	root := Project(dir)
	dot := filepath.Join(root, ".git")
	st, err := os.Stat(dot)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isBare(root):
		return &repo{dir: root, common: root, bare: true}, root, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", nil
	case err != nil:
		return nil, "", err
	case st.IsDir():
		return &repo{dir: dot, common: dot}, root, nil
	}
	to, err := pointer(dot, "gitdir:")
	if err != nil {
		return nil, "", err
	}
	r := &repo{dir: to, common: to}
	if common, err := pointer(filepath.Join(to, "commondir"), ""); err == nil {
		r.common, r.worktree = common, filepath.Base(to)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	return r, root, nil
}

// isBare reports whether a folder is a bare repository.
func isBare(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		st, err := os.Stat(filepath.Join(dir, name))
		if err != nil || st.IsDir() == (name == "HEAD") {
			return false
		}
	}
	return filepath.Base(dir) != ".git"
}

// pointer returns the path that a small file consists of, behind a prefix. A
// relative path is relative to the file's folder.
func pointer(file, prefix string) (string, error) {
	b, err := small(file)
	if err != nil {
		return "", err
	}
	path, ok := strings.CutPrefix(strings.TrimSpace(string(b)), prefix)
	if path = strings.TrimSpace(path); !ok || path == "" {
		return "", fmt.Errorf("%s does not name a folder", file)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	return filepath.Clean(path), nil
}
