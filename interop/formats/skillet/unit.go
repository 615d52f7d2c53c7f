package skillet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

const tableName = "session_items"

// A unit is a database with the logs beside it. Either may be missing.
type unit struct {
	dir     string       // of the state
	rows    interop.Unit // the database; nil if there is none
	tree    *folder.Tree // the logs
	why     string       // why the database cannot be read; "" if it can or there is none
	sources map[string]source
	sharing map[string]int // source that owns a log → number of other sessions that share it
}

// A source is a session: rows of the database, a log, or both.
type source struct {
	name string // in the unit
	rows interop.Source
	log  *folder.File
}

// openUnit opens the database at path and the logs beside it.
//
// The error wraps [interop.ErrOther] if nothing there is Skillet's.
func openUnit(ctx context.Context, path string) (_ interop.Unit, err error) {
	u := &unit{dir: filepath.Dir(path)}
	u.rows, err = interop.OpenDatabase(ctx, path, interop.Database{Ours: ours})
	other := errors.Is(err, interop.ErrOther)
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
	case other:
		u.why = err.Error()
	default:
		return nil, err
	}
	u.tree, err = folder.Open(ctx, u.dir, leave)
	if err != nil {
		return nil, errors.Join(err, u.Close())
	}
	if u.rows == nil && !slices.ContainsFunc(u.tree.Files, isLog) {
		err = interop.ErrOther
		if !other {
			err = fs.ErrNotExist
		}
		return nil, errors.Join(err, u.Close())
	}
	return u, nil
}

// ours returns what is read of a database that has the table of items.
func ours(db *foreign.DB) []foreign.Part {
	t, ok := db.Table(tableName)
	if !ok || !t.Has("id", "user_id", "session_name", "created_at", "item_json") {
		return nil
	}
	return []foreign.Part{{Table: tableName, Order: "created_at", KeyOf: keyOf}, {Table: "sqlite_sequence"}}
}

// keyOf returns user and name as one string: both escaped, with a slash between.
func keyOf(r foreign.Row) string {
	user, ok := r.Get("user_id").(string)
	name, also := r.Get("session_name").(string)
	if !ok || !also {
		return ""
	}
	return escape(user) + "/" + escape(name)
}

func escape(s string) string { return strings.ReplaceAll(url.PathEscape(s), "/", "%2F") }

// leave reports whether a file of the state folder is not a log: other databases hold
// passwords.
func leave(name string) bool {
	return name != logsName && !strings.HasPrefix(name, logsName+"/")
}

func isLog(f folder.File) bool { _, ok := logName(f.Name); return ok }

// logName returns the name of a log's source: USER/NAME, either of which may be
// empty.
func logName(file string) (string, bool) {
	rest, ok := strings.CutPrefix(file, logsName+"/")
	rest, also := strings.CutSuffix(rest, ".jsonl")
	switch {
	case !ok || !also || strings.Count(rest, "/") > 1:
		return "", false
	case !strings.Contains(rest, "/"):
		rest = "/" + rest
	}
	return rest, true
}

// Sources implements [interop.Unit]: sessions, by their names. One whose name is
// that of its log once it is cleaned is called so; of several such, the one that
// began first has the log, and the others have their own name behind it.
//
// Errors are those of the temporary file.
func (u *unit) Sources(ctx context.Context) (all []interop.Source, err error) {
	u.sources = map[string]source{}
	if u.rows != nil {
		if err := u.nameRows(ctx); err != nil {
			return nil, err
		}
	}
	for i, f := range u.tree.Files {
		if name, ok := logName(f.Name); ok {
			s := u.sources[name]
			s.name, s.log = name, &u.tree.Files[i]
			u.sources[name] = s
		}
	}
	for name, s := range u.sources {
		whole := s.whole()
		if n := u.sharing[name]; n > 0 {
			whole.Stamp += fmt.Sprintf(" shared by %d", n)
		}
		all = append(all, whole)
	}
	slices.SortFunc(all, func(a, b interop.Source) int { return cmp.Compare(a.Name, b.Name) })
	return append(all, interop.Source{}), nil
}

