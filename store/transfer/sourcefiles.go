package transfer

import (
	"bytes"
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// sourceFiles copies what is known about source files, and their records.
func (c *copyRun) sourceFiles(ctx context.Context) error {
	for _, u := range c.users() {
		from, to := c.from.As(u), c.to.As(c.whose(u))
		for f, err := range skein.SourcesOf(from).Files(ctx, "") {
			if err != nil {
				return err
			}
			err := sourceFile(ctx, from, to, c.givenFile(f))
			if bad := (*skein.DamagedRecordsError)(nil); errors.As(err, &bad) {
				c.hurt("source file " + f.Path)
				err = nil
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// sourceFile copies the file f, from the first record that the second store does
// not have. If a record is damaged, the second store has to read the file itself from
// its beginning: a part of it would be taken for the whole.
func sourceFile(ctx context.Context, from, to skein.Store, f skein.SourceFile) error {
	has, err := skein.SourcesOf(to).File(ctx, f.Format, f.Path)
	if err != nil && !errors.Is(err, skein.ErrNotFound) {
		return err
	}
	if err == nil && same(has, f) {
		return nil
	}
	if has.Records > f.Records {
		has = skein.SourceFile{} // from another reading: all records are sent again
	}
	part, size := skein.Import{File: f}, 0
	part.File.Damaged = has.Damaged
	stored := false
	put := func(state skein.SourceFile) error {
		part.File, stored = state, true
		_, err := to.Append(ctx, skein.Batch{Session: f.Session, Import: &part})
		part.Records, size = nil, 0
		return err
	}
	damaged := has.Damaged
	for r, err := range skein.SourcesOf(from).Records(ctx, f.Format, f.Path, has.Records) {
		if bad := (*skein.DamagedRecordsError)(nil); errors.As(err, &bad) && (stored || has.Records == 0) {
			part.Records, part.Forget = nil, true
			f.Size, f.Mtime, f.Inode, f.Offset, f.Records, f.Damaged, f.State = 0, 0, 0, 0, 0, 0, nil
			return errors.Join(err, put(f))
		}
		if err != nil {
			return err
		}
		if r.N >= f.Records {
			break // read since
		}
		if r.Damage != "" {
			damaged++
		}
		part.Records = append(part.Records, r)
		if size += len(r.Raw); size >= maxBytes || len(part.Records) >= maxEvents {
			now := f
			now.Offset, now.Records, now.Damaged = r.Offset+int64(len(r.Raw)), r.N+1, damaged
			if err := put(now); err != nil {
				return err
			}
		}
	}
	return put(f)
}

func same(a, b skein.SourceFile) bool {
	sa, sb := a.State, b.State
	a.State, b.State = nil, nil
	return bytes.Equal(sa, sb) && bytes.Equal(skein.MustJSON(a), skein.MustJSON(b))
}
