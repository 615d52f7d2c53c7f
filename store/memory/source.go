package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
)

type fileKey struct {
	user         skein.User
	format, path string
}

// A sourceFile never changes; it is replaced.
type sourceFile struct {
	skein.SourceFile
	records []skein.Record
}

// is reports whether f, under the key k, holds records of the session h.
func (f *sourceFile) is(k fileKey, h *skein.Session) bool {
	return k.user == h.User && (f.Session == h.ID || f.CopyOf == h.ID)
}

// importFile stores the records of b and how far its file was read.
func (t *tx) importFile(b *skein.Batch, user skein.User) error {
	im := b.Import
	k := fileKey{user, im.File.Format, im.File.Path}
	was := t.files[k]
	is := &sourceFile{SourceFile: im.File}
	is.State = slices.Clone(is.State)
	if was != nil {
		is.records = slices.Clone(was.records)
	}
	from, err := ledger.FirstRecord(im, len(is.records))
	if err != nil {
		return err
	}
	if im.Forget {
		is.records = is.records[:from]
	}
	for i, r := range im.Records {
		r.Raw = bytes.Clone(r.Raw)
		if at := from + i; at < len(is.records) {
			is.records[at] = r
		} else {
			is.records = append(is.records, r)
		}
	}
	t.files[k] = is
	t.undo = append(t.undo, func() {
		if t.files[k] = was; was == nil {
			delete(t.files, k)
		}
	})
	return nil
}

// Find implements [skein.Sources].
func (s sources) Find(ctx context.Context, keys []skein.ClientID) (_ map[skein.ClientID]skein.Place, err error) {
	defer skein.Wrapf(&err, "memory: find %d client IDs", len(keys))
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	found := map[skein.ClientID]skein.Place{}
	for _, key := range keys {
		var first *event
		for _, sess := range s.sessions {
			if !s.sees(sess.head.User) {
				continue
			}
			for _, seq := range sess.clients[key] {
				if e := sess.at(seq); e.imported && (first == nil || e.order < first.order) {
					first, found[key] = e, skein.Place{Session: sess.head.ID, Seq: seq}
				}
			}
		}
	}
	return found, nil
}

// file returns a source file that the view has.
func (s sources) file(ctx context.Context, format, path string) (*sourceFile, error) {
	all, err := s.all(ctx, func(f *sourceFile) bool { return f.Format == format && f.Path == path })
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("file %s of format %q %w", path, format, skein.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// all returns the source files of the view that f selects, by path, format and
// user.
func (s sources) all(ctx context.Context, f func(*sourceFile) bool) (files []*sourceFile, err error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var keys []fileKey
	for k, v := range s.files {
		if s.sees(k.user) && f(v) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b fileKey) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.format, b.format), cmp.Compare(a.user, b.user))
	})
	for _, k := range keys {
		files = append(files, s.files[k])
	}
	return files, nil
}

// File implements [skein.Sources].
func (s sources) File(ctx context.Context, format, path string) (_ skein.SourceFile, err error) {
	defer skein.Wrapf(&err, "memory: file")
	f, err := s.file(ctx, format, path)
	if err != nil {
		return skein.SourceFile{}, err
	}
	return f.SourceFile, nil
}

// Files implements [skein.Sources].
func (s sources) Files(ctx context.Context, format string) iter.Seq2[skein.SourceFile, error] {
	return func(yield func(skein.SourceFile, error) bool) {
		all, err := s.all(ctx, func(f *sourceFile) bool { return format == "" || f.Format == format })
		var files []skein.SourceFile
		for _, f := range all {
			files = append(files, f.SourceFile)
		}
		each(files, err, "memory: files", yield)
	}
}

// FilesNamed implements [skein.Sources].
func (s sources) FilesNamed(ctx context.Context, part string) iter.Seq2[skein.SourceFile, error] {
	return func(yield func(skein.SourceFile, error) bool) {
		all, err := s.all(ctx, func(f *sourceFile) bool {
			return f.IsNamed(part)
		})
		var files []skein.SourceFile
		for _, f := range all {
			files = append(files, f.SourceFile)
		}
		each(files, err, "memory: files named", yield)
	}
}

// Records implements [skein.Sources].
func (s sources) Records(ctx context.Context, format, path string, n int) iter.Seq2[skein.Record, error] {
	return func(yield func(skein.Record, error) bool) {
		var records []skein.Record
		f, err := s.file(ctx, format, path)
		if err == nil {
			records = f.records[min(max(n, 0), len(f.records)):]
		}
		each(records, err, "memory: records", yield)
	}
}
