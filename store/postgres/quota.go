package postgres

import (
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// How long what was read of a user's quota is used: freeFor if the user has none, and
// quotaFor for how much of it is used. Other processes may use some meanwhile.
const (
	freeFor  = time.Minute
	quotaFor = 5 * time.Second
)

// A quota is how much a user may store, and how much the user has stored.
type quota struct {
	sessions, bytes int64 // at most; 0 for no limit
	have, used      int64 // of these; counted only if there is a limit
}

// quotas caches the quotas of the users that wrote last in this process.
type quotas struct {
	mu   sync.Mutex
	kept map[skein.User]keptQuota
}

type keptQuota struct {
	quota
	until time.Time
}

// maxQuotas is how many users' quotas are kept.
const maxQuotas = 8192

func newQuotas() *quotas { return &quotas{kept: map[skein.User]keptQuota{}} }

func (q *quotas) find(u skein.User) (quota, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	x, ok := q.kept[u]
	return x.quota, ok && time.Now().Before(x.until)
}

func (q *quotas) keep(u skein.User, x quota) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.kept) >= maxQuotas {
		clear(q.kept)
	}
	long := quotaFor
	if x.bytes == 0 {
		long = freeFor
	}
	q.kept[u] = keptQuota{x, time.Now().Add(long)}
}

// use counts bytes that were stored.
func (q *quotas) use(u skein.User, bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if x, ok := q.kept[u]; ok && x.bytes != 0 {
		x.used += bytes
		q.kept[u] = x
	}
}

// quotaOf adds the query for the quota of a user to the pipe, unless the group has
// already looked it up.
func (p *pipe) quotaOf(u skein.User, to map[skein.User]quota) bool {
	if _, asked := to[u]; asked || u == "" {
		return false
	}
	to[u] = quota{}
	p.Query(`SELECT u.sessions, u.bytes, CASE WHEN u.sessions > 0 THEN (SELECT count(*) FROM sessions s WHERE s.user_id = $1) ELSE 0 END,
		CASE WHEN u.bytes > 0 THEN (SELECT coalesce(sum(s.bytes), 0)::bigint FROM sessions s WHERE s.user_id = $1) ELSE 0 END
		FROM users u WHERE u.user_id = $1`, []any{string(u)}, func(r wire.Row) error {
		var x quota
		err := r.Scan(&x.sessions, &x.bytes, &x.have, &x.used)
		to[u] = x
		return err
	})
	return true
}

// spend charges what a call adds to the drafts to the quotas; before has the drafts
// as they were before the call.
//
// The error wraps [skein.ErrFull], as a *[skein.QuotaError], if too little is left.
func (w *work) spend(before map[*sessionDraft]sessionDraft) error {
	for d, was := range before {
		grew := d.flushed + d.grew - was.flushed - was.grew
		if grew == 0 {
			continue
		}
		x, known := w.quotas[d.User]
		if !known {
			continue
		}
		x.used += grew
		if was.Last == 0 {
			x.have++
		}
		switch {
		case x.sessions > 0 && was.Last == 0 && x.have > x.sessions:
			return &skein.QuotaError{User: d.User, Of: "sessions", Most: x.sessions}
		case x.bytes > 0 && x.used > x.bytes:
			return &skein.QuotaError{User: d.User, Of: "bytes", Most: x.bytes}
		}
		put(w, w.quotas, d.User, x)
	}
	return nil
}
