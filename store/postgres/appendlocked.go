package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/eventlog"
	"github.com/skein-dev/skein/store/postgres/sqlstate"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// maxUnique is how often an append is retried after a unique violation: the row that
// another transaction has just made can then be looked up.
const maxUnique = 5

// settle writes the jobs in one transaction that reads first, and gives each its
// answer. The error is the transaction's: if it is not nil, nothing of the jobs
// without an error of their own is stored, or it is unknown whether it is.
func (s appends) settle(ctx context.Context, jobs []*job) (err error) {
	unique := 0
	for try := 1; try <= wire.MaxTries; try++ {
		var w *work
		err = s.tryWrite(ctx, func(t *tx) error {
			for _, j := range jobs {
				j.rs, j.err = nil, nil
			}
			w = newWork(s.view)
			w.tx, w.looked, w.alone = t, true, len(jobs) == 1
			return w.run(jobs)
		})
		if err == nil {
			w.keepHeads()
			return nil
		}
		for _, id := range sessionsOf(jobs) {
			s.heads.drop(id)
		}
		if sqlstate.Of(err) == sqlstate.Unique {
			unique++
		}
		if ctx.Err() != nil || !wire.Again(err) && (sqlstate.Of(err) != sqlstate.Unique || unique > maxUnique) {
			break
		}
		s.retries.Add(1)
	}
	return wire.Classify(err)
}

// run computes what the jobs change and writes it.
func (w *work) run(jobs []*job) error {
	if err := w.look(jobs); err != nil {
		return err
	}
	for _, j := range jobs {
		var failed error
		j.rs, failed = w.job(j)
		if failed == nil {
			continue
		}
		if !w.tx.Usable() || wire.Again(failed) || len(jobs) == 1 || errors.Is(failed, errAlone) {
			return failed // the transaction itself failed, or there is nothing else to write
		}
		j.err = failed
	}
	if err := w.recountLive(); err != nil {
		return err
	}
	return w.finish()
}

