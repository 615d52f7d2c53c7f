package sqlite

import (
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
)

// events adds to h the events that have no place yet.
func (t *call) events(p *packed, h *head, r *skein.Receipt) (err error) {
	forks := h.n == 0 && len(p.events) > 1 && p.events[0].f.Created != nil && p.events[0].f.Created.Parent.IsFork()
	seen := make(map[skein.ClientID]bool, len(p.events))
	for i := range p.events {
		pe := &p.events[i]
		if r.Seqs[i] == 0 && i > 0 && (forks || seen[pe.e.ClientID]) { // those before it have brought it, or what the fork shows has
			if r.Seqs[i], err = t.place(pe, h); err != nil {
				return err
			}
		}
		if len(p.events) > 1 && pe.e.ClientID != "" {
			seen[pe.e.ClientID] = true
		}
		if r.Seqs[i] != 0 {
			continue
		}
		if p.late && i > 0 {
			if *pe, err = t.s.packEvent(pe.e); err != nil {
				return err
			}
		}
		if err := t.event(h, pe, p.Import != nil); err != nil {
			return err
		}
		r.Seqs[i] = pe.e.Seq
		r.New++
		if p.late && i > 0 { // it may be written once more, with others
			*pe = packedEvent{e: p.Events[i], hash: pe.hash}
		}
	}
	return nil
}

func (t *call) event(h *head, p *packedEvent, imported bool) error {
	shakes, err := t.amend(h, p)
	if err != nil {
		return err
	}
	prior, err := t.prior(h, p)
	if err != nil {
		return err
	}
	prev, key, first := h.said, h.Key, h.First
	if p.f.Created != nil {
		prev = prior.said
	}
	added, err := h.Apply(&p.e, p.f, prior.Prior)
	if err != nil {
		return err
	}
	switch {
	case p.f.Created != nil:
		h.prompts = prior.prompts
	case p.f.Message != nil && !added.Piece:
		h.prompts.Say(p.f.Message, p.e.Seq, first)
	}
	if h.Key != key {
		if err := t.checkKey(h); err != nil {
			return err
		}
	}
	if h.n == 0 { // the row must be there to be referred to
		if h.n, err = t.insertHead(h); err != nil {
			return err
		}
		if err := t.begun(h, prior); err != nil {
			return err
		}
	}
	if err := t.takeBlobs(h, p.now.Blobs); err != nil {
		return err
	}
	id, err := t.putEvent(h, p, added, prev, imported)
	if err != nil {
		return err
	}
	p.id = id
	if h.said = prev; p.e.Kind == skein.KindSaid {
		h.said = p.e.Seq
	}
	h.bytes += rowSize(p)
	if err := t.putRefs(id, p.now.Blobs); err != nil {
		return err
	}
	if err := t.putCharge(h, id, p.f.Charge, added.Tier, added.Charge); err != nil || p.f.Rewound == nil && !shakes {
		return err
	}
	return t.stand(h, p)
}

// amend works out what an amended event puts in another's place, and whether
// that may change which messages stand, or what they are called by.
func (t *call) amend(h *head, p *packedEvent) (shakes bool, err error) {
	a := p.f.Amended
	if a == nil {
		return false, nil
	}
	now := skein.Facts{}
	var kind, role string
	var gone int64
	found, err := t.one(`SELECT e.kind, coalesce(e.role, ''), EXISTS (SELECT 1 FROM events a INDEXED BY events_amends
			WHERE a.session = e.session AND a.kind = 'amended' AND a.amends = e.seq AND a.role IS NULL)
		FROM events e WHERE e.session = ? AND e.seq = ?`, []any{h.n, int64(a.Seq)}, &kind, &role, &gone)
	if err != nil {
		return false, err
	}
	if found && !a.Withdrawn && len(a.Payload) > 0 {
		if now, err = skein.FactsOf(skein.Event{Kind: skein.Kind(kind), Payload: a.Payload}); err != nil {
			return false, fmt.Errorf("amended event %d: %w", a.Seq, err)
		}
	}
	if !a.Withdrawn && len(a.Payload) == 0 { // it is put back as it was
		now.Role = skein.Role(role)
	}
	t.s.packText(p, &now)
	return kind == string(skein.KindSaid) && (a.Withdrawn || gone != 0 || role == string(skein.RoleUser)), nil
}

// rowSize returns roughly what an event takes on disk, without the index.
func rowSize(p *packedEvent) int64 {
	n := 80 + len(p.payload) + len(p.now.Text) + 2*len(p.e.ClientID)
	if x, ok := p.extra.(string); ok {
		n += len(x)
	}
	return int64(n)
}

// checkKey looks whether another live session of the user has the key.
func (t *tx) checkKey(h *head) error {
	taken, err := t.keyTaken(h)
	if err == nil && taken && h.Binned == 0 {
		err = fmt.Errorf("key %q: a session with it %w", h.Key, skein.ErrExists)
	}
	return err
}

func (t *tx) keyTaken(h *head) (bool, error) {
	if h.Key == "" {
		return false, nil
	}
	var n int64
	found, err := t.one(`SELECT n FROM sessions WHERE key = ? AND user_id = ? AND binned = 0 AND key <> ''`, []any{h.Key, string(h.User)}, &n)
	return found && n != h.n, err
}

func (t *tx) putEvent(h *head, p *packedEvent, a skein.Added, prev skein.Seq, imported bool) (id int64, err error) {
	var amends any
	if p.f.Amended != nil {
		amends = int64(p.f.Amended.Seq)
	}
	if id, err = t.nextID(); err != nil {
		return 0, err
	}
	_, _, err = t.exec(`INSERT INTO events (id, session, seq, kind, at, turn, ordinal, prev, piece, failed, imported, client, hash, role, agent, message, amends, tools, paths, text, extra, payload, sum, items)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, h.n, int64(p.e.Seq), string(p.e.Kind), int64(p.e.Time), a.Turn, h.Ever().Messages, int64(prev), a.Piece, p.now.Failed, imported,
		orNull(string(p.e.ClientID)), p.hash, orNull(string(p.now.Role)), orNull(agent(p.now.Message)), orNull(messageID(p.f.Message)), amends, lines(p.now.Tools), lines(p.now.Paths), p.text, p.extra, p.payload, sumOf(&p.e, p.now.Text), p.items)
	return id, err
}

// nextID returns the ID of the next event. It is greater than what the index
// was fed with, so that the index never takes one for fed that is not, and than
// any that was deleted: all that AUTOINCREMENT would give, without a page to
// write for it.
func (t *tx) nextID() (int64, error) {
	if t.heads.lastID == 0 {
		if _, err := t.one(`SELECT max((SELECT coalesce(max(id), 0) FROM events), upto, gone) FROM indexed`, nil, &t.heads.lastID); err != nil {
			return 0, err
		}
	}
	t.heads.lastID++
	return t.heads.lastID, nil
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

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// lines joins names to a column value, each once.
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

func (t *tx) putCharge(h *head, event int64, c *skein.Charge, tier skein.Tier, u skein.Usage) error {
	if c == nil || u == (skein.Usage{}) {
		return nil
	}
	_, _, err := t.exec(`INSERT INTO charges (event, session, user_id, request, slot, provider, model, tier, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		event, h.n, string(h.User), orNull(c.Request), int64(c.Time.Slot()), c.Provider, c.Model, string(tier), u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite, u.CacheHour, u.Requests, u.Reported)
	return err
}
