package postgres

import (
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
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
	r.kind = append(r.kind, kindText(e.Kind))
	r.turn = append(r.turn, int32(x.Added.Turn))
	r.ordinal = append(r.ordinal, int32(messages))
	r.prev = append(r.prev, int64(x.Prev))
	r.piece = append(r.piece, x.Added.Piece)
	r.failed = append(r.failed, now.Failed)
	r.imported = append(r.imported, x.Imported)
	r.client = append(r.client, orNull(string(e.ClientID)))
	r.hash = append(r.hash, x.Hash)
	r.role = append(r.role, orNull(plain(string(now.Role))))
	agent, message := "", ""
	if now.Message != nil {
		agent = plain(now.Message.Agent)
	}
	if x.Facts.Message != nil {
		message = indexed(x.Facts.Message.ID)
	}
	r.agent = append(r.agent, orNull(agent))
	r.message = append(r.message, orNull(message))
	var amends *int64
	if x.Facts.Amended != nil {
		seq := int64(x.Facts.Amended.Seq)
		amends = &seq
	}
	r.amends = append(r.amends, amends)
	r.tools = append(r.tools, lines(now.Tools))
	r.paths = append(r.paths, lines(now.Paths))
	r.payload = append(r.payload, e.Payload)
	r.sum = append(r.sum, sumOf(e))
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
	numbers         [8][]int64 // from input to reported
}

func (r *chargeRows) add(seq skein.Seq, c *skein.Charge, a skein.Added) {
	u := a.Charge
	if c == nil || u == (skein.Usage{}) {
		return
	}
	r.seq = append(r.seq, int64(seq))
	r.slot = append(r.slot, int64(c.Time.Slot()))
	r.request = append(r.request, orNull(indexed(c.Request)))
	r.provider = append(r.provider, indexed(c.Provider))
	r.model = append(r.model, indexed(c.Model))
	r.tier = append(r.tier, string(a.Tier))
	for i, n := range []int64{u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite, u.CacheHour, u.Requests, u.Reported} {
		r.numbers[i] = append(r.numbers[i], n)
	}
}

func (r *chargeRows) args() []any {
	all := []any{r.seq, r.request, r.slot, r.provider, r.model, r.tier}
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

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// lines joins names with newlines to a column value, each once.
func lines(names []string) *string {
	if len(names) == 0 {
		return nil
	}
	var b strings.Builder
	seen := map[string]bool{}
	for _, n := range names {
		if !seen[n] {
			if len(seen) > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(n)
			seen[n] = true
		}
	}
	s := plain(b.String())
	return &s
}
