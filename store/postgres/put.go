package postgres

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/columns"
)

// The statement that appends to one session: it moves the end in heads, if the
// session is in the expected state, and everything else that it writes depends on
// that row. $1 to $10 are the expected state; the others are what to write.
const (
	putMoved = `WITH moved AS (
	UPDATE heads h SET last = $5 WHERE h.n = $2 AND h.user_id = $1 AND h.last = $3 AND h.revision = $4
	AND NOT EXISTS (SELECT FROM unnest($6::bigint[]) f WHERE f <> h.epoch)
	AND NOT ($7 AND h.held AND h.expires > clock_timestamp())
	AND NOT EXISTS (SELECT FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.client = ANY($8::text[]))
	AND NOT EXISTS (SELECT FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.message = ANY($9::text[]))
	AND NOT EXISTS (SELECT FROM charges c WHERE c.user_id = $1 AND c.request = ANY($10::text[]))
	RETURNING h.n
)`
	// The same for a fork: the client IDs and message IDs may be in what it shows of
	// its parent. $E1 and $E2 are the segments of that.
	putMovedFork = `WITH had AS (
	SELECT FROM unnest($E1::bigint[], $E2::bigint[]) g (n, upto) JOIN events e ON e.user_id = $1 AND e.n = g.n AND e.seq <= g.upto AND e.client = ANY($8::text[])
	UNION ALL
	SELECT FROM unnest($E1::bigint[], $E2::bigint[]) g (n, upto) JOIN events e ON e.user_id = $1 AND e.n = g.n AND e.seq <= g.upto AND e.message = ANY($9::text[])
), moved AS (
	UPDATE heads h SET last = $5 WHERE h.n = $2 AND h.user_id = $1 AND h.last = $3 AND h.revision = $4
	AND NOT EXISTS (SELECT FROM unnest($6::bigint[]) f WHERE f <> h.epoch)
	AND NOT ($7 AND h.held AND h.expires > clock_timestamp())
	AND NOT EXISTS (SELECT FROM had)
	AND NOT EXISTS (SELECT FROM charges c WHERE c.user_id = $1 AND c.request = ANY($10::text[]))
	RETURNING h.n
)`
	putEvents = `, put_events AS (
	INSERT INTO events (user_id, n, seq, at, kind, turn, ordinal, prev, piece, failed, imported, client, hash, role, agent, message, amends, tools, paths, payload, sum)
	SELECT $1, $2, $5 - cardinality($11::bigint[]) + x.i, x.at, x.kind, x.turn, x.ordinal, x.prev, x.piece, x.failed, x.imported, x.client, x.hash,
		x.role, x.agent, x.message, x.amends, x.tools, x.paths, x.payload, x.sum
	FROM moved, unnest($11::bigint[], $12::text[], $13::int[], $14::int[], $15::bigint[], $16::bool[], $17::bool[], $18::bool[], $19::text[], $20::bytea[],
		$21::text[], $22::text[], $23::text[], $24::bigint[], $25::text[], $26::text[], $27::bytea[], $S1::bigint[])
		WITH ORDINALITY x (at, kind, turn, ordinal, prev, piece, failed, imported, client, hash, role, agent, message, amends, tools, paths, payload, sum, i)
), put_journal AS (
	INSERT INTO journal (ordinal, user_id, n, after, upto) SELECT $28, $1, $2, $5 - cardinality($11::bigint[]), $5 FROM moved WHERE cardinality($11::bigint[]) > 0
)`
	putSession = `, put_session AS (
	UPDATE sessions s SET state = $29, key = $30, surface = $31, project = $32, agent = $33, profile = $34, model = $35, parent = $36, why = $37,
		origin = $38, tags = $39, pinned = $40, empty = $41, open = $42, recent = $43, updated = $44, repository = $45, branch = $46, doing = $47, bytes = s.bytes + $48
	FROM moved WHERE s.user_id = $1 AND s.n = $2
)`
	putNewSession = `, put_session AS (
	INSERT INTO sessions (user_id, n, id, state, key, surface, project, agent, profile, model, parent, why, origin, tags, pinned, empty, open, recent, updated, repository, branch, doing, bytes)
	SELECT $1, $2, $49, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44, $45, $46, $47, $48 FROM moved
)`
	// The name by which lists find titles. It rarely changes.
	putName = `, put_name AS (
	INSERT INTO names (user_id, n, name) SELECT $1, $2, $N1 FROM moved ON CONFLICT (user_id, n) DO UPDATE SET name = excluded.name
)`
	putCharges = `, put_charges AS (
	INSERT INTO charges (user_id, n, seq, request, slot, provider, model, tier, recorded, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
	SELECT $1, $2, x.* FROM moved, unnest($C1::bigint[], $C2::text[], $C3::bigint[], $C4::text[], $C5::text[], $C6::text[], $C7::bool[],
		$C8::bigint[], $C9::bigint[], $C10::bigint[], $C11::bigint[], $C12::bigint[], $C13::bigint[], $C14::bigint[], $C15::bigint[]) x
	RETURNING slot, provider, model, tier, recorded, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported
), put_usage AS (
	INSERT INTO usage AS u (user_id, n, slot, provider, model, tier, recorded, project, repository, agent, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
	SELECT $1, $2, slot, provider, model, tier, recorded, $32, $45, $33, sum(input), sum(output), sum(reasoning), sum(cache_read), sum(cache_write), sum(cache_hour), sum(requests), sum(reported)
	FROM put_charges GROUP BY slot, provider, model, tier, recorded
	ON CONFLICT (user_id, n, slot, provider, model, tier, recorded) DO UPDATE SET input = u.input + excluded.input, output = u.output + excluded.output,
		reasoning = u.reasoning + excluded.reasoning, cache_read = u.cache_read + excluded.cache_read, cache_write = u.cache_write + excluded.cache_write,
		cache_hour = u.cache_hour + excluded.cache_hour, requests = u.requests + excluded.requests, reported = u.reported + excluded.reported
)`
	putTold  = ` SELECT count(*) FROM moved`              // 1 or 0
	putForce = ` SELECT must_be(count(*) = 1) FROM moved` // an error, so that the transaction is retried
)

