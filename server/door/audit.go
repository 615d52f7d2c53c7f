package door

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/accounts"
)

const (
	auditEvery = time.Minute // between two writes of the audit
	maxUnkept  = 10_000      // rows that wait to be written; further ones are not kept
)

// An audit collects what tokens are used for, and writes it to the store now and then:
// nobody waits for that.
type audit struct {
	trail accounts.AuditTrail // nil: only the last use of each token is known

	mu   sync.Mutex
	used map[string]skein.Time // by token
	rows map[auditKey]*accounts.AuditRow
	lost int // how many requests found no room in rows

	writing sync.Mutex // one write at a time
}

// auditKey is what the requests of one row have in common.
type auditKey struct {
	hour           int64
	token, session string
	route          string
}

// Audit makes t keep in trail what tokens are used for, and since when. Call it before t
// is used.
func (t *Tokens) Audit(trail accounts.AuditTrail) { t.audit.trail = trail }

// note collects one request.
func (a *audit) note(now skein.Time, v *Visitor, route string, session skein.SessionID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.used == nil {
		a.used, a.rows = map[string]skein.Time{}, map[auditKey]*accounts.AuditRow{}
	}
	a.used[v.Token] = now
	if a.trail == nil {
		return
	}
	a.add(accounts.AuditRow{Token: v.Token, User: v.Owner(), Session: session, Route: route, First: now, Last: now, Times: 1})
}

// add adds a row to those that wait.
func (a *audit) add(r accounts.AuditRow) {
	k := auditKey{r.Hour(), r.Token, string(r.Session), r.Route}
	switch was := a.rows[k]; {
	case was != nil:
		was.First, was.Last, was.Times = min(was.First, r.First), max(was.Last, r.Last), was.Times+r.Times
	case len(a.rows) >= maxUnkept:
		a.lost += int(r.Times)
	default:
		a.rows[k] = &r
	}
}

// write writes what was collected. What could not be written waits for the next time.
// The error is the store's.
func (a *audit) write(ctx context.Context) (lost int, err error) {
	if a.trail == nil {
		return 0, nil
	}
	a.writing.Lock()
	defer a.writing.Unlock()
	a.mu.Lock()
	var rows []accounts.AuditRow
	for _, r := range a.rows {
		rows = append(rows, *r)
	}
	clear(a.rows)
	a.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, registryTime)
	defer cancel()
	if len(rows) > 0 {
		err = a.trail.AddAudit(ctx, rows)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		for _, r := range rows {
			a.add(r)
		}
		return 0, err
	}
	lost, a.lost = a.lost, 0
	return lost, nil
}

// keep writes the audit now and then until ctx ends, and then once more.
func (a *audit) keep(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(auditEvery)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			ended = true
		}
		if lost, err := a.write(context.WithoutCancel(ctx)); err != nil {
			log.Warn("the audit was not written", "err", err)
		} else if lost > 0 {
			log.Warn("the audit lacks requests: there were too many at once", "requests", lost)
		}
	}
}

// Audited returns what tokens were used for, by everybody, those used last first;
// nil if the store keeps no audit.
//
// The error is the store's.
func (t *Tokens) Audited(ctx context.Context, q accounts.AuditQuery) ([]accounts.AuditRow, error) {
	if t.audit.trail == nil {
		return nil, nil
	}
	if _, err := t.audit.write(ctx); err != nil {
		return nil, err
	}
	return t.audit.trail.Audit(ctx, q)
}

// Audits reports whether the store keeps what tokens are used for.
func (t *Tokens) Audits() bool { return t.audit.trail != nil }

// lastUses returns when each token was used last, by name.
func (a *audit) lastUses(ctx context.Context) (map[string]skein.Time, error) {
	var written map[string]skein.Time
	if a.trail != nil {
		var err error
		if written, err = a.trail.TokensUsed(ctx); err != nil {
			return nil, err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	all := maps.Clone(a.used)
	if all == nil {
		all = map[string]skein.Time{}
	}
	for name, at := range written {
		all[name] = max(all[name], at)
	}
	return all, nil
}

// Reads notes in the audit that a request reads a session that its path does not name.
// ctx is that of the request.
func Reads(ctx context.Context, id skein.SessionID) {
	if v := From(ctx); v.reads != nil {
		v.reads(id)
	}
}

// audited makes the audit note a request once its answer begins, unless it is refused.
func (d *Door) audited(r *http.Request, v *Visitor, pattern string) {
	who := *v
	v.reads = func(id skein.SessionID) { d.tokens.audit.note(skein.At(d.now()), &who, pattern, id) }
	session := skein.SessionID("")
	if namesSession(pattern) {
		session = skein.SessionID(r.PathValue("id"))
	}
	v.note.began = func(status int) {
		if status < 300 || status == http.StatusNotModified {
			v.reads(session)
		}
	}
}

// namesSession reports whether the path of a route names a session.
func namesSession(pattern string) bool { return strings.Contains(pattern, "/sessions/{id}") }
