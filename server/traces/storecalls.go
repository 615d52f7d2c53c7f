package traces

import (
	"context"
	"iter"
	"time"

	"github.com/skein-dev/skein"
)

// Append implements [skein.Store].
func (s *store) Append(ctx context.Context, batches ...skein.Batch) (_ []skein.Receipt, err error) {
	id, n := skein.SessionID(""), 0
	for i, b := range batches {
		if n += len(b.Events); i == 0 {
			id = b.Session
		}
	}
	ctx, c := s.begin(ctx, "append", id)
	defer func() { c.end(n, err) }()
	return s.Store.Append(ctx, batches...)
}

// Session implements [skein.Store].
func (s *store) Session(ctx context.Context, id skein.SessionID) (_ skein.Session, err error) {
	ctx, c := s.begin(ctx, "session", id)
	defer func() { c.end(-1, err) }()
	return s.Store.Session(ctx, id)
}

// Sessions implements [skein.Store].
func (s *store) Sessions(ctx context.Context, f skein.Filter) iter.Seq2[skein.Session, error] {
	return spun(ctx, s, "sessions", "", func(ctx context.Context) iter.Seq2[skein.Session, error] { return s.Store.Sessions(ctx, f) })
}

// Events implements [skein.Store].
func (s *store) Events(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return spun(ctx, s, "events", id, func(ctx context.Context) iter.Seq2[skein.Event, error] { return s.Store.Events(ctx, id, after) })
}

// Newest implements [skein.Store].
func (s *store) Newest(ctx context.Context, id skein.SessionID, n int, before skein.Seq) (all []skein.Entry, err error) {
	ctx, c := s.begin(ctx, "newest", id)
	defer func() { c.end(len(all), err) }()
	return s.Store.Newest(ctx, id, n, before)
}

// Window implements [skein.Store].
func (s *store) Window(ctx context.Context, id skein.SessionID, n int) (all []skein.Event, err error) {
	ctx, c := s.begin(ctx, "window", id)
	defer func() { c.end(len(all), err) }()
	return s.Store.Window(ctx, id, n)
}

// Search implements [skein.Store].
func (s *store) Search(ctx context.Context, q skein.Query) (r skein.Results, err error) {
	ctx, c := s.begin(ctx, "search", q.Session)
	defer func() { c.end(len(r.Hits), err) }()
	return s.Store.Search(ctx, q)
}

// Usage implements [skein.Store].
func (s *store) Usage(ctx context.Context, q skein.UsageQuery) (rows []skein.UsageRow, err error) {
	ctx, c := s.begin(ctx, "usage", "")
	defer func() { c.end(len(rows), err) }()
	return s.Store.Usage(ctx, q)
}

// Blob implements [skein.Store].
func (s *store) Blob(ctx context.Context, id skein.SessionID, h skein.Hash) (_ []byte, err error) {
	ctx, c := s.begin(ctx, "blob", id)
	defer func() { c.end(-1, err) }()
	return s.Store.Blob(ctx, id, h)
}

// Acquire implements [skein.Leases].
func (s *store) Acquire(ctx context.Context, id skein.SessionID, r skein.LeaseRequest) (_ skein.Lease, err error) {
	ctx, c := s.begin(ctx, "acquire", id)
	defer func() { c.end(-1, err) }()
	return skein.LeasesOf(s.Store).Acquire(ctx, id, r)
}

// Renew implements [skein.Leases].
func (s *store) Renew(ctx context.Context, l skein.Lease, ttl time.Duration) (_ skein.Lease, err error) {
	ctx, c := s.begin(ctx, "renew", l.Session)
	defer func() { c.end(-1, err) }()
	return skein.LeasesOf(s.Store).Renew(ctx, l, ttl)
}

// Release implements [skein.Leases].
func (s *store) Release(ctx context.Context, l skein.Lease) (err error) {
	ctx, c := s.begin(ctx, "release", l.Session)
	defer func() { c.end(-1, err) }()
	return skein.LeasesOf(s.Store).Release(ctx, l)
}

// Bin implements [skein.Lifecycle].
func (s *store) Bin(ctx context.Context, id skein.SessionID) (err error) {
	ctx, c := s.begin(ctx, "bin", id)
	defer func() { c.end(-1, err) }()
	return s.Lifecycle.Bin(ctx, id)
}

// Restore implements [skein.Lifecycle].
func (s *store) Restore(ctx context.Context, id skein.SessionID) (err error) {
	ctx, c := s.begin(ctx, "restore", id)
	defer func() { c.end(-1, err) }()
	return s.Lifecycle.Restore(ctx, id)
}

// Delete implements [skein.Lifecycle].
func (s *store) Delete(ctx context.Context, id skein.SessionID, d skein.Deletion) (out skein.Deleted, err error) {
	ctx, c := s.begin(ctx, "delete", id)
	defer func() { c.end(out.Events, err) }()
	return s.Lifecycle.Delete(ctx, id, d)
}

// Scrub implements [skein.Lifecycle].
func (s *store) Scrub(ctx context.Context, id skein.SessionID, secrets []string) (out skein.Scrubbed, err error) {
	ctx, c := s.begin(ctx, "scrub", id)
	defer func() { c.end(out.Events, err) }()
	return s.Lifecycle.Scrub(ctx, id, secrets)
}

// Find implements [skein.Sources].
func (s *store) Find(ctx context.Context, keys []skein.ClientID) (all map[skein.ClientID]skein.Place, err error) {
	ctx, c := s.begin(ctx, "find", "")
	defer func() { c.end(len(all), err) }()
	return s.Sources.Find(ctx, keys)
}

// File implements [skein.Sources].
func (s *store) File(ctx context.Context, format, path string) (_ skein.SourceFile, err error) {
	ctx, c := s.begin(ctx, "file", "")
	defer func() { c.end(-1, err) }()
	return s.Sources.File(ctx, format, path)
}

// Files implements [skein.Sources].
func (s *store) Files(ctx context.Context, format string) iter.Seq2[skein.SourceFile, error] {
	return spun(ctx, s, "files", "", func(ctx context.Context) iter.Seq2[skein.SourceFile, error] {
		return s.Sources.Files(ctx, format)
	})
}

// Records implements [skein.Sources].
func (s *store) Records(ctx context.Context, format, path string, n int) iter.Seq2[skein.Record, error] {
	return spun(ctx, s, "records", "", func(ctx context.Context) iter.Seq2[skein.Record, error] {
		return s.Sources.Records(ctx, format, path, n)
	})
}
