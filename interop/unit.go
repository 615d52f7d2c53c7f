package interop

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/foreign"
)

// ErrOther is what a Format.Look returns for a folder or database that turns out to be
// another program's.
var ErrOther = errors.New("it belongs to another program")

// A Unit is a store of sessions that is not a file of JSON Lines: a folder, or a
// database, as it was at one moment. It has streams of lines, its sources; the engine
// treats each like a file. [OpenFolder] and [OpenDatabase] make the usual ones.
type Unit interface {
	// Sources returns the sources, parents before children.
	Sources(ctx context.Context) ([]Source, error)

	// Open returns the lines of a source, each one a JSON object.
	Open(ctx context.Context, name string) (io.ReadCloser, error)

	// Skips returns what could not be read, as far as is known so far.
	Skips() []Skip

	Close() error
}

// A Source is a stream of lines in a unit.
type Source struct {
	Name  string // the same at every look: a session's ID; "" for what the unit has only once
	Stamp string // it changes whenever the lines do; "" if not known
	Size  int64  // bytes, roughly
}

// A Folder says how the files of a folder become lines; package folder keeps them
// byte for byte. It is one source, "".
type Folder struct {
	Leave  func(name string) bool // files and whole folders that are not part of it, by name from the folder with slashes; nil for none
	ByLine func(name string) bool // files that grow by lines, each of which is a record; nil for none
	Order  func(a, b string) int  // the order of the files, by their names; nil for the order of the names
	Head   string                 // the file that says what the session is, see [Await]; "" if there is none
}

// Await returns an error wrapping [ErrTorn] while a folder is being written and its
// file named head is missing, which names the session's parent and place: a session
// created without it stays so. If the file is missing [TornFor] after the last change
// of another file, it is no longer expected.
func Await(files []folder.File, head string) error {
	if len(files) == 0 || slices.ContainsFunc(files, func(f folder.File) bool { return f.Name == head || !IsFresh(f.Mtime) }) {
		return nil
	}
	return fmt.Errorf("%w: %s does not exist yet; import it again when it does, or in %v", ErrTorn, head, TornFor)
}

// OpenFolder returns the folder at path as a unit.
//
// Errors are those of reading it and of [Await].
func OpenFolder(ctx context.Context, path string, f Folder) (_ Unit, err error) {
	defer skein.Wrapf(&err, "folder %s", path)
	t, err := folder.Open(ctx, path, f.Leave)
	if err != nil {
		return nil, err
	}
	if f.Head != "" {
		if err := Await(t.Files, f.Head); err != nil {
			return nil, errors.Join(err, t.Close())
		}
	}
	if f.Order != nil {
		slices.SortStableFunc(t.Files, func(a, b folder.File) int { return f.Order(a.Name, b.Name) })
	}
	return &folderUnit{t, f, path}, nil
}

type folderUnit struct {
	*folder.Tree
	how  Folder
	path string
}

// Sources implements [Unit]; there are no errors.
func (u *folderUnit) Sources(context.Context) ([]Source, error) {
	var size int64
	for _, f := range u.Files {
		size += f.Size
	}
	return []Source{{Size: size}}, nil
}

// Open implements [Unit]; the error says that there is no such source.
func (u *folderUnit) Open(_ context.Context, name string) (io.ReadCloser, error) {
	if name != "" {
		return nil, fmt.Errorf("folder %s has no source %q", u.path, name)
	}
	return io.NopCloser(io.MultiReader(u.Lines(u.Files, u.how.ByLine), u.Dirs())), nil
}

// Skips implements [Unit].
func (u *folderUnit) Skips() (all []Skip) {
	for _, s := range u.Tree.Skips {
		all = append(all, Skip{u.path + string(os.PathSeparator) + s.Name, s.Why})
	}
	return all
}

// A Database says which tables of a database become lines; package foreign keeps them
// byte for byte. Each session is a source, named after its ID; the source "" has the
// frame, rows that belong to no session and the names of the other sources, as
// {"sources":["…"]}, in several such lines if there are many.
type Database struct {
	// Mentions are names of which the schema has at least one if the database is the
	// format's: a database without any is not even copied. Neither is a store of skein's.
	Mentions []string

	// Ours looks at the tables and columns and returns the parts to read, none if the
	// database is another program's. Only what it names is ever read: leave out what
	// holds credentials.
	Ours func(db *foreign.DB) []foreign.Part
}

