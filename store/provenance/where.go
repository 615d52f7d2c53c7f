package provenance

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
)

// is reports whether an edit of session x is of the file at path, relative to the root.
func (s *searcher) is(x *skein.Session, e *edits.Edit, file string) bool {
	return slices.Contains(s.all(x, e, e.Path), file) || slices.Contains(s.all(x, e, e.From), file)
}

// inside returns the path of a file that an edit of session x names, relative to the root
// of the repository; "" if it is not in the repository, as far as is known.
func (s *searcher) inside(x *skein.Session, e *edits.Edit, p string) string {
	if all := s.all(x, e, p); len(all) > 0 {
		return all[0]
	}
	return ""
}

// all returns the paths, relative to the root of the repository, that a file may have which an edit of
// session x names, the likeliest first.
func (s *searcher) all(x *skein.Session, e *edits.Edit, p string) (all []string) {
	if p == "" || strings.HasPrefix(p, "~/") { // that of the home folder
		return nil
	}
	p = edits.Clean(p, e.Dir)
	if !path.IsAbs(p) {
		if s.belongs(x) && !strings.HasPrefix(p, "../") {
			return []string{p}
		}
		return nil
	}
	for _, dir := range s.tops(x, p) {
		if name, ok := strings.CutPrefix(p, dir+"/"); ok && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// here reports whether an edit of session x is of a file in the repository.
func (s *searcher) here(x *skein.Session, e *edits.Edit) bool { return s.inside(x, e, e.Path) != "" }

// tops returns the folders that may be the top of a working tree of the repository, the
// likeliest first, for a file at p that session x changed: a linked working tree that the
// session is in; this one; on another machine, the folder with the repository's name that
// the session is in, or its own if it is of the same repository; and the outermost folder
// with the name that the file is in.
func (s *searcher) tops(x *skein.Session, p string) (all []string) {
	same, known := s.same(x)
	at := top(x)
	if s.belongs(x) {
		all = append(all, linkedTrees(at)...)
	}
	if s.root != "" {
		all = append(all, edits.Slashed(s.root))
	}
	if known && !same {
		return all
	}
	for dir := at; len(dir) > 1; dir = path.Dir(dir) {
		if slices.Contains(s.names(), path.Base(dir)) {
			all = append(all, dir)
			break
		}
	}
	if same && at != "" {
		all = append(all, at)
	}
	outermost := ""
	for dir := path.Dir(p); len(dir) > 1; dir = path.Dir(dir) {
		if slices.Contains(s.names(), path.Base(dir)) {
			outermost = dir
		}
	}
	if outermost != "" {
		all = append(all, outermost)
	}
	return all
}

// linkedTrees returns what may be the top of the linked working tree that a folder is in, where
// programs put them: NAME in a folder worktrees or workspaces, or a folder in NAME.
func linkedTrees(dir string) (all []string) {
	for _, of := range []string{"/worktrees/", "/workspaces/"} {
		before, after, ok := strings.Cut(dir, of)
		if !ok {
			continue
		}
		names := strings.SplitN(after, "/", 3)
		if len(names) > 1 {
			all = append(all, before+of+names[0]+"/"+names[1])
		}
		all = append(all, before+of+names[0])
	}
	return all
}

// top is the folder that a session calls its project.
func top(x *skein.Session) string { return edits.Slashed(cmp.Or(x.Project, x.Cwd)) }

// same reports whether a session is of the repository, and whether its record tells. A
// repository of the same name may be a fork.
func (s *searcher) same(x *skein.Session) (same, known bool) {
	of := x.Checkout.Repository
	known = of != "" && !strings.HasPrefix(of, "root:")
	return known && (of == string(s.repo) || slices.Contains(s.names(), path.Base(of))), known
}

// inNamed reports whether a folder, or one that it is in, has the repository's name.
func (s *searcher) inNamed(dir string) bool {
	names := s.names()
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool { return slices.Contains(names, part) })
}

// belongs reports whether session x is of the repository.
func (s *searcher) belongs(x *skein.Session) bool {
	if same, known := s.same(x); known {
		return same
	}
	dir := top(x)
	return dir != "" && (dir == edits.Slashed(s.root) || strings.HasPrefix(dir, edits.Slashed(s.root)+"/") || s.inNamed(dir))
}

// names are what folders of the repository may be called.
func (s *searcher) names() []string {
	return append([]string{path.Base(edits.Slashed(s.root)), strings.TrimSuffix(path.Base(string(s.repo)), ".git")}, s.former...)
}
