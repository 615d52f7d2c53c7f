package opencode

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/interop"
)

// isPlace reports whether a file of the folder belongs to a session or describes a
// project.
func isPlace(name string) bool {
	dir, file := path.Split(name)
	id, ok := strings.CutSuffix(file, ".json")
	if !ok || strings.HasPrefix(file, ".") {
		return name == "migration"
	}
	switch top, _, _ := strings.Cut(dir, "/"); top {
	case "project":
		return true
	case "session", "todo", "session_diff":
		return strings.HasPrefix(id, "ses_") || top == "session"
	case "message":
		return strings.HasPrefix(id, "msg_")
	case "part":
		return strings.HasPrefix(dir, "part/msg_")
	}
	return false
}

// A tree is the early versions' folder: each session is a source, whose files are in
// several folders.
type tree struct {
	*folder.Tree // opened for reading; it lists nothing itself
	root         *os.Root
	path         string
	frame        []folder.File // what belongs to no session
	sessions     map[string][]folder.File
	skips        []interop.Skip
	n            int // files
}

// maxFiles is how many files are listed at most.
const maxFiles = 5_000_000

func openTree(ctx context.Context, at string) (_ interop.Unit, err error) {
	defer skein.Wrapf(&err, "folder %s", at)
	t := &tree{path: at, sessions: map[string][]folder.File{}}
	if t.Tree, err = folder.Open(ctx, at, func(string) bool { return true }); err != nil {
		return nil, err
	}
	if t.root, err = os.OpenRoot(at); err != nil {
		return nil, errors.Join(err, t.Tree.Close())
	}
	return t, nil
}

// Close implements [interop.Unit]; errors are the system's.
func (t *tree) Close() error { return errors.Join(t.Tree.Close(), t.root.Close()) }

// Skips implements [interop.Unit].
func (t *tree) Skips() []interop.Skip { return t.skips }

// Sources implements [interop.Unit]: sessions in the order of their IDs turned
// round, which is that of time. Those that the program has put into a database
// since are left out. Errors are ctx's, those of reading that, and of a folder
// with too many files; one wraps [interop.ErrTorn] while a session's own file,
// which alone says whose child it is, is being written.
func (t *tree) Sources(ctx context.Context) (all []interop.Source, err error) {
	moved, err := t.moved(ctx)
	if err != nil {
		return nil, err
	}
	t.frame = append(t.files("project"), t.one("migration")...)
	for _, project := range t.folders("session") {
		if project == "message" || project == "part" {
			continue // of one project, in early versions
		}
		for _, f := range t.files(path.Join("session", project)) {
			id := strings.TrimSuffix(path.Base(f.Name), ".json")
			if moved[id] || t.sessions[id] != nil {
				continue
			}
			if t.sessions[id], err = t.session(ctx, id, f); err != nil {
				return nil, err
			}
			all = append(all, stamped(id, t.sessions[id]))
		}
	}
	slices.SortStableFunc(all, func(a, b interop.Source) int { return strings.Compare(b.Name, a.Name) })
	return append(all, stamped("", t.frame)), nil
}

// stamped returns a source of these files.
func stamped(name string, files []folder.File) interop.Source {
	s := interop.Source{Name: name}
	h := sha256.New()
	for _, f := range files {
		s.Size += f.Size
		fmt.Fprintf(h, "%s\x00%d\x00%d\x00%o\x00", f.Name, f.Size, f.Mtime, f.Mode)
	}
	s.Stamp = hex.EncodeToString(h.Sum(nil)[:16])
	return s
}

// session lists a session's files: its own, each message with its parts, and the
// rest.
func (t *tree) session(ctx context.Context, id string, own folder.File) ([]folder.File, error) {
	if t.torn(own) {
		return nil, interop.ErrTorn
	}
	all := []folder.File{own}
	for _, dir := range []string{path.Join("message", id), path.Join("session", "message", id)} {
		for _, m := range t.files(dir) {
			msg := strings.TrimSuffix(path.Base(m.Name), ".json")
			all = append(all, m)
			all = append(all, t.files(path.Join("part", msg))...)
			all = append(all, t.files(path.Join("session", "part", id, msg))...)
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if t.n > maxFiles {
				return nil, fmt.Errorf("more than %d files", maxFiles)
			}
		}
	}
	all = append(all, t.one(path.Join("session_diff", id+".json"))...)
	return append(all, t.one(path.Join("todo", id+".json"))...), nil
}

// torn reports whether a file is cut off and was written just now.
func (t *tree) torn(f folder.File) bool {
	if !interop.IsFresh(f.Mtime) {
		return false
	}
	data, err := t.root.ReadFile(f.Name)
	return err == nil && !jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// files returns the JSON files of a folder, by name; none if there is no such
// folder.
func (t *tree) files(dir string) (all []folder.File) {
	for _, e := range t.entries(dir) {
		if strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), ".") {
			all = append(all, t.file(path.Join(dir, e.Name()), e)...)
		}
	}
	return all
}

func (t *tree) folders(dir string) (names []string) {
	for _, e := range t.entries(dir) {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

func (t *tree) entries(dir string) []fs.DirEntry {
	entries, err := fs.ReadDir(t.root.FS(), dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.skip(dir, err)
	}
	return entries
}

// one returns the file of this name, if there is one.
func (t *tree) one(name string) []folder.File {
	info, err := t.root.Lstat(name)
	if err != nil {
		return nil
	}
	return t.file(name, fs.FileInfoToDirEntry(info))
}

func (t *tree) file(name string, e fs.DirEntry) []folder.File {
	info, err := e.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		t.skip(name, err)
		return nil
	case !info.Mode().IsRegular():
		t.skip(name, errors.New("not a regular file"))
		return nil
	}
	t.n++
	return []folder.File{{Name: name, Mode: info.Mode().Perm(), Mtime: info.ModTime().UnixNano(), Size: info.Size()}}
}

func (t *tree) skip(name string, err error) {
	t.skips = append(t.skips, interop.Skip{Path: filepath.Join(t.path, filepath.FromSlash(name)), Why: err.Error()})
}

// Open implements [interop.Unit]; the error says that there is no such source.
func (t *tree) Open(_ context.Context, name string) (io.ReadCloser, error) {
	files, ok := t.sessions[name]
	if name == "" {
		files, ok = t.frame, true
	}
	if !ok {
		return nil, fmt.Errorf("folder %s has no source %q", t.path, name)
	}
	return io.NopCloser(t.Lines(files, nil)), nil
}
