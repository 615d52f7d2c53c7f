package sqlite

import (
	"context"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
	"github.com/skein-dev/skein/store/sqlite/listing"
	"github.com/skein-dev/skein/store/stream"
)

// Sessions implements [skein.Store].
func (s *reads) Sessions(ctx context.Context, f skein.Filter) iter.Seq2[skein.Session, error] {
	return stream.Sessions(ctx, f, eventlog.PageRows, func(f skein.Filter, size int) (page []skein.Session, last *skein.Session, err error) {
		defer skein.Wrapf(&err, "sqlite: sessions")
		err = s.read(ctx, func(c *engine.Conn) error {
			page, err = listing.Sessions(c, s.user, f, size, s.shownSession)
			return err
		})
		if len(page) == size {
			last = &page[size-1]
		}
		return page, last, err
	})
}

// CountBy implements [skein.SessionCounter].
func (s *Store) CountBy(ctx context.Context, f skein.Filter, by ...skein.Dimension) (_ map[skein.Dimension][]skein.Counted, err error) {
	defer skein.Wrapf(&err, "sqlite: count")
	t, err := skein.NewSessionCounts(by...)
	if err != nil {
		return nil, err
	}
	if f.Title != "" { // SQLite does not know the cases of all letters
		return skein.CountListed(ctx, s, f, by...)
	}
	err = s.read(ctx, func(c *engine.Conn) error { return listing.Count(c, s.user, f, by, t) })
	return t.Sorted(), err
}

// Usage implements [skein.Store].
func (s *Store) Usage(ctx context.Context, q skein.UsageQuery) (rows []skein.UsageRow, err error) {
	defer skein.Wrapf(&err, "sqlite: usage")
	if err := q.Check(); err != nil {
		return nil, err
	}
	err = s.read(ctx, func(c *engine.Conn) error {
		rows, err = listing.Usage(c, s.user, q)
		return err
	})
	return rows, err
}
