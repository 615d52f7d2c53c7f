package cli

import (
	"os"
	"path/filepath"
	"strings"
)

// projectRoot returns the project of dir: the nearest folder, dir or one above it,
// with a .git in it, else dir itself. Symbolic links are resolved.
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

// projectOf returns the project that path means, as in --project; "" means that of
// the working directory.
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
	return filepath.Clean(path), nil // the folder may be gone while its sessions are not
}

// fromHome returns path with ~/ at its beginning replaced by the home folder.
func fromHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return path
}

// near returns path for people, relative to the folder dir if both are in one
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

// tilde returns path for people, with ~ in place of the home folder.
func (j *job) tilde(path string) string {
	home := j.dirs.Home
	if rest, ok := strings.CutPrefix(path, home); ok && home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		return "~" + rest
	}
	return path
}
