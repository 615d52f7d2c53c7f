package sqlite

import (
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// rowSize returns roughly how many bytes an event takes on disk, without the index.
func rowSize(p *packedEvent) int64 {
	n := 80 + len(p.payload) + len(p.now.Text) + 2*len(p.ClientID)
	if x, ok := p.extra.(string); ok {
		n += len(x)
	}
	return int64(n)
}

// keyTaken reports whether another live session of the user has the key.
func keyTaken(t *txn.Tx, h *columns.Head) (bool, error) {
	if h.Key == "" {
		return false, nil
	}
	var n int64
	found, err := t.One(`SELECT n FROM sessions WHERE key = ? AND user_id = ? AND binned = 0 AND key <> ''`, []any{h.Key, string(h.User)}, &n)
	return found && n != h.N, err
}

func (k *book) putEvent(p *packedEvent, r *ledger.Row, sum int64) (id int64, err error) {
	var amends any
	if r.Facts.Amended != nil {
		amends = int64(r.Facts.Amended.Seq)
	}
	if id, err = k.NextID(); err != nil {
		return 0, err
	}
	columns.CollectFor(int64(len(p.now.Text)))
	_, _, err = k.Exec(`INSERT INTO events (id, session, seq, kind, at, turn, ordinal, prev, piece, failed, imported, client, hash, role, agent, message, amends, tools, paths, text, extra, payload, sum, items)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, k.h.N, int64(r.Seq), string(r.Kind), int64(r.Time), r.Added.Turn, k.h.Ever().Messages, int64(r.Prev), r.Added.Piece, r.Now.Failed, r.Imported,
		engine.OrNull(string(r.ClientID)), r.Hash, engine.OrNull(string(r.Now.Role)), engine.OrNull(agent(r.Now.Message)), engine.OrNull(messageID(r.Facts.Message)), amends, lines(r.Now.Tools), lines(r.Now.Paths), p.text, p.extra, p.payload, sum, p.items)
	return id, err
}

// agent returns the agent that said m, if m names one.
func agent(m *skein.Message) string {
	if m == nil {
		return ""
	}
	return m.Agent
}

func messageID(m *skein.Message) string {
	if m == nil {
		return ""
	}
	return m.ID
}

// lines joins names, each once, into a column value.
func lines(names []string) any {
	switch len(names) {
	case 0:
		return nil
	case 1:
		return names[0]
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
	return b.String()
}

func putCharge(t *txn.Tx, h *columns.Head, event int64, c *skein.Charge, a *skein.Added) error {
	for recorded, u := range []skein.Usage{a.Charge.Minus(a.Recorded), a.Recorded} {
		if u == (skein.Usage{}) {
			continue
		}
		_, _, err := t.Exec(`INSERT INTO charges (event, session, user_id, request, slot, provider, model, tier, recorded, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			event, h.N, string(h.User), engine.OrNull(c.Request), int64(c.Time.Slot()), c.Provider, c.Model, string(a.Tier), recorded,
			u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite, u.CacheHour, u.Requests, u.Reported)
		if err != nil {
			return err
		}
	}
	return nil
}