// sessionsOf returns the sessions of jobs, each once, in order of appearance.
func sessionsOf(jobs []*job) (ids []skein.SessionID) {
	for _, j := range jobs {
		for i := range j.batches {
			if id := j.batches[i].Session; id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// locks returns the keys of the advisory locks that the jobs need, sorted, so that
// no two groups wait for each other: those of the sessions, the parents of forks,
// the requests that may be charged, and the source files.
func (w *work) locks(jobs []*job) []int64 {
	keys := map[int64]bool{}
	for _, j := range jobs {
		for i := range j.batches {
			p := &j.batches[i]
			if p.Session != "" {
				keys[sessionLock(p.Session)] = true
			}
			if u, bound := w.boundSessions(p); bound {
				keys[lockKey("sessions", string(u))] = true
			}
			if p.Import != nil {
				keys[lockKey("file", p.Import.File.Format, p.Import.File.Path)] = true
			}
			for k := range p.events {
				f := &p.events[k].Facts
				if c := f.Created; c != nil && c.Parent.IsFork() {
					keys[sessionLock(c.Parent.Session)] = true
				}
				if f.Charge != nil && f.Charge.Request != "" {
					keys[requestLock(f.Charge.Request)] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// boundSessions returns the owner of the session that p begins; bound reports whether
// the number of the owner's sessions may be limited.
func (w *work) boundSessions(p *packed) (u skein.User, bound bool) {
	if len(p.events) == 0 || p.events[0].Facts.Created == nil {
		return "", false
	}
	u = p.events[0].Facts.Created.User
	x, known := w.s.quotas.find(u)
	return u, !known || x.sessions > 0
}

// sessionLock returns the key of the advisory lock that every change of a session
// takes before it reads the session, except the usual append. Correctness does not
// depend on it; it saves retries.
func sessionLock(id skein.SessionID) int64 { return lockKey("session", string(id)) }

// requestLock returns the key of the lock for charging a request, which makes sure
// that it is counted once.
func requestLock(id string) int64 { return lockKey("request", columns.Indexed(id)) }

// requestLocks returns the lock keys of requests, sorted.
func requestLocks(ids []string) []int64 {
	keys := make([]int64, len(ids))
	for i, id := range ids {
		keys[i] = requestLock(id)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

const takeLocks = `SELECT pg_advisory_xact_lock(k) FROM unnest($1::bigint[]) k`

// lock takes the advisory locks of sessions that the transaction will change.
func (t *tx) lock(ids ...skein.SessionID) error {
	keys := make([]int64, len(ids))
	for i, id := range ids {
		keys[i] = sessionLock(id)
	}
	slices.Sort(keys)
	_, err := t.Exec(takeLocks, slices.Compact(keys))
	return err
}

// look reads what the jobs need. All heads are read before anything is written.
func (w *work) look(jobs []*job) error {
	ids := sessionsOf(jobs)
	w.order = ids
	p := w.tx.pipe()
	p.Exec(lockJournal)
	p.Exec(takeLocks, w.locks(jobs))
	w.readHeads(p, ids)
	w.readTombs(p, jobs)
	if err := p.Run(); err != nil {
		return err
	}
	for _, d := range w.drafts {
		if err := w.tx.retell(&d.head); err != nil {
			return err
		}
		d.was = d.head
	}
	fresh := 0
	for _, id := range ids {
		if w.drafts[id] == nil {
			w.drafts[id] = newDraft(head{Head: ledger.Head{Session: skein.Session{ID: id}}})
			w.drafts[id].begins = true
		}
		d := w.drafts[id]
		if d.n == 0 {
			fresh++
		}
		for b := range batchesOf(jobs, id) {
			d.asks.add(b)
		}
	}
	for _, d := range w.drafts {
		if d.Base != 0 && d.n != 0 {
			segs, err := w.tx.segments(&d.head, d.Last)
			if err != nil {
				return err
			}
			segs[0].To = math.MaxInt64
			d.segs = segs
		}
	}
	return w.lookMore(ids, fresh)
}

// headsOf selects sessions and their leases; andTheirs adds what a view may know of
// the sessions of other users.
const (
	headsOf = `SELECT h.id, h.user_id, h.n, h.last, h.revision, h.epoch, h.held AND h.expires > clock_timestamp(), coalesce(l.holder, ''), s.state, coalesce(s.binned, 0), coalesce(s.bytes, 0)
		FROM heads h LEFT JOIN leases l ON l.id = h.id LEFT JOIN sessions s ON s.user_id = h.user_id AND s.n = h.n
		WHERE h.id = ANY($1::text[])`
	andTheirs = ` UNION ALL SELECT x.id, '', coalesce(x.n, 0), x.last, coalesce(x.revision, 0), coalesce(x.epoch, 0), coalesce(x.held, false), coalesce(x.holder, ''), NULL, 0, 0 FROM theirs($1) x`
)

// readHeads adds the query for sessions to the pipe.
func (w *work) readHeads(p *pipe, ids []skein.SessionID) {
	sql := headsOf
	if w.s.user != "" {
		sql += andTheirs
	}
	p.Query(sql, []any{ids}, func(r wire.Row) error {
		d := newDraft(head{})
		var id, holder string
		var last skein.Seq
		var binned skein.Time
		var state []byte
		if err := r.Scan(&id, &d.User, &d.n, &last, &d.revision, &d.lease.epoch, &d.lease.held, &holder, &state, &binned, &d.bytes); err != nil {
			return err
		}
		user, h := d.User, head{n: d.n, revision: d.revision, bytes: d.bytes}
		if holder != "" {
			if err := json.Unmarshal([]byte(holder), &d.lease.holder); err != nil {
				return fmt.Errorf("lease of %s: holder %q: %w", id, holder, skein.ErrCorrupt)
			}
		}
		d.begins = last == 0
		switch {
		case state != nil:
			if err := h.setState(state); err != nil {
				return err
			}
			h.Binned = binned
			if h.Last != last {
				return fmt.Errorf("session %s: its events end at %d, its state says %d: %w", id, last, h.Last, skein.ErrCorrupt)
			}
		case last != 0: // another user's; the view does not learn whose
			h.User, h.Last = user, last
		}
		h.ID = skein.SessionID(id)
		d.head, d.was = h, h
		w.drafts[h.ID] = d
		return nil
	})
}

// lookMore reads what depends on the heads.
func (w *work) lookMore(ids []skein.SessionID, fresh int) error {
	p, needed := w.tx.pipe(), fresh > 0
	for _, id := range ids {
		needed = w.drafts[id].lookMore(p, w) || needed
	}
	if fresh > 0 {
		numbers := make([]int64, 0, fresh)
		p.Query(`SELECT nextval('numbers') FROM generate_series(1, $1)`, []any{fresh}, func(r wire.Row) error {
			var n int64
			err := r.Scan(&n)
			numbers = append(numbers, n)
			if len(numbers) == fresh {
				w.number(ids, numbers)
			}
			return err
		})
	}
	if !needed {
		return nil
	}
	if err := p.Run(); err != nil {
		return err
	}
	return w.lookAtPieces()
}

// lookAtPieces finds out which of the messages that have pieces are live.
func (w *work) lookAtPieces() error {
	for _, d := range w.drafts {
		if !d.marked || len(d.messages) == 0 {
			continue
		}
		segs := d.shows()
		taken, err := w.tx.gaps(&d.head)
		if err != nil {
			return err
		}
		for id := range d.messages {
			if d.messages[id], err = walk.Joins(eventlog.New(w.tx.Conn, d.User), segs, taken, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// number assigns numbers to the sessions that begin.
func (w *work) number(ids []skein.SessionID, numbers []int64) {
	for _, id := range ids {
		if d := w.drafts[id]; d.n == 0 {
			d.n, numbers = numbers[0], numbers[1:]
			d.was.n = d.n
		}
	}
}

// batchesOf yields the batches of jobs for a session.
func batchesOf(jobs []*job, id skein.SessionID) func(yield func(*packed) bool) {
	return func(yield func(*packed) bool) {
		for _, j := range jobs {
			for i := range j.batches {
				if j.batches[i].Session == id && !yield(&j.batches[i]) {
					return
				}
			}
		}
	}
}

// flush writes the drafts, in the transaction.
func (w *work) flush() error {
	p, err := w.writes()
	if err == nil {
		err = p.Run()
	}
	if err != nil {
		return err
	}
	for _, d := range w.drafts {
		if d.changed() {
			d.was, d.begins, d.base = d.head, false, 0
			d.events, d.charges, d.refs = eventRows{}, chargeRows{}, refRows{}
			d.flushed, d.grew, d.stood = d.flushed+d.grew, 0, false
		}
	}
	return nil
}

// finish writes the drafts and commits, in one round trip.
func (w *work) finish() error {
	p, err := w.writes()
	if err != nil {
		return err
	}
	return p.Commit()
}

// writes returns the statements that write the drafts.
func (w *work) writes() (*pipe, error) {
	if err := w.files.write(w.tx); err != nil {
		return nil, err
	}
	p := w.tx.pipe()
	for _, at := range w.shownBy {
		p.Exec(`SELECT must_be(count(*) = 1) FROM (SELECT 1 FROM heads WHERE n = $1 AND revision = $2 AND last > 0 FOR KEY SHARE) h`, at.n, at.revision)
	}
	w.shownBy = nil
	w.writeLifts(p)
	if err := w.blobs.write(p); err != nil {
		return nil, err
	}
	for _, id := range w.order {
		d := w.drafts[id]
		if !d.changed() {
			continue
		}
		switch {
		case !d.begins:
		case d.lease.epoch != 0: // somebody took a lease for it
			p.Exec(adopt, string(d.ID), string(d.User), int64(d.lease.epoch))
		default:
			p.Exec(`INSERT INTO heads (id, user_id, n) VALUES ($1, $2, $3)`, string(d.ID), string(d.User), d.n)
		}
		w.added, w.touched = w.added+len(d.events.at), append(w.touched, id)
		sql, args := w.put(d, w.ordinal)
		w.ordinal++
		p.Exec(sql, args...)
		if d.moves() {
			p.moveUsage(&d.head)
		}
		if d.base != 0 {
			p.Exec(`INSERT INTO bases (user_id, n, base, upto) VALUES ($1, $2, $3, $4)`, string(d.User), d.n, d.base, int64(d.Base))
			p.putRewound(&d.head, d.gaps)
		}
		if len(d.refs.seq) > 0 {
			p.Exec(`INSERT INTO blob_refs (user_id, hash, n, seq) SELECT $1, x.hash, $2, x.seq FROM unnest($3::bytea[], $4::bigint[]) x (hash, seq) ON CONFLICT DO NOTHING`,
				string(d.User), d.n, d.refs.hash, d.refs.seq)
		}
	}
	return p, nil
}

// keepHeads remembers the heads and quotas that were committed.
func (w *work) keepHeads() {
	for _, d := range w.drafts {
		if d.Last > 0 && w.s.sees(d.User) { // of another user's session, only the end was read
			w.s.heads.keep(d.head)
		}
	}
	for u, x := range w.quotas {
		w.s.quotas.keep(u, x)
	}
	w.s.stored(w.added, w.touched...)
}
