package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/store/postgres/sqlstate"
	"github.com/skein-dev/skein/store/postgres/wire"
)

const (
	journalRows = 2000 // rows of the journal that one page reads at most

	// nowFor is how long a feed from [skein.FeedNow] waits for transactions that began
	// before what is already stored. If they take longer, the cursor also has a
	// snapshot of what was stored.
	nowFor = 500 * time.Millisecond
)

// Feed implements [skein.Feed]. A cursor is a position in the journal, and says
// which journal: the cluster, the database, and the timeline. Appends are yielded in
// the order of their transaction IDs, each once no transaction with a smaller ID can
// commit.
func (s feeds) Feed(ctx context.Context, after skein.Cursor) iter.Seq2[skein.Fed, error] {
	return func(yield func(skein.Fed, error) bool) {
		if err := s.feed(ctx, after, yield); err != nil && (ctx.Err() == nil || errors.Is(err, skein.ErrInvalid)) {
			skein.Wrapf(&err, "postgres: feed")
			yield(skein.Fed{}, err)
		}
	}
}

func (s feeds) feed(ctx context.Context, after skein.Cursor, yield func(skein.Fed, error) bool) error {
	stop, err := s.startWatching()
	if err != nil {
		return err
	}
	defer stop()
	at, err := bookmarkOf(after, s.cluster)
	if err != nil {
		return err
	}
	if after == skein.FeedNow {
		if at, err = s.feedEnd(ctx); err != nil {
			return err
		}
		if !yield(skein.Fed{Cursor: at.cursor(s.cluster)}, nil) {
			return nil
		}
	}
	look := lookAgain{}
	share := room.Of(ctx)
	for {
		changed := s.wakers.Wait("") // before reading, so that no change is missed
		var page []journaled
		var next position
		var more, waiting bool
		was := share.Used()
		if err := s.patiently(ctx, func() (err error) {
			page, next, more, waiting, err = s.feedPage(ctx, &at)
			return err
		}); err != nil {
			if sqlstate.Of(err) == sqlstate.BadText {
				err = fmt.Errorf("cursor %.80q: %w", after, skein.ErrInvalid)
			}
			return err
		}
		took := share.Used() - was
		for _, e := range page {
			if e.id == "" {
				continue
			}
			f := skein.Fed{Cursor: at.at(e.position).cursor(s.cluster), Session: e.id, User: skein.User(e.user), Event: e.Event, Damaged: e.damaged}
			if !yield(f, nil) {
				return nil
			}
		}
		share.Give(took)
		if at = at.at(next); more {
			look = lookAgain{}
			continue
		}
		if !s.rest(ctx, changed, look.after(waiting)) {
			return nil
		}
	}
}

// feedPage returns the next events after a bookmark, and the position after them. If
// another server has taken over since, it first moves the bookmark to where that
// server continues. more says that there may be more events now; waiting says that
// there will be soon.
func (s feeds) feedPage(ctx context.Context, at *bookmark) (page []journaled, next position, more, waiting bool, err error) {
	err = s.follow(ctx, func(q *conn) error {
		var rows []journalRow
		page = nil
		var line int32
		if rows, next, waiting, line, err = q.journal(*at, journalRows); err == nil && line != 0 && line != at.line {
			if err = q.turn(at, line); err == nil {
				rows, next, waiting, _, err = q.journal(*at, journalRows)
			}
		}
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := room.Turn(q.Ctx); err != nil {
			return err
		}
		more = true
		var all bool
		page, all, err = q.eventsOf(rows, wire.PageRows, wire.PageBytes)
		switch {
		case err != nil || all:
		case len(page) > 0:
			next = page[len(page)-1].position
		default:
			next = through(rows, wire.PageRows) // they were deleted
		}
		return err
	})
	return page, next, more, waiting, err
}

// feedEnd returns the bookmark at the end of what is stored.
func (s feeds) feedEnd(ctx context.Context) (end bookmark, err error) {
	end.ordinal = -1
	look := lookAgain{}
	for began := time.Now(); ; {
		waiting, now := false, ""
		err := s.patiently(ctx, func() error {
			return s.follow(ctx, func(q *conn) error {
				p := q.pipe()
				p.edge(&end.xid, &waiting, &now)
				p.line(&end.line)
				return p.Run()
			})
		})
		if err != nil || !waiting {
			return end, err
		}
		if time.Since(began) > nowFor {
			end.seen = now
			return end, nil
		}
		if !s.rest(ctx, nil, look.after(true)) {
			return end, ctx.Err()
		}
	}
}

// A lookAgain says when to look again for events that are committed but cannot be
// read yet, because a transaction that began earlier is still running.
type lookAgain struct{ wait time.Duration }

// after returns how long to wait; 0, for no limit, if nothing is waiting.
func (l *lookAgain) after(waiting bool) time.Duration {
	if !waiting {
		*l = lookAgain{}
		return 0
	}
	l.wait = min(max(2*l.wait, time.Millisecond), 100*time.Millisecond)
	return l.wait
}

// rest waits for a change, but no longer than most if that is not 0. It returns
// false if ctx has ended.
func (c *core) rest(ctx context.Context, changed <-chan struct{}, most time.Duration) bool {
	var up <-chan time.Time
	if most > 0 {
		t := time.NewTimer(most)
		defer t.Stop()
		up = t.C
	}
	select {
	case <-changed:
	case <-up:
	case <-c.ending:
	case <-ctx.Done():
		return false
	}
	return true
}
