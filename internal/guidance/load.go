package guidance

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A loader is one call of Load.
type loader struct {
	files []File
	notes []string
	seen  []fs.FileInfo // of files that were read
}

func (l *loader) note(name string, format string, args ...any) {
	l.notes = append(l.notes, name+": "+fmt.Sprintf(format, args...))
}

// An opener opens files: of a project, which no name leads out of, or of the person's
// own folder, which may have links to anywhere.
type opener interface {
	open(rel string) (*os.File, error)
	path(rel string) string
	named(rel string) string // for notes
	mine() bool
}

type ownShelf struct{ dir string }

func (s ownShelf) mine() bool              { return true }
func (s ownShelf) path(rel string) string  { return filepath.Join(s.dir, filepath.FromSlash(rel)) }
func (s ownShelf) named(rel string) string { return s.path(rel) }
func (s ownShelf) open(rel string) (*os.File, error) {
	return os.OpenFile(s.path(rel), openFlags, 0)
}

type projectShelf struct {
	dir  string
	root *os.Root
}

func (s projectShelf) mine() bool              { return false }
func (s projectShelf) path(rel string) string  { return filepath.Join(s.dir, filepath.FromSlash(rel)) }
func (s projectShelf) named(rel string) string { return rel }

// open opens a file of the project. The target of a link must be a kind of text that
// instructions are written in: a stranger's AGENTS.md could be a link to .env.
func (s projectShelf) open(rel string) (*os.File, error) {
	if real, err := filepath.EvalSymlinks(s.path(rel)); err == nil && !isText(real) {
		return nil, fmt.Errorf("it leads to %s, which is no Markdown or plain text", filepath.Base(real))
	}
	return s.root.OpenFile(filepath.FromSlash(rel), openFlags, 0)
}

func isText(name string) bool {
	return slices.Contains([]string{".md", ".markdown", ".mdc", ".txt"}, strings.ToLower(filepath.Ext(name)))
}

func (l *loader) own(dir string) {
	for _, name := range []string{"AGENTS.md", "USER.md", "MEMORY.md"} {
		l.file(ownShelf{dir}, name)
	}
}

func (l *loader) project(dir, cwd string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return // the session's folder is gone, which is reported elsewhere
	}
	defer root.Close() //nolint:errcheck // it is only read
	s := projectShelf{dir, root}
	at := ""
	for _, folder := range folders(dir, cwd) {
		at = path.Join(at, folder)
		for _, name := range []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md"} {
			l.file(s, path.Join(at, name))
		}
	}
}

// folders returns the names of the folders from dir, which is named "", down to cwd.
func folders(dir, cwd string) []string {
	all := []string{""}
	if real, err := filepath.EvalSymlinks(cwd); err == nil {
		cwd = real
	}
	rel, err := filepath.Rel(dir, cwd)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return all
	}
	all = append(all, strings.Split(filepath.ToSlash(rel), "/")...)
	return all[:min(len(all), maxFolders)]
}

// file reads one file, if it exists and was not read under another name.
func (l *loader) file(s opener, rel string) {
	r := readFile{loader: l, shelf: s, name: s.named(rel), room: MaxFile}
	text, size, err := r.read(rel, 0)
	switch {
	case errors.Is(err, errSeen):
		return
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(s.path(rel)); err == nil {
			l.note(r.name, "it is not read: what it leads to is not there")
		}
		return
	case err != nil:
		l.note(r.name, "it is not read: %s", plain(err))
		return
	}
	if r.left > 0 {
		l.note(r.name, "it has %d bytes more than the %d that are read", r.left, MaxFile)
	}
	if r.hidden > 0 {
		l.note(r.name, "%d characters that nobody sees are left out", r.hidden)
	}
	same := func(f File) bool { return strings.TrimSpace(f.Text) == strings.TrimSpace(text) }
	if strings.TrimSpace(text) == "" || slices.ContainsFunc(l.files, same) {
		return
	}
	l.files = append(l.files, File{Name: rel, Path: s.path(rel), Text: text, Size: size, Left: r.left, Mine: s.mine()})
}

var errSeen = errors.New("it was read")

// plain returns what went wrong without the path, which the note already has.
func plain(err error) string {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		if strings.Contains(p.Err.Error(), "escapes") {
			return "it leads out of the project"
		}
		return p.Err.Error()
	}
	return err.Error()
}

// A readFile reads one file and what it imports.
type readFile struct {
	*loader
	shelf   opener
	name    string
	room    int // bytes that are left of MaxFile
	left    int // bytes that did not fit
	hidden  int // invisible characters
	imports int
}

// read returns the text of a file, including its imports.
func (r *readFile) read(rel string, depth int) (text string, size int64, err error) {
	f, err := r.shelf.open(rel)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", 0, err
	case !info.Mode().IsRegular():
		return "", 0, errors.New("not a regular file")
	case slices.ContainsFunc(r.seen, func(s fs.FileInfo) bool { return os.SameFile(s, info) }):
		return "", 0, errSeen
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(r.room)+utf8.UTFMax))
	if err != nil {
		return "", 0, err
	}
	raw := strings.TrimPrefix(string(b), "\ufeff")
	whole := len(b) <= r.room
	if !whole {
		raw = lines(raw, r.room)
		r.left += int(min(info.Size(), 1<<40)) - len(raw)
	}
	if !utf8.ValidString(raw) || strings.ContainsRune(raw, 0) {
		return "", 0, errors.New("it is not UTF-8 text")
	}
	r.seen = append(r.seen, info)
	r.room -= len(raw)
	return r.expand(r.visible(raw), rel, depth), info.Size(), nil
}

// visible returns text without characters that people do not see but a model reads.
func (r *readFile) visible(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n', c == '\t', c == '\u200c', c == '\u200d':
			return c
		case c == '\r':
			return -1
		case unicode.Is(unicode.Cf, c), unicode.IsControl(c), c >= 0xe0000 && c < 0xe1000: // tags and selectors, in which whole texts have been hidden
			r.hidden++
			return -1
		}
		return c
	}, text)
}

// expand replaces lines such as @docs/style.md by the files that they import, except
// in a block of code.
func (r *readFile) expand(text, rel string, depth int) string {
	if !strings.Contains(text, "@") {
		return text
	}
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			fenced = !fenced
		}
		if target, ok := imported(line); ok && !fenced {
			if more := r.imported(target, rel, depth); more != "" {
				b.WriteString(strings.TrimRight(more, "\n") + "\n")
			}
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}

// imported returns the target that a line imports.
func imported(line string) (target string, ok bool) {
	target, ok = strings.CutPrefix(strings.TrimSpace(line), "@")
	return target, ok && isText(target) && !strings.ContainsAny(target, " \t@")
}

func (r *readFile) imported(target, rel string, depth int) string {
	if r.imports++; r.imports > maxImports || depth == maxDepth {
		r.note(r.name, "@%s is not read: more than %d imports, or %d in one another", target, maxImports, maxDepth)
		return ""
	}
	to := path.Join(path.Dir(rel), filepath.ToSlash(target))
	if strings.HasPrefix(target, "~") || path.IsAbs(filepath.ToSlash(target)) || filepath.IsAbs(target) {
		r.note(r.name, "@%s is not read: want a path from the file's own folder", target)
		return ""
	}
	text, _, err := r.read(to, depth+1)
	if err != nil && !errors.Is(err, errSeen) {
		r.note(r.name, "@%s is not read: %s", target, plain(err))
	}
	return text
}