// OpenDatabase returns the database at path as a unit: a copy of it.
//
// The error wraps [ErrOther] if it is another program's, or is not a database; others
// are those of copying it, or say that a schema with these names cannot be read.
func OpenDatabase(ctx context.Context, path string, d Database) (_ Unit, err error) {
	defer skein.Wrapf(&err, "database %s", path)
	if there, err := foreign.Mentions(path, d.Mentions...); err != nil || !there {
		return nil, cmp.Or(err, ErrOther)
	}
	db, err := foreign.Open(ctx, path)
	if err != nil {
		if errors.Is(err, foreign.ErrNone) && len(d.Mentions) == 0 {
			err = errors.Join(ErrOther, err)
		}
		return nil, err // a database that mentions these names is ours, and its schema is damaged
	}
	u := &databaseUnit{db: db, path: path, parts: d.Ours(db)}
	if len(u.parts) == 0 {
		return nil, errors.Join(ErrOther, db.Close())
	}
	return u, nil
}

// FromDatabase reports whether [OpenDatabase] made u.
func FromDatabase(u Unit) bool {
	_, ok := u.(*databaseUnit)
	return ok
}

type databaseUnit struct {
	db     *foreign.DB
	path   string
	parts  []foreign.Part
	pieces *foreign.Pieces
}

// Sources implements [Unit]; errors are those of copying rows to a temporary
// file.
func (u *databaseUnit) Sources(ctx context.Context) (all []Source, err error) {
	if u.pieces, err = u.db.Split(ctx, u.parts...); err != nil {
		return nil, err
	}
	for p, err := range u.pieces.All() {
		if err != nil {
			return nil, err
		}
		if p.Key != "" {
			all = append(all, Source{p.Key, p.Stamp, p.Size})
		}
	}
	return append(all, Source{}), nil
}

// Open implements [Unit]; the error says that there is no such source.
func (u *databaseUnit) Open(_ context.Context, name string) (io.ReadCloser, error) {
	p, ok := u.pieces.Of(name)
	switch {
	case name == "":
		frame, err := u.frame()
		if err != nil {
			return nil, err
		}
		return io.NopCloser(io.MultiReader(bytes.NewReader(frame), u.db.Lines(p))), nil
	case !ok:
		return nil, fmt.Errorf("database %s has no source %q", u.path, name)
	}
	return io.NopCloser(u.db.Lines(p)), nil
}

// maxNames is how many bytes of source names are put on one line: together they may be
// too long for a record, and this way a new name costs no more than the last line.
const maxNames = 1 << 20

// frame returns what the database has besides rows, and the names of its sources.
func (u *databaseUnit) frame() (b []byte, err error) {
	var tables []string
	for _, p := range u.parts {
		tables = append(tables, p.Table)
	}
	tables = append(tables, u.db.Virtual(tables...)...)
	b = u.db.Frame(tables...)
	var names sourceNames
	size := 0
	for p, err := range u.pieces.All() {
		if err != nil {
			return nil, err
		}
		if p.Key == "" {
			continue
		}
		if size += len(p.Key); size > maxNames {
			b = append(append(b, skein.MustJSON(names)...), '\n')
			names, size = sourceNames{}, len(p.Key)
		}
		names.Sources = append(names.Sources, p.Key)
	}
	return append(append(b, skein.MustJSON(names)...), '\n'), nil
}

// sourceNames is the line of a database's frame that names its sources.
type sourceNames struct {
	Sources []string `json:"sources"`
}

// Skips implements [Unit].
func (u *databaseUnit) Skips() (all []Skip) {
	for _, what := range u.db.Damage() {
		all = append(all, Skip{u.path, what})
	}
	return all
}

// Close implements [Unit]; errors are the system's.
func (u *databaseUnit) Close() error { return u.db.Close() }
