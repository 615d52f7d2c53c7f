package cursor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// A store is the CLI's database of one session: blobs named by their SHA-256, and a
// row that names their root.
type store struct {
	db     *foreign.DB
	path   string
	name   string // of the source: the session's folder
	pieces *foreign.Pieces
	about  about
	chain  []string // messages in order; one can come more than once
}

// about is a line of our own, before the content of the databases.
type about struct {
	Workspace string `json:"workspace,omitempty"`
}

// openDB opens a database that has these tables, and returns interop.ErrOther for any
// other.
func openDB(ctx context.Context, at, mention string, ours func(*foreign.DB) bool) (_ *foreign.DB, err error) {
	if there, err := foreign.Mentions(at, mention); err != nil || !there {
		return nil, errors.Join(interop.ErrOther, err)
	}
	db, err := foreign.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	if !ours(db) {
		return nil, errors.Join(interop.ErrOther, db.Close())
	}
	return db, nil
}

func openStore(ctx context.Context, at string) (_ interop.Unit, err error) {
	defer skein.Wrapf(&err, "database %s", at)
	db, err := openDB(ctx, at, "blobs", func(db *foreign.DB) bool {
		blobs, ok1 := db.Table("blobs")
		meta, ok2 := db.Table("meta")
		return ok1 && ok2 && blobs.Has("id", "data") && meta.Has("key", "value")
	})
	if err != nil {
		return nil, err
	}
	return &store{db: db, path: at, name: path.Base(path.Dir(filepath.ToSlash(at)))}, nil
}

// Sources implements [interop.Unit]; errors are those of copying rows to a
// temporary file.
func (u *store) Sources(ctx context.Context) ([]interop.Source, error) {
	n := 0
	var err error
	u.pieces, err = u.db.Split(ctx, foreign.Part{Table: "meta", KeyOf: func(foreign.Row) string { return "meta" }},
		foreign.Part{Table: "blobs", KeyOf: func(r foreign.Row) string {
			if n++; r.Text("id") == "" {
				return "?" + strconv.Itoa(n)
			}
			return "b" + r.Text("id")
		}})
	if err != nil {
		return nil, err
	}
	root := u.root()
	u.chain, u.about = nil, about{}
	u.walk(root, maxChain, map[string]bool{})
	meta, _ := u.pieces.Of("meta")
	s := interop.Source{Name: u.name, Stamp: root + meta.Stamp, Size: meta.Size}
	for _, id := range u.chain {
		blob, _ := u.pieces.Of("b" + id)
		s.Size += blob.Size
	}
	if len(u.chain) == 0 && root == "" {
		return []interop.Source{{}}, nil
	}
	return []interop.Source{s, {}}, nil
}

// Open implements [interop.Unit]; the error says that there is no such source.
func (u *store) Open(_ context.Context, name string) (io.ReadCloser, error) {
	used := map[string]bool{"meta": true}
	first := append(skein.MustJSON(struct {
		A about `json:"about"`
	}{u.about}), '\n')
	session := []io.Reader{bytes.NewReader(first), u.lines("meta")}
	for _, id := range u.chain {
		if key := "b" + id; !used[key] {
			used[key] = true
			session = append(session, u.lines(key))
			continue
		}
		data, _ := u.blob(id)
		session = append(session, bytes.NewReader(append(skein.MustJSON(again{id, skein.Text(data)}), '\n')))
	}
	switch {
	case name == u.name && name != "":
		return io.NopCloser(io.MultiReader(session...)), nil
	case name != "":
		return nil, fmt.Errorf("database %s has no source %q", u.path, name)
	}
	rest := []io.Reader{bytes.NewReader(u.db.Frame("meta", "blobs"))}
	for p, err := range u.pieces.All() {
		if err != nil {
			return nil, err
		}
		if !used[p.Key] {
			rest = append(rest, u.db.Lines(p))
		}
	}
	return io.NopCloser(io.MultiReader(rest...)), nil
}

// lines returns the rows of a piece, none if it does not exist.
func (u *store) lines(key string) io.Reader {
	p, _ := u.pieces.Of(key)
	return u.db.Lines(p)
}

// again is the line of a message that repeats an earlier one word for word: the
// database has it once.
type again struct {
	ID   string     `json:"again"`
	Data skein.Text `json:"data"`
}

// Skips implements [interop.Unit].
func (u *store) Skips() (all []interop.Skip) { return skips(u.db, u.path) }

func skips(db *foreign.DB, path string) (all []interop.Skip) {
	for _, what := range db.Damage() {
		all = append(all, interop.Skip{Path: path, Why: what})
	}
	return all
}

// Close implements [interop.Unit]; errors are the system's.
func (u *store) Close() error { return u.db.Close() }
