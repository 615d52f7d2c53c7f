package llmlogs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// Sources implements [interop.Unit]; errors are those of copying rows to a
// temporary file.
func (u *unit) Sources(ctx context.Context) (all []interop.Source, err error) {
	clear(u.of)
	clear(u.refers)
	u.order = nil
	if u.pieces, err = u.db.Split(ctx, u.parts...); err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, id := range u.order {
		s := interop.Source{Name: id}
		sum := sha256.New()
		for _, key := range u.keys(id) {
			used[key] = true
			p, _ := u.pieces.Of(key)
			s.Size += p.Size
			sum.Write([]byte(p.Stamp))
		}
		s.Stamp = hex.EncodeToString(sum.Sum(nil)[:16])
		all = append(all, s)
	}
	u.loose = nil
	for p, err := range u.pieces.All() {
		if err != nil {
			return nil, err
		}
		if !used[p.Key] {
			u.loose = append(u.loose, p)
		}
	}
	return append(all, interop.Source{}), nil
}

// keys returns the pieces of a conversation in order.
func (u *unit) keys(id string) (keys []string) {
	seen := map[string]bool{}
	var add func(key string, deeper int)
	add = func(key string, deeper int) {
		if seen[key] {
			return
		}
		seen[key] = true
		for _, k := range u.refers[key] {
			if deeper > 0 {
				add(k, deeper-1)
			}
		}
		if _, ok := u.pieces.Of(key); ok {
			keys = append(keys, key)
		}
	}
	add("c"+id, 0)
	for _, key := range u.of[id] {
		add(key, 2)
	}
	return keys
}

// Open implements [interop.Unit]; the error says that there is no such source.
func (u *unit) Open(_ context.Context, name string) (io.ReadCloser, error) {
	if name == "" {
		return io.NopCloser(io.MultiReader(append([]io.Reader{bytes.NewReader(u.frame())}, u.readers(u.loose)...)...)), nil
	}
	if _, ok := u.of[name]; !ok {
		return nil, fmt.Errorf("database %s has no source %q", u.path, name)
	}
	var pieces []foreign.Piece
	for _, key := range u.keys(name) {
		p, _ := u.pieces.Of(key)
		pieces = append(pieces, p)
	}
	return io.NopCloser(io.MultiReader(u.readers(pieces)...)), nil
}

func (u *unit) readers(pieces []foreign.Piece) (all []io.Reader) {
	for _, p := range pieces {
		all = append(all, u.db.Lines(p))
	}
	return all
}

// frame returns what the database has besides rows, and the names of its sources.
func (u *unit) frame() []byte {
	var tables []string
	for _, p := range u.parts {
		tables = append(tables, p.Table)
	}
	tables = append(tables, u.db.Virtual(tables...)...)
	return append(append(u.db.Frame(tables...), skein.MustJSON(struct {
		Sources []string `json:"sources"`
	}{u.order})...), '\n')
}

// Skips implements [interop.Unit].
func (u *unit) Skips() (all []interop.Skip) {
	for _, what := range u.db.Damage() {
		all = append(all, interop.Skip{Path: u.path, Why: what})
	}
	return all
}

// Close implements [interop.Unit]; errors are the system's.
func (u *unit) Close() error { return u.db.Close() }
