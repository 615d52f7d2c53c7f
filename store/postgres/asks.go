package postgres

import (
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// asks are what has to be looked up for the batches of one session.
type asks struct {
	user                              skein.User // the owner of a new session
	clients, messages, requests, keys []string
	amended                           []int64
}

func (a *asks) add(p *packed) {
	for i := range p.events {
		e, f := &p.events[i].Event, &p.events[i].Facts
		if e.ClientID != "" {
			a.clients = append(a.clients, string(e.ClientID))
		}
		if m := f.Message; m != nil && m.ID != "" {
			a.messages = append(a.messages, columns.Indexed(m.ID))
		}
		if c := f.Charge; c != nil && c.Request != "" {
			a.requests = append(a.requests, columns.Indexed(c.Request))
		}
		if c := f.Created; c != nil {
			a.user, a.keys = c.User, append(a.keys, c.Key)
		}
		if c := f.Changed; c != nil && c.Key != nil {
			a.keys = append(a.keys, *c.Key)
		}
		if f.Amended != nil {
			a.amended = append(a.amended, int64(f.Amended.Seq))
		}
	}
}

// lookMore adds the queries that the batches for d need to the pipe, and reports
// whether there are any.
func (d *sessionDraft) lookMore(p *pipe, w *work) bool {
	user, needed := d.User, false
	if d.begins {
		user = d.asks.user
	} else {
		segs := d.segs
		if segs == nil {
			segs = walk.Segments{{Session: d.n, From: 0, To: d.Last}}
		}
		needed = p.known(user, segs, d.asks.clients, d.asks.messages, d.clients, d.messages)
		if len(d.asks.messages) > 0 {
			p.marked(user, segs, &d.marked)
		}
		needed = p.targetsOf(d) || needed
	}
	needed = p.quotaOf(user, w.quotas) || needed
	needed = p.charged(user, d.asks.requests, w.charged) || needed
	return p.keysOf(user, d.asks.keys, w.keys) || needed
}

// marked adds a query for whether anything that a session shows was taken back or
// amended.
func (p *pipe) marked(user skein.User, segs walk.Segments, is *bool) {
	ns, upto := pieces(segs)
	p.One(nil, `SELECT EXISTS (SELECT FROM unnest($2::bigint[], $3::bigint[]) g (n, upto) JOIN events e ON e.user_id = $1 AND e.n = g.n AND e.seq <= g.upto
		WHERE e.kind IN ('rewound', 'compacted', 'amended') AND e.kind <> 'compacted')`, []any{string(user), ns, upto}, is)
}

// targetsOf adds the query for the events that are amended.
func (p *pipe) targetsOf(d *sessionDraft) bool {
	if len(d.asks.amended) == 0 {
		return false
	}
	p.Query(`SELECT e.seq, e.kind, coalesce(e.role, ''), EXISTS (SELECT FROM events a
			WHERE a.user_id = e.user_id AND a.n = e.n AND a.amends = e.seq AND a.amends IS NOT NULL AND a.role IS NULL)
		FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq = ANY($3::bigint[])`, []any{string(d.User), d.n, d.asks.amended}, func(r wire.Row) error {
		var seq skein.Seq
		var kind, role string
		var gone bool
		err := r.Scan(&seq, &kind, &role, &gone)
		d.targets[seq] = ledger.Target{Kind: columns.Kind(kind), Role: skein.Role(role), Gone: gone}
		return err
	})
	return true
}

// keysOf adds the query for a user's sessions with some keys, except in the bin.
func (p *pipe) keysOf(user skein.User, keys []string, to map[userKey]int64) bool {
	keys = slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k == "" || columns.Plain(k) != k })
	if len(keys) == 0 {
		return false
	}
	p.Query(`SELECT key, n FROM sessions WHERE user_id = $1 AND key = ANY($2::text[]) AND key <> '' AND binned = 0`, []any{string(user), keys}, func(r wire.Row) error {
		var key string
		var n int64
		err := r.Scan(&key, &n)
		to[userKey{user, key}] = n
		return err
	})
	return true
}
