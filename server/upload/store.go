package upload

import (
	"bytes"
	"context"
	"encoding/hex"
	"iter"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
)

// store is a store for uploaded files that are in a temporary folder of
// this machine. It knows each by a name of its own instead: upload:, a hash of
// what was sent, and the name that its sender gave it, so that the same file is
// recognized again; or another fixed name in place of upload: and the hash.
type store struct {
	skein.Store
	skein.Sources
	dir  string // the temporary folder
	from string // what replaces it in the store
}

// Unwrap returns the store itself, which sees the real paths.
func (u *store) Unwrap() skein.Store { return u.Store }

// Store returns s for the import of the files in dir, which the store is to know as files
// in a folder of that name: [Name] returns one for what was sent.
func Store(s skein.Store, dir, name string) skein.Store {
	return &store{s, skein.SourcesOf(s), dir, name}
}

// Name returns the name of the folder of what was sent with that hash.
func Name(hash []byte) string { return "upload:" + hex.EncodeToString(hash[:4]) }

// out returns the store's name for a path in the folder.
func (u *store) out(path string) string {
	if rest, ok := strings.CutPrefix(path, u.dir); ok {
		return u.from + filepath.ToSlash(rest)
	}
	return path
}

// in returns the path for the store's name.
func (u *store) in(path string) string {
	if rest, ok := strings.CutPrefix(path, u.from+"/"); ok {
		return filepath.Join(u.dir, filepath.FromSlash(rest))
	}
	return path
}

// Append implements [skein.Store].
func (u *store) Append(ctx context.Context, batches ...skein.Batch) ([]skein.Receipt, error) {
	out := make([]skein.Batch, len(batches))
	for i, b := range batches {
		if b.Import != nil {
			imp := *b.Import
			imp.File.Path = u.out(imp.File.Path)
			b.Import = &imp
		}
		b.Events = u.events(b.Events)
		out[i] = b
	}
	return u.Store.Append(ctx, out...)
}

// events returns evs with the store's names in place of paths in the events
// that begin a session.
func (u *store) events(evs []skein.Event) []skein.Event {
	was, is := inQuotes(u.dir), inQuotes(u.from)
	out := evs
	for i, e := range evs {
		if e.Kind != skein.KindCreated || !bytes.Contains(e.Payload, was) {
			continue
		}
		if &out[0] == &evs[0] {
			out = append([]skein.Event(nil), evs...)
		}
		out[i].Payload = bytes.ReplaceAll(e.Payload, was, is)
	}
	return out
}

// inQuotes returns s as it is written inside a JSON string.
func inQuotes(s string) []byte {
	q := skein.AppendQuoted(nil, s)
	return q[1 : len(q)-1]
}

// File implements [skein.Sources].
func (u *store) File(ctx context.Context, format, path string) (skein.SourceFile, error) {
	f, err := u.Sources.File(ctx, format, u.out(path))
	f.Path = u.in(f.Path)
	return f, err
}

// Files implements [skein.Sources].
func (u *store) Files(ctx context.Context, format string) iter.Seq2[skein.SourceFile, error] {
	return func(yield func(skein.SourceFile, error) bool) {
		for f, err := range u.Sources.Files(ctx, format) {
			f.Path = u.in(f.Path)
			if !yield(f, err) {
				return
			}
		}
	}
}

// Records implements [skein.Sources].
func (u *store) Records(ctx context.Context, format, path string, n int) iter.Seq2[skein.Record, error] {
	return u.Sources.Records(ctx, format, u.out(path), n)
}
