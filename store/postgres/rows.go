package postgres

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/postgres/columns"
)

// eventRows are rows of events, column by column.
type eventRows struct {
	at                                         []int64
	kind                                       []string
	turn, ordinal                              []int32
	prev                                       []int64
	piece, failed, imported                    []bool
	client, role, agent, message, tools, paths []*string
	hash, payload                              [][]byte
	amends                                     []*int64
	sum                                        []int64
}

// add adds a row; messages is the session's number of messages including this one.
func (r *eventRows) add(x *ledger.Row, messages int) {
	e, now := &x.Event.Event, x.Now
	r.at = append(r.at, int64(e.Time))
	r.kind = append(r.kind, columns.KindText(e.Kind))
	r.turn = append(r.turn, int32(x.Added.Turn))
	r.ordinal = append(r.ordinal, int32(messages))
	r.prev = append(r.prev, int64(x.Prev))
	r.piece = append(r.piece, x.Added.Piece)
	r.failed = append(r.failed, now.Failed)
	r.imported = append(r.imported, x.Imported)
	r.client = append(r.client, columns.OrNull(string(e.ClientID)))
	r.hash = append(r.hash, x.Hash)
	r.role = append(r.role, columns.OrNull(columns.Plain(string(now.Role))))
	agent, message := "", ""
	if now.Message != nil {
		agent = columns.Plain(now.Message.Agent)
	}
	if x.Facts.Message != nil {
		message = columns.Indexed(x.Facts.Message.ID)
	}
	r.agent = append(r.agent, columns.OrNull(agent))
	r.message = append(r.message, columns.OrNull(message))
	var amends *int64
	if x.Facts.Amended != nil {
		seq := int64(x.Facts.Amended.Seq)
		amends = &seq
	}
	r.amends = append(r.amends, amends)
	r.tools = append(r.tools, columns.Lines(now.Tools))
	r.paths = append(r.paths, columns.Lines(now.Paths))
	r.payload = append(r.payload, e.Payload)
	r.sum = append(r.sum, columns.Sum(e))
}

// args returns the arguments of putEvents from at on; sum is the last of the whole
// statement.
func (r *eventRows) args() []any {
	return []any{
		r.at, r.kind, r.turn, r.ordinal, r.prev, r.piece, r.failed, r.imported, r.client, r.hash,
		r.role, r.agent, r.message, r.amends, r.tools, r.paths, r.payload,
	}
}

// chargeRows are rows of charges, column by column.
type chargeRows struct {
	seq, slot       []int64
	request         []*string
	provider, model []string
	tier            []string
	recorded        []bool
	numbers         [8][]int64 // from input to reported
}

func (r *chargeRows) add(seq skein.Seq, c *skein.Charge, a skein.Added) {
	for i, u := range []skein.Usage{a.Charge.Minus(a.Recorded), a.Recorded} {
		if u == (skein.Usage{}) {
			continue
		}
		r.seq = append(r.seq, int64(seq))
		r.slot = append(r.slot, int64(c.Time.Slot()))
		r.request = append(r.request, columns.OrNull(columns.Indexed(c.Request)))
		r.provider = append(r.provider, columns.Indexed(c.Provider))
		r.model = append(r.model, columns.Indexed(c.Model))
		r.tier = append(r.tier, string(a.Tier))
		r.recorded = append(r.recorded, i == 1)
		for i, n := range []int64{u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite, u.CacheHour, u.Requests, u.Reported} {
			r.numbers[i] = append(r.numbers[i], n)
		}
	}
}

func (r *chargeRows) args() []any {
	all := []any{r.seq, r.request, r.slot, r.provider, r.model, r.tier, r.recorded}
	for _, n := range r.numbers {
		all = append(all, n)
	}
	return all
}

// refRows are rows of blob_refs.
type refRows struct {
	seq  []int64
	hash [][]byte
}
