package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A rule is a line of a .gitignore file.
type rule struct {
	dir     string // of the file, relative to the top, with a slash at the end; "" for the top
	re      *regexp.Regexp
	folders bool // only folders match
	not     bool // what matches is not ignored
}

// ignoreRules say what git ignores; later ones override earlier ones.
type ignoreRules []rule

// ignored reports whether the file or folder at p, relative to the top, is
// ignored, given that its folder is not.
func (rs ignoreRules) ignored(p string, d fs.DirEntry) bool {
	for _, r := range slices.Backward(rs) {
		rest, ok := strings.CutPrefix(p, r.dir)
		if ok && (!r.folders || d.IsDir()) && r.re.MatchString(rest) {
			return !r.not
		}
	}
	return false
}

// parseRules parses the .gitignore in dir; like git, it skips lines that are
// not patterns.
func parseRules(dir, text string) (rs ignoreRules) {
	for line := range strings.Lines(text) {
		line = trimRule(strings.TrimRight(line, "\r\n"))
		r := rule{dir: dir}
		if strings.HasPrefix(line, "#") {
			continue
		}
		line, r.not = strings.CutPrefix(line, "!")
		line, r.folders = strings.CutSuffix(line, "/")
		if line == "" {
			continue
		}
		anywhere := "(?:.*/)?"
		if strings.Contains(line, "/") {
			anywhere = ""
		}
		re, err := regexp.Compile("^" + anywhere + expression(strings.TrimPrefix(line, "/"), gitignore) + "$")
		if err == nil {
			r.re = re
			rs = append(rs, r)
		}
	}
	return rs
}

// trimRule removes trailing spaces from line, unless a backslash quotes them.
func trimRule(line string) string {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	return line
}

// maxRules is how many bytes of a .gitignore are read.
const maxRules = 1 << 20

// readRules reads a file of rules for dir; the file may be missing.
func readRules(dir, file string) (ignoreRules, error) {
	s, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !s.Mode().IsRegular() || s.Size() > maxRules:
		return nil, fmt.Errorf("%s: not a file, or larger than %d bytes", file, maxRules)
	}
	text, err := os.ReadFile(file)
	return parseRules(dir, string(text)), err
}

// above returns the top of the git repository that contains the folder real, or
// real itself if there is none, and the rules that apply in real, without its
// own .gitignore.
func above(real string) (top string, rs ignoreRules, err error) {
	top = real
	for dir := real; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			top = dir
			break
		}
		if dir == filepath.Dir(dir) {
			return real, nil, nil
		}
	}
	if rs, err = readRules("", filepath.Join(top, ".git", "info", "exclude")); err != nil {
		rs = nil // in a worktree, .git is a file
	}
	rel, err := filepath.Rel(top, real)
	if err != nil || rel == "." {
		return top, rs, err
	}
	dir := ""
	for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		more, err := readRules(dir, filepath.Join(top, filepath.FromSlash(path.Join(dir, ".gitignore"))))
		if err != nil {
			return top, rs, err
		}
		rs = append(rs, more...)
		dir += name + "/"
	}
	return top, rs, nil
}
