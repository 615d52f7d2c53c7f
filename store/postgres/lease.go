package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/skein-dev/skein"
)

// A lease without a TTL expires ownLease after the store's last heartbeat, which
// comes every renewEvery.
const (
	ownLease   = 10 * time.Second
	renewEvery = 3 * time.Second
)

// Acquire implements [skein.Leases]. A lease without a TTL is held for as long as
// this process keeps up its heartbeat.
func (s leases) Acquire(ctx context.Context, id skein.SessionID, r skein.LeaseRequest) (l skein.Lease, err error) {
	defer skein.Wrapf(&err, "postgres: acquire %s", id)
	if err := id.Check(); err != nil {
		return l, err
	}
	if r.TTL < 0 {
		return l, fmt.Errorf("%w TTL %s", skein.ErrInvalid, r.TTL)
	}
	leave, err := s.enter()
	if err != nil {
		return l, err
	}
	defer leave() // Close releases the keeper's leases
	s.view = s.inside()
	err = s.write(ctx, func(t *tx) error {
		l, err = t.acquire(id, r)
		return err
	})
	if err == nil && r.TTL == 0 {
		s.keeper.add(l)
	}
	return l, err
}

// acquire is Acquire in a transaction. The row in heads is read under an advisory
// lock, which takes no transaction ID, and changed if it is still the same.
func (t *tx) acquire(id skein.SessionID, r skein.LeaseRequest) (l skein.Lease, err error) {
	p := t.pipe()
	p.Exec(takeLocks, []int64{sessionLock(id)})
	var there, others bool
	var holder string
	var last, epoch, fence int64
	var held bool
	look := `SELECT h.last, h.epoch, h.held AND h.expires > clock_timestamp(), coalesce(l.holder, '{}'), false FROM heads h LEFT JOIN leases l ON l.id = h.id WHERE h.id = $1`
	if t.s.user != "" {
		look += ` UNION ALL SELECT x.last, coalesce(x.epoch, 0), coalesce(x.held, false), coalesce(x.holder, '{}'), true FROM theirs(ARRAY[$1::text]) x`
	}
	p.One(&there, look, []any{string(id)}, &last, &epoch, &held, &holder, &others)
	p.One(nil, `SELECT nextval('fences')`, nil, &fence)
	if err := p.Run(); err != nil {
		return l, err
	}
	if last > 0 && others {
		return l, fmt.Errorf("session %s %w", id, skein.ErrNotFound)
	}
	if held && !r.TakeOver {
		who, err := holderFrom(holder)
		if err != nil {
			return l, err
		}
		return l, &skein.LockedError{Session: id, Holder: who}
	}
	l = skein.Lease{Session: id, Fence: skein.Fence(max(fence, epoch+1)), Holder: holderOf(r)}
	ttl := cmp.Or(r.TTL, ownLease)
	p = t.pipe()
	switch {
	case !there:
		p.Exec(`INSERT INTO heads (id, user_id) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING`, string(id), string(t.s.owner()))
	case others:
		p.Exec(adopt, string(id), string(t.s.user), epoch)
	}
	var expires, since skein.Time
	p.One(nil, `WITH moved AS (
			UPDATE heads SET epoch = $2, held = true, expires = clock_timestamp() + $3 * interval '1 millisecond' WHERE id = $1 AND epoch = $4 RETURNING expires)
		SELECT (extract(epoch FROM expires) * 1000)::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, must_be(true) FROM moved
		UNION ALL SELECT 0, 0, must_be(false) WHERE NOT EXISTS (SELECT FROM moved)`,
		[]any{string(id), int64(l.Fence), ttl.Milliseconds(), epoch}, &expires, &since, nil)
	if err := p.Run(); err != nil {
		return l, err
	}
	if l.Holder.Since = since; r.TTL > 0 {
		l.Expires = expires
	}
	_, err = t.Exec(`INSERT INTO leases (id, user_id, epoch, ttl, holder) SELECT h.id, h.user_id, $2, $3, $4 FROM heads h WHERE h.id = $1
		ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, ttl = excluded.ttl, holder = excluded.holder`,
		string(id), int64(l.Fence), r.TTL.Milliseconds(), string(skein.MustJSON(l.Holder)))
	return l, err
}