// A putKind is a variant of the statement.
type putKind struct {
	begins, charged, force, fork, named bool
}

// putSQL has the texts of all variants of the statement.
type putSQL map[putKind]string

func newPutSQL() putSQL {
	all := putSQL{}
	for i := range 32 {
		k := putKind{i&1 != 0, i&2 != 0, i&4 != 0, i&8 != 0, i&16 != 0}
		moved, session, charges, name, end, n := putMoved, putSession, "", "", putTold, 48
		if k.begins {
			session, n = putNewSession, n+1
		}
		if k.fork {
			moved = putMovedFork
		}
		if k.charged {
			charges = numbered(putCharges, "$C", 15, n)
			n += 15
		}
		if k.named {
			name = numbered(putName, "$N", 1, n)
			n++
		}
		if k.force {
			end = putForce
		}
		moved = numbered(moved, "$E", 2, n)
		if k.fork {
			n += 2
		}
		all[k] = moved + numbered(putEvents, "$S", 1, n) + session + charges + name + end
	}
	return all
}

// numbered replaces the parameters called name and 1 to many by the numbered ones
// after the first n.
func numbered(sql, name string, many, n int) string {
	var pairs []string
	for i := many; i > 0; i-- { // $C12 before $C1
		pairs = append(pairs, name+strconv.Itoa(i), "$"+strconv.Itoa(n+i))
	}
	return strings.NewReplacer(pairs...).Replace(sql)
}

// put returns the statement that writes d, and its arguments; ordinal is the
// statement's number in the transaction.
func (w *work) put(d *sessionDraft, ordinal int) (sql string, args []any) {
	name := d.name()
	k := putKind{d.begins, len(d.charges.seq) > 0, w.looked, len(d.noClients)+len(d.noMessages) > 0 && d.Base != 0, name != d.was.name()}
	args = []any{
		string(d.User), d.n, int64(d.from()), d.revision, int64(d.Last), columns.OrEmpty(d.fences), d.free,
		columns.OrEmpty(d.noClients), columns.OrEmpty(d.noMessages), columns.OrEmpty(d.noRequests),
	}
	args = append(append(args, d.events.args()...), ordinal)
	args = append(args, d.columns()...)
	if k.begins {
		args = append(args, string(d.ID))
	}
	if k.charged {
		args = append(args, d.charges.args()...)
	}
	if k.named {
		args = append(args, name)
	}
	if k.fork {
		ns, upto := pieces(d.segs)
		args = append(args, ns, upto)
	}
	return w.s.puts[k], append(args, columns.OrEmpty(d.events.sum))
}

// name returns the name by which lists find h, as stored in names; "" without one.
func (h *head) name() string { return smallTitle(cmp.Or(h.Title, h.First)) }

// from returns the value of heads.last before d is written.
func (d *sessionDraft) from() skein.Seq { return d.was.Last }

// columns returns the values of the columns of sessions from state on.
func (d *sessionDraft) columns() []any {
	s := &d.Session
	parent, origin := skein.Parent{}, skein.Origin{}
	if s.Parent != nil {
		parent = *s.Parent
	}
	if s.Origin != nil {
		origin = *s.Origin
	}
	tags := make([]string, len(s.Tags))
	for i, t := range s.Tags {
		tags[i] = columns.Plain(t)
	}
	return []any{
		d.state(), s.Key, columns.Plain(s.Surface), columns.Plain(s.Project), columns.Plain(s.Agent), columns.Plain(s.Profile), columns.Plain(s.Model),
		columns.Indexed(string(parent.Session)), columns.Plain(string(parent.Why)), columns.Plain(origin.Format), tags, s.Pinned, s.Last <= 1, len(s.Open) > 0,
		int64(s.Updated) >> 10, int64(s.Updated), columns.Plain(s.Checkout.Repository), columns.Plain(s.Checkout.Branch),
		skein.ByState.Values(s)[0], d.grew,
	}
}
