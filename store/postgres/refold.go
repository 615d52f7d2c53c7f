package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/eventlog"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// errBehind says that a session has more events than were folded.
var errBehind = errors.New("session has more events")

// refoldAll recomputes the texts in the rows of the sessions that show changed events,
// and raises their revisions. Forks come first, older ones before newer ones. Forks
// made meanwhile, from a row that still had the secrets, follow, until no new ones are
// found.
func (sc *scrub) refoldAll(ctx context.Context) error {
	done := map[int64]bool{}
	for {
		for _, n := range slices.Sorted(maps.Keys(sc.forks)) {
			if done[n] {
				continue
			}
			done[n] = true
			err := sc.refold(ctx, sc.forks[n])
			if err != nil && !errors.Is(err, skein.ErrNotFound) { // deleted meanwhile
				return err
			}
		}
		if !done[sc.head.n] {
			done[sc.head.n] = true
			if err := sc.refold(ctx, sc.head.ID); err != nil {
				return err
			}
		}
		before := len(sc.forks)
		if err := sc.showing(ctx); err != nil || len(sc.forks) == before {
			return err
		}
	}
}

// A refolding is a session folded again from its own events, up to a seq.
type refolding struct {
	sum  skein.Session
	base skein.Shown
	upto skein.Seq
	hurt bool // an event is damaged: do not use sum
}

// refold folds the events of session id again, and writes its row.
func (sc *scrub) refold(ctx context.Context, id skein.SessionID) error {
	h, err := sc.s.headOf(ctx, id)
	if err != nil {
		return err
	}
	x := refolding{sum: skein.Session{ID: id}, upto: h.Base, base: sc.Base(&h.Session)}
	for before := skein.Seq(-1); ; before = x.upto {
		for more := true; more; {
			if more, err = sc.foldPage(ctx, &h, &x); err != nil {
				return err
			}
		}
		x.hurt = x.hurt || x.upto == before // no progress: the row of the last event is missing
		err := sc.putFold(ctx, id, &x)
		if !errors.Is(err, errBehind) {
			return err
		}
	}
}

// foldPage folds the next of h's own events; more is false at the end.
func (sc *scrub) foldPage(ctx context.Context, h *head, x *refolding) (more bool, err error) {
	size := 0
	err = sc.s.ask(ctx, `SELECT `+columns.Event+` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq > $3 ORDER BY e.seq LIMIT $4`,
		[]any{sc.user(), h.n, int64(x.upto), wire.PageRows}, func(r wire.Row) error {
			e, said, err := columns.ScanEvent(r)
			if bad := (*skein.DamagedError)(nil); errors.As(err, &bad) {
				x.hurt, err = true, nil
			}
			if err != nil {
				return err
			}
			x.hurt = x.hurt || e.Seq != x.upto+1
			if x.upto, more = e.Seq, true; x.hurt {
				return nil
			}
			f, err := skein.FactsOf(e)
			if err == nil {
				_, err = x.sum.Apply(&e, f, skein.Prior{Message: said.Piece, Base: x.base})
			}
			if size += len(e.Payload); err == nil && size > wire.PageBytes {
				err = wire.ErrStop
			}
			return err
		})
	return more, err
}

// putFold writes the texts of x into the row of session id; the counts stay.
//
// The error wraps errBehind if x does not have all events.
func (sc *scrub) putFold(ctx context.Context, id skein.SessionID, x *refolding) error {
	return sc.step(ctx, func(t *tx) error {
		was, err := t.head(id)
		if err != nil {
			return err
		}
		if err := t.touch(&was); err != nil {
			return err
		}
		h, err := t.head(id) // from now on, nobody else can change it
		if err != nil {
			return err
		}
		if h.Last != x.upto && !x.hurt {
			return fmt.Errorf("session %s: %w: it ends at %d, not %d", id, errBehind, h.Last, x.upto)
		}
		segs, err := t.segments(&h, h.Last)
		if err != nil {
			return err
		}
		live, err := walk.Live(eventlog.New(t.Conn, h.User), segs, h.Last)
		if err != nil {
			return err
		}
		sum := x.sum
		if x.hurt {
			sum = sc.Session(h.Session)
		}
		live.Retell(&h.Session, sum, sc.Texts)
		h.Prompts = live.Prompts
		h.Revision++
		return t.putRow(&h)
	})
}

// putRow writes the row of h in sessions, which nobody else can change.
func (t *tx) putRow(h *head) error {
	p := t.pipe()
	p.Exec(`UPDATE sessions s SET state = $3, key = $4, surface = $5, project = $6, agent = $7, profile = $8, model = $9, parent = $10, why = $11,
		origin = $12, tags = $13, pinned = $14, empty = $15, open = $16, recent = $17, updated = $18, repository = $19, branch = $20, doing = $21, bytes = s.bytes + $22 WHERE s.user_id = $1 AND s.n = $2`,
		append([]any{string(h.User), h.n}, (&sessionDraft{head: *h}).columns()...)...)
	p.Exec(`INSERT INTO names (user_id, n, name) VALUES ($1, $2, $3) ON CONFLICT (user_id, n) DO UPDATE SET name = excluded.name`, string(h.User), h.n, h.name())
	p.moveUsage(h)
	return p.Run()
}
