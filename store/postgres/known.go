package postgres

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// known looks up which of some client IDs and message IDs occur in the events of
// segs, which are newest first.
func (q *conn) known(user skein.User, segs walk.Segments, clients, messages []string) (map[skein.ClientID]ledger.Place, map[string]bool, error) {
	p := q.pipe()
	at, said := map[skein.ClientID]ledger.Place{}, map[string]bool{}
	if !p.known(user, segs, clients, messages, at, said) {
		return at, said, nil
	}
	return at, said, p.Run()
}

// known adds the queries to the pipe, which put what they find into at and said. It
// reports whether there is anything to look for.
func (p *pipe) known(user skein.User, segs walk.Segments, clients, messages []string, at map[skein.ClientID]ledger.Place, said map[string]bool) bool {
	ns, upto := pieces(segs)
	if len(clients) > 0 {
		p.Query(`SELECT DISTINCT ON (e.client) e.client, e.seq, e.hash
			FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY g (n, upto, o)
			JOIN events e ON e.user_id = $1 AND e.n = g.n AND e.client = ANY($4::text[]) AND e.seq <= g.upto
			ORDER BY e.client, g.o, e.seq DESC`, []any{string(user), ns, upto, clients}, func(r wire.Row) error {
			var client string
			var x ledger.Place
			if err := r.Scan(&client, &x.Seq, &x.Hash); err != nil {
				return err
			}
			if _, found := at[skein.ClientID(client)]; !found {
				at[skein.ClientID(client)] = x
			}
			return nil
		})
	}
	if len(messages) > 0 {
		p.Query(`SELECT DISTINCT e.message FROM unnest($2::bigint[], $3::bigint[]) g (n, upto)
			JOIN events e ON e.user_id = $1 AND e.n = g.n AND e.message = ANY($4::text[]) AND e.seq <= g.upto`, []any{string(user), ns, upto, messages}, func(r wire.Row) error {
			var id string
			err := r.Scan(&id)
			said[id] = true
			return err
		})
	}
	return len(clients)+len(messages) > 0
}

// pieces returns the session numbers of segs, and the seqs up to which they are
// shown.
func pieces(segs walk.Segments) (ns, upto []int64) {
	for _, s := range segs {
		ns, upto = append(ns, s.Session), append(upto, int64(s.To))
	}
	return ns, upto
}

// charged adds the query for the usage already counted for some requests of a user,
// and reports whether there is anything to look for.
func (p *pipe) charged(user skein.User, requests []string, to map[request]skein.Usage) bool {
	if len(requests) == 0 {
		return false
	}
	p.Query(`SELECT c.request, sum(c.input)::bigint, sum(c.output)::bigint, sum(c.reasoning)::bigint, sum(c.cache_read)::bigint,
		sum(c.cache_write)::bigint, sum(c.cache_hour)::bigint, sum(c.requests)::bigint, sum(c.reported)::bigint
		FROM charges c WHERE c.user_id = $1 AND c.request = ANY($2::text[])
		AND NOT EXISTS (SELECT FROM purge_queue d WHERE d.user_id = c.user_id AND d.n = c.n AND c.seq > d.above)
		GROUP BY c.request`, []any{string(user), requests}, func(r wire.Row) error {
		var id string
		var u skein.Usage
		err := r.Scan(append([]any{&id}, usageFields(&u)...)...)
		to[request{user, id}] = u
		return err
	})
	return true
}