// adopt makes a user the owner of a session that has not begun and of its newest
// lease. Such a session has no owner yet: any user that has the lease may renew it,
// release it, and begin the session.
const adopt = `SELECT adopt($1, $2, $3)`

// adopt adds that statement to the pipe of a view whose user has the lease l.
func (p *pipe) adopt(l skein.Lease) {
	if u := p.Conn.User; u != "" {
		p.Exec(adopt, string(l.Session), string(u), int64(l.Fence))
	}
}

// holderOf returns the holder for a lease request.
func holderOf(r skein.LeaseRequest) skein.Holder {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	h := skein.Holder{Program: r.Program, PID: os.Getpid(), Host: host}
	if r.TTL > 0 {
		h.PID, h.Host = r.Elsewhere.PID, cmp.Or(r.Elsewhere.Host, host)
	}
	return h
}

// Renew implements [skein.Leases].
func (s leases) Renew(ctx context.Context, l skein.Lease, ttl time.Duration) (_ skein.Lease, err error) {
	defer skein.Wrapf(&err, "postgres: renew the lease of %s", l.Session)
	if ttl <= 0 {
		return skein.Lease{}, fmt.Errorf("%w TTL %s", skein.ErrInvalid, ttl)
	}
	got := skein.Lease{Session: l.Session, Fence: l.Fence}
	if l.Session.Check() != nil { // the database might refuse the text
		return skein.Lease{}, &skein.FencedError{Session: l.Session, Fence: l.Fence}
	}
	err = s.write(ctx, func(t *tx) error {
		var holder string
		var expires int64
		var own, found bool
		p := t.pipe()
		p.adopt(l)
		p.One(&found, `UPDATE heads h SET expires = CASE WHEN l.ttl = 0 THEN h.expires ELSE clock_timestamp() + $3 * interval '1 millisecond' END
			FROM leases l WHERE h.id = $1 AND l.id = h.id AND h.epoch = $2 AND l.epoch = $2 AND h.held AND h.expires > clock_timestamp()
			AND ($4 = '' OR h.user_id = $4)
			RETURNING l.holder, (extract(epoch FROM h.expires) * 1000)::bigint, l.ttl = 0`,
			[]any{string(l.Session), int64(l.Fence), ttl.Milliseconds(), string(s.user)}, &holder, &expires, &own)
		err := p.Run()
		if err == nil && !found {
			err = &skein.FencedError{Session: l.Session, Fence: l.Fence}
		}
		if err != nil {
			return err
		}
		if !own {
			got.Expires = skein.Time(expires)
		}
		got.Holder, err = holderFrom(holder)
		return err
	})
	if err != nil {
		return skein.Lease{}, err
	}
	return got, nil
}

// Release implements [skein.Leases].
func (s leases) Release(ctx context.Context, l skein.Lease) (err error) {
	defer skein.Wrapf(&err, "postgres: release the lease of %s", l.Session)
	if l.Session.Check() != nil { // nobody has such a lease, and the database might refuse the text
		return nil
	}
	err = s.write(ctx, func(t *tx) error {
		p := t.pipe()
		p.adopt(l)
		p.Exec(releaseLease, string(l.Session), int64(l.Fence), string(s.user))
		return p.Run()
	})
	if err == nil || !errors.Is(err, skein.ErrClosed) {
		s.keeper.remove(l)
	}
	return err
}

// releaseLease releases a lease, if it is still the newest.
const releaseLease = `UPDATE heads SET held = false WHERE id = $1 AND epoch = $2 AND held AND ($3 = '' OR user_id = $3)`
