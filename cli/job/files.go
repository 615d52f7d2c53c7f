package job

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/internal/repository"
)

// WriteNew writes a file that does not exist yet, readable by its owner only. It
// writes all of it or nothing.
//
// The error wraps skein.ErrExists if there is a file, skein.ErrNotFound if there is
// no folder, or is that of write.
func WriteNew(path string, write func(io.Writer) error) (err error) {
	if err := Free(path); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".skein-export-*") // 0600
	if err != nil {
		return fmt.Errorf("folder %s: %w", filepath.Dir(path), cause(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	b := bufio.NewWriter(f)
	if err := cmp.Or(write(b), b.Flush(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) { // another program created it
		return fmt.Errorf("file %s %w", path, skein.ErrExists)
	} else if err != nil { // the file system has no links
		return os.Rename(f.Name(), path)
	}
	return os.Remove(f.Name())
}

// Free returns an error if there is something at path, or no folder to hold it.
func Free(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return fault.Usage("%s is a folder; name a file in it", path)
	case err == nil:
		return fault.Advise(fmt.Errorf("file %s %w", path, skein.ErrExists), "name another one; nothing was written")
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return fault.Advise(fault.Missing("there is no folder %s", filepath.Dir(path)), "make the folder first; nothing was written")
	}
	return nil
}

// cause returns what went wrong, without the path that err names.
func cause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// ProjectOf returns the project that path means, as in --project; "" means that of
// the working directory.
//
// The error is that of finding the working directory.
func (j *Job) ProjectOf(path string) (string, error) {
	cwd, err := j.Getwd()
	if err != nil || path == "" {
		return repository.Project(cwd), err
	}
	path = config.FromHome(path, j.Dirs.Home)
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	if _, err := os.Stat(path); err == nil {
		return repository.Project(path), nil
	}
	return filepath.Clean(path), nil // the folder may be gone while its sessions are not
}

// ClonesOf returns the project of path, as ProjectOf, and its repository, "" if it
// has none: the sessions of either are those of all its clones.
//
// The error is that of finding the working directory.
func (j *Job) ClonesOf(path string) (project, repository string, err error) {
	if project, err = j.ProjectOf(path); err != nil {
		return "", "", err
	}
	x, _ := j.Checkout(project)
	return project, x.Repository, nil
}

// Checkout returns the repository of a folder, and what is checked out there. What
// cannot be read is left out.
func (j *Job) Checkout(dir string) (x skein.Checkout, project string) {
	at, _ := repository.PlaceFinder{Cache: filepath.Join(j.Dirs.Cache, "roots")}.At(dir) //nolint:errcheck // it has the rest
	host, _ := os.Hostname()                                                             //nolint:errcheck // only for people; may be empty
	return skein.Checkout{
		Repository: string(at.Repository), Branch: at.Branch, Commit: at.Commit, Worktree: at.Worktree, Subfolder: at.Folder, Host: host,
	}, at.Project
}

// Near returns path for people, relative to the folder dir if both are in one
// project.
func (j *Job) Near(dir, path string) string {
	if dir, err := filepath.EvalSymlinks(dir); err == nil {
		in, err := filepath.Rel(repository.Project(dir), path)
		from, ferr := filepath.Rel(dir, path)
		if err == nil && ferr == nil && filepath.IsLocal(in) {
			return from
		}
	}
	return j.Tilde(path)
}

// Tilde returns path for people, with ~ in place of the home folder.
func (j *Job) Tilde(path string) string {
	home := j.Dirs.Home
	if rest, ok := strings.CutPrefix(path, home); ok && home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		return "~" + rest
	}
	return path
}

// Folder returns the absolute path of the folder that a person names.
//
// The error wraps skein.ErrNotFound if there is no such folder, fault.ErrUsage if it
// is a file.
func (j *Job) Folder(path string) (string, error) {
	cwd, err := j.Getwd()
	if err != nil {
		return "", err
	}
	path = config.FromHome(path, j.Dirs.Home)
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return "", fault.Advise(fault.Missing("--cwd: there is no folder %s", path), "name one that is there, or make it first: mkdir -p %s", terminal.ShellWord(path))
	case !info.IsDir():
		return "", fault.Usage("--cwd: %s is not a folder", path)
	}
	return filepath.Clean(path), nil
}

// Backups returns the folder for backups, which is beside the store.
func (j *Job) Backups() string { return filepath.Join(filepath.Dir(j.Place.Path), "backups") }

// Absolute returns path as an absolute path, relative to the working directory.
//
// The error is that of finding the working directory.
func (j *Job) Absolute(path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	cwd, err := j.Getwd()
	return filepath.Join(cwd, path), err
}
