package cli

import (
	"os"
	"path/filepath"
	"strings"
)

// projectRoot returns the project that dir belongs to: the nearest folder
// upwards with a .git in it, else dir itself; symbolic links are followed.
func projectRoot(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for at := dir; ; {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		up := filepath.Dir(at)
		if up == at {
			return dir
		}
		at = up
	}
}

// projectOf returns the project that a person means by path, as --project has
// it; "" is that of the working directory.
func (j *job) projectOf(path string) (string, error) {
	cwd, err := j.Getwd()
	if err != nil || path == "" {
		return projectRoot(cwd), err
	}
	path = fromHome(path, j.dirs.Home)
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	if _, err := os.Stat(path); err == nil {
		return projectRoot(path), nil
	}
	return filepath.Clean(path), nil // the folder may be gone; its sessions are not
}

// fromHome returns path with the home folder in place of ~/ at its beginning.
func fromHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return path
}

// near returns path for people, as seen from the folder dir if both lie in one
// project.
func (j *job) near(dir, path string) string {
	if dir, err := filepath.EvalSymlinks(dir); err == nil {
		in, err := filepath.Rel(projectRoot(dir), path)
		from, ferr := filepath.Rel(dir, path)
		if err == nil && ferr == nil && filepath.IsLocal(in) {
			return from
		}
	}
	return j.tilde(path)
}

// tilde returns path for people, with ~ for the home folder.
func (j *job) tilde(path string) string {
	home := j.dirs.Home
	if rest, ok := strings.CutPrefix(path, home); ok && home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		return "~" + rest
	}
	return path
}