// nameRows gives the sessions of the database their names, in the order in which they
// began: a new session must not take the name of an existing one.
func (u *unit) nameRows(ctx context.Context) error {
	found, err := u.rows.Sources(ctx)
	if err != nil {
		return err
	}
	u.sharing = map[string]int{}
	for _, r := range found {
		if r.Name == "" {
			continue
		}
		user, name := unescape(r.Name)
		clean := sanitise(user) + "/" + sanitise(name)
		if _, taken := u.sources[clean]; taken {
			u.sharing[clean]++
			clean += "/" + r.Name
		}
		u.sources[clean] = source{name: clean, rows: r}
	}
	return nil
}

func unescape(key string) (user, name string) {
	user, name, _ = strings.Cut(key, "/")
	user, _ = url.PathUnescape(user)
	name, _ = url.PathUnescape(name)
	return user, name
}

func (s source) whole() interop.Source {
	out := interop.Source{Name: s.name, Stamp: s.rows.Stamp, Size: s.rows.Size}
	if s.log != nil {
		out.Stamp += fmt.Sprintf(" %d %d %o", s.log.Mtime, s.log.Size, s.log.Mode)
		out.Size += s.log.Size
	}
	return out
}

// sharedSign is the beginning of a line of our own before a shared log; the line has
// the number of other sessions.
const sharedSign = `{"shared":`

// Open implements [interop.Unit]: first the rows, then the log. The error says
// that there is no such source.
func (u *unit) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if name == "" {
		return u.frame(ctx)
	}
	s, ok := u.sources[name]
	if !ok {
		return nil, fmt.Errorf("state %s has no source %q", u.dir, name)
	}
	var log io.Reader = strings.NewReader("")
	if s.log != nil {
		log = u.tree.Lines([]folder.File{*s.log}, func(string) bool { return true })
	}
	if s.rows.Name == "" {
		return io.NopCloser(log), nil
	}
	rows, err := u.rows.Open(ctx, s.rows.Name)
	if err != nil {
		return nil, err
	}
	if n := u.sharing[name]; n > 0 {
		log = io.MultiReader(strings.NewReader(fmt.Sprintf("%s%d}\n", sharedSign, n)), log)
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(rows, log), rows}, nil
}

// frame returns what the database has besides sessions, and the folders of logs.
func (u *unit) frame(ctx context.Context) (io.ReadCloser, error) {
	var b []byte
	if u.rows != nil {
		r, err := u.rows.Open(ctx, "")
		if err != nil {
			return nil, err
		}
		b, err = io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
	}
	for _, f := range u.tree.Folders {
		if f.Name != "." {
			b = folder.Dir(f).Append(b)
		}
	}
	return io.NopCloser(strings.NewReader(string(b))), nil
}

// Skips implements [interop.Unit].
func (u *unit) Skips() (all []interop.Skip) {
	if u.rows != nil {
		all = u.rows.Skips()
	}
	if u.why != "" {
		all = append(all, interop.Skip{Path: filepath.Join(u.dir, databaseName), Why: u.why})
	}
	for _, s := range u.tree.Skips {
		all = append(all, interop.Skip{Path: u.dir + string(os.PathSeparator) + s.Name, Why: s.Why})
	}
	return all
}

// Close implements [interop.Unit]; errors are the system's.
func (u *unit) Close() (err error) {
	if u.rows != nil {
		err = u.rows.Close()
	}
	if u.tree != nil {
		err = errors.Join(err, u.tree.Close())
	}
	return err
}

var _ interop.Unit = (*unit)(nil)

// sanitise returns Skillet's name for a user's folder or a session's log: every run
// of characters other than letters, digits, _ and - becomes one _, removed at the
// ends. Two names may become the same, and one may become empty.
func sanitise(s string) string {
	var b strings.Builder
	bad := false
	for _, r := range s {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			b.WriteRune(r)
			bad = false
			continue
		}
		if !bad {
			b.WriteByte('_')
		}
		bad = true
	}
	return strings.Trim(b.String(), "_")
}
