package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/store/postgres/schema"
	"github.com/skein-dev/skein/store/postgres/sqlstate"
	"github.com/skein-dev/skein/store/postgres/wire"
)

const (
	// channel is the channel on which processes notify each other of what they stored:
	// a JSON array of the sender's name and the IDs of sessions; without IDs, it means
	// all sessions.
	channel = "skein"

	lookEvery  = 3 * time.Second // if something is watched
	lookFor    = 5 * time.Second
	lookMost   = 1000 // sessions
	listenSlow = 5 * time.Second
)

// A listener wakes watchers when other processes notify it that they stored
// something. Notifications may be lost: with the connection, with a process that
// dies after its commit, or behind a pooler. So while something is watched, the
// listener also looks for new rows in the journal now and then, on the same
// connection.
type listener struct {
	core    *core
	node    string        // this process's name in notifications
	watched chan struct{} // closed when the first watcher starts
	done    chan struct{} // closed when it has ended
	upto    uint64        // rows of the journal below this xid have been looked at
}

// listen runs until the store is closed. It connects once something is watched.
func (l *listener) listen() {
	defer close(l.done)
	select {
	case <-l.watched:
	case <-l.core.life.Done():
		return
	}
	wait := 50 * time.Millisecond
	for l.core.life.Err() == nil {
		began := time.Now()
		_ = l.connected(l.core.life) // whatever the error, try again
		if time.Since(began) > listenSlow {
			wait = 50 * time.Millisecond
		}
		_ = sleep.For(l.core.life, wait) // the loop checks whether life has ended
		wait = min(2*wait, listenSlow)
	}
}

// connected listens on one connection until that is lost. A standby does not allow
// LISTEN: there it only looks, and it listens once the standby has taken over.
func (l *listener) connected(ctx context.Context) error {
	cfg := l.core.pool.Config().ConnConfig.Copy()
	cfg.RuntimeParams["application_name"] += " (listens)" // in pg_stat_activity
	pg, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = pg.Close(ctx)
	}()
	hears := false
	var looked time.Time
	for {
		if !hears {
			_, err := pg.Exec(ctx, "LISTEN "+channel)
			if err != nil && sqlstate.Of(err) != sqlstate.ReadOnly {
				return err
			}
			if hears = err == nil; hears || looked.IsZero() {
				l.core.wakers.WakeAll() // there were no notifications of what was stored before
				looked = time.Now()
			}
		}
		if err := l.hear(ctx, pg); err != nil {
			return err
		}
		if time.Since(looked) >= lookEvery {
			if err := l.look(ctx, pg); err != nil {
				return err
			}
			looked = time.Now()
		}
	}
}

// hear waits for one notification, for at most lookEvery.
func (l *listener) hear(ctx context.Context, pg *pgx.Conn) error {
	short, cancel := context.WithTimeout(ctx, lookEvery)
	defer cancel()
	n, err := pg.WaitForNotification(short)
	switch {
	case err == nil:
		l.receive(n.Payload)
	case ctx.Err() == nil && short.Err() != nil && !pg.IsClosed():
		err = nil // no notification came
	}
	return err
}

// receive wakes the watchers of the sessions in a notification.
func (l *listener) receive(message string) {
	var words []string
	if err := json.Unmarshal([]byte(message), &words); err != nil || len(words) == 0 {
		return // not one of skein's
	}
	switch {
	case words[0] == l.node:
	case len(words) == 1:
		l.core.wakers.WakeAll()
	default:
		ids := make([]skein.SessionID, 0, len(words)-1)
		for _, w := range words[1:] {
			ids = append(ids, skein.SessionID(w))
		}
		l.core.wakers.Wake(ids)
	}
}

// look wakes the watchers of what was stored since the last look. It also checks that
// the connection still works.
func (l *listener) look(ctx context.Context, pg *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	if l.core.wakers.Idle() {
		l.upto = 0
		return pg.Ping(ctx)
	}
	var xmin uint64
	var ids []skein.SessionID
	b := pgx.Batch{}
	b.Queue(wire.SetRole, schema.RoleAll, "")
	b.Queue(`SELECT journal_edge()`).QueryRow(func(r pgx.Row) error { return r.Scan(&xmin) })
	if l.upto != 0 {
		b.Queue(`SELECT DISTINCT h.id FROM (SELECT n FROM journal WHERE xid >= $1 LIMIT $2) j JOIN heads h ON h.n = j.n`, l.upto, lookMost).Query(func(rows pgx.Rows) (err error) {
			ids, err = pgx.CollectRows(rows, pgx.RowTo[skein.SessionID])
			return err
		})
	}
	if err := pg.SendBatch(ctx, &b).Close(); err != nil {
		return err
	}
	if l.upto == 0 || len(ids) >= lookMost {
		l.core.wakers.WakeAll()
	} else if len(ids) > 0 {
		l.core.wakers.Wake(ids)
	}
	l.upto = xmin
	return nil
}
