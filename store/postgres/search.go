package postgres

import (
	"context"
	"iter"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/store/postgres/hits"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// catchUpFor is how long a search waits for the index.
const catchUpFor = 100 * time.Millisecond

// Search implements [skein.Store].
func (s searches) Search(ctx context.Context, q skein.Query) (r skein.Results, err error) {
	defer skein.Wrapf(&err, "postgres: search")
	leave, err := s.enter()
	if err != nil {
		return r, err
	}
	defer leave()
	x, err := hits.New(s.principal(), q, whatShows)
	if err != nil || x == nil {
		return r, err
	}
	if x.Indexed() {
		s.catchUp(ctx, catchUpFor)
	}
	return x.Run(ctx)
}

// Edits implements [edits.Index].
func (s searches) Edits(ctx context.Context, keys []edits.IndexKey) iter.Seq2[skein.Hit, error] {
	return func(yield func(skein.Hit, error) bool) {
		err := s.edited(ctx, keys, func(h skein.Hit) bool { return yield(h, nil) })
		if skein.Wrapf(&err, "postgres: edits"); err != nil {
			yield(skein.Hit{}, err)
		}
	}
}

func (s searches) edited(ctx context.Context, keys []edits.IndexKey, yield func(skein.Hit) bool) error {
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	s.catchUp(ctx, catchUpFor)
	waits := false
	err = s.once(ctx, func(q *conn) error {
		mine, args := mine(q.User, nil)
		_, err := q.One(`SELECT `+hits.Waiting+` FROM journal j WHERE true`+mine+` ORDER BY j.xid DESC, j.ordinal DESC LIMIT 1`, args, &waits)
		return err
	})
	switch {
	case err != nil:
		return err
	case waits:
		return edits.ErrBehind
	}
	return hits.Edits(ctx, s.principal(), keys, yield)
}

// whatShows returns a session and what it shows.
func whatShows(pg *wire.Conn, id skein.SessionID) (x hits.ShownSession, err error) {
	q := &conn{pg}
	h, err := q.head(id)
	if err != nil {
		return x, err
	}
	segs, err := q.segments(&h, h.Last)
	return hits.ShownSession{Session: h.Session, N: h.n, Segments: segs}, err
}

// catchUp indexes until no event of the view waits, but for no longer than most; the
// search scans what is left. Errors do not concern the reader and are ignored.
func (s searches) catchUp(ctx context.Context, most time.Duration) {
	if !s.behind(ctx) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	done := make(chan struct{})
	s.index.catching.Go(func() {
		defer close(done)
		for ctx.Err() == nil {
			st, err := s.index.step(s.life)
			if err != nil || !st.more && !st.busy {
				return
			}
			if st.busy && (!s.rest(ctx, nil, 10*time.Millisecond) || !s.behind(ctx)) {
				return
			}
		}
	})
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// behind reports whether there are events of the view that wait and can be indexed
// now.
func (s searches) behind(ctx context.Context) (is bool) {
	err := s.once(ctx, func(q *conn) error {
		mine, args := mine(q.User, nil)
		_, err := q.One(`SELECT `+hits.Waiting+` FROM journal j WHERE j.xid < `+journalEdge+mine+` ORDER BY j.xid DESC, j.ordinal DESC LIMIT 1`, args, &is)
		return err
	})
	return is && err == nil
}
