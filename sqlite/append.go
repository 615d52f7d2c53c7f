package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
)

// A packed is a batch as it is written: all that can be worked out without
// the database is.
type packed struct {
	skein.Batch
	events  []packedEvent
	blobs   []packedBlob
	records []packedRecord
}

// A packedEvent is an event and what its row holds.
type packedEvent struct {
	e       skein.Event
	f       skein.Facts
	hash    []byte // nil without a client ID
	text    any    // string, or nil if there is none
	extra   any
	payload []byte
}

// Append implements [skein.Store].
func (s *Store) Append(ctx context.Context, batches ...skein.Batch) (rs []skein.Receipt, err error) {
	defer skein.Wrapf(&err, "sqlite: append to %s", target(batches))
	leave, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	ps := make([]packed, len(batches))
	for i := range batches {
		if ps[i], err = s.packBatch(batches[i]); err != nil {
			return nil, err
		}
	}
	err = s.write(ctx, func(t *tx) error {
		rs = make([]skein.Receipt, len(ps))
		stored := 0
		for i := range ps {
			if rs[i], err = s.appendBatch(t, &ps[i]); err != nil {
				return err
			}
			stored += rs[i].New
		}
		t.after = append(t.after, func() { s.appended(stored) })
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rs, nil
}

func target(batches []skein.Batch) string {
	switch len(batches) {
	case 0:
		return "nothing"
	case 1:
		return string(batches[0].Session)
	}
	return fmt.Sprintf("%s and %d more", batches[0].Session, len(batches)-1)
}

func (s *Store) packBatch(b skein.Batch) (p packed, err error) {
	p.Batch = b
	records := b.Import != nil && len(b.Events) == 0 && b.Import.File.Session == ""
	if err := b.Session.Check(); err != nil && (b.Session != "" || !records) {
		return p, err
	}
	if len(b.Events) == 0 && b.Import == nil {
		return p, fmt.Errorf("%w batch: it has neither events nor an import", skein.ErrInvalid)
	}
	p.events = make([]packedEvent, len(b.Events))
	for i, e := range b.Events {
		if p.events[i], err = s.packEvent(e); err != nil {
			return p, err
		}
	}
	for _, blob := range b.Blobs {
		pb, err := s.pack.packBlob(blob)
		if err != nil {
			return p, err
		}
		p.blobs = append(p.blobs, pb)
	}
	if b.Import != nil {
		p.records, err = s.packRecords(b.Import)
	}
	return p, err
}

func (s *Store) packEvent(e skein.Event) (p packedEvent, err error) {
	p.e = e
	if p.f, err = skein.FactsOf(e); err != nil {
		return p, err
	}
	if p.f.Created != nil {
		if p.f.Created, err = s.owned(*p.f.Created); err != nil {
			return p, err
		}
	}
	if e.ClientID != "" {
		p.hash = contentHash(e)
	}
	if p.f.Text != "" {
		p.text, p.extra = p.f.Text, extraOf(&p.f)
	}
	p.payload = s.pack.pack(e.Payload, p.f.Text, p.f.Spans)
	return p, nil
}

// owned returns c with the user whose session it makes.
func (s *Store) owned(c skein.Created) (*skein.Created, error) {
	switch {
	case s.user == "" || c.User == s.user:
	case c.User == "":
		c.User = s.user
	default:
		return nil, fmt.Errorf("%w user %q: the store is %s's", skein.ErrInvalid, c.User, s.user)
	}
	return &c, nil
}

// contentHash returns what tells whether two events with the same client ID
// are the same.
func contentHash(e skein.Event) []byte {
	h := sha256.New()
	h.Write([]byte(e.Kind))
	h.Write([]byte{0})
	h.Write(e.Payload)
	return h.Sum(nil)[:16]
}

// appendBatch writes one batch in t.
func (s *Store) appendBatch(t *tx, p *packed) (r skein.Receipt, err error) {
	if p.Session == "" {
		return r, s.putImport(t, p, nil)
	}
	was, err := t.head(p.Session)
	if err != nil {
		return r, err
	}
	if err := s.admit(t, p, &was); err != nil {
		return r, err
	}
	r = skein.Receipt{Session: p.Session, Seqs: make([]skein.Seq, len(p.events))}
	if r.New, err = t.stored(p, was.n, r.Seqs); err != nil {
		return r, err
	}
	if r.New > 0 {
		if err := s.mayAppend(t, p, &was, r.Seqs); err != nil {
			return r, err
		}
	}
	for _, b := range p.blobs {
		if err := t.putBlob(b); err != nil {
			return r, err
		}
	}
	h := was
	if r.New > 0 {
		if err := s.appendNew(t, p, &h, r.Seqs); err != nil {
			return r, err
		}
	}
	if err := s.putImport(t, p, &h); err != nil {
		return r, err
	}
	if h.n != 0 && (r.New > 0 || h.bytes != was.bytes) {
		if err := t.putHead(&was, &h); err != nil {
			return r, err
		}
		t.changed = append(t.changed, p.Session)
	}
	r.Last = h.Last
	return r, nil
}

// admit refuses a batch for a session of another user, and an import of a
// deleted one.
func (s *Store) admit(t *tx, p *packed, h *head) error {
	if h.n != 0 {
		if s.user == "" || h.User == s.user {
			return nil
		}
		if len(p.events) > 0 && p.events[0].f.Created != nil {
			return fmt.Errorf("session %s %w", p.Session, skein.ErrExists)
		}
		return fmt.Errorf("session %s %w", p.Session, skein.ErrNotFound)
	}
	if p.Import == nil {
		return nil
	}
	return t.checkTombstones(p)
}

// stored looks for the events that the session has already and puts their
// places in seqs; it returns how many are new.
func (t *tx) stored(p *packed, session int64, seqs []skein.Seq) (fresh int, err error) {
	for i := range p.events {
		fresh++
		id := p.events[i].e.ClientID
		if id == "" || session == 0 {
			continue
		}
		var seq int64
		var hash []byte
		found, err := t.one(`SELECT seq, hash FROM events WHERE client = ? AND session = ?`, []any{string(id), session}, &seq, &hash)
		if err != nil {
			return 0, err
		}
		if !found {
			continue
		}
		if hash != nil && !bytes.Equal(hash, p.events[i].hash) {
			return 0, fmt.Errorf("%w: %q of session %s, event %d", skein.ErrMismatch, id, p.Session, seq)
		}
		seqs[i] = skein.Seq(seq)
		fresh--
	}
	return fresh, nil
}

// mayAppend looks at After and at the lease.
func (s *Store) mayAppend(t *tx, p *packed, h *head, seqs []skein.Seq) error {
	fenced := false
	for i := range p.events {
		fenced = fenced || seqs[i] == 0 && needsFence(p.events[i].e.Kind)
	}
	if fenced {
		if err := s.checkFence(t, p.Session, p.Fence); err != nil {
			return err
		}
	}
	switch {
	case p.After == 0, p.After == skein.Fresh && h.n == 0, p.After == h.Last && h.n != 0:
		return nil
	}
	return &skein.ConflictError{Session: p.Session, Last: h.Last}
}

func needsFence(k skein.Kind) bool {
	switch k {
	case skein.KindSaid, skein.KindTool, skein.KindStep, skein.KindCompacted, skein.KindRewound:
		return true
	}
	return false
}

// appendNew adds the events that have no place yet to h.
func (s *Store) appendNew(t *tx, p *packed, h *head, seqs []skein.Seq) error {
	var own map[skein.ClientID]int
	for i := range p.events {
		if seqs[i] != 0 {
			continue
		}
		pe := &p.events[i]
		if id := pe.e.ClientID; id != "" {
			if first, ok := own[id]; ok {
				if !bytes.Equal(p.events[first].hash, pe.hash) {
					return fmt.Errorf("%w: %q twice in one batch for session %s", skein.ErrMismatch, id, p.Session)
				}
				seqs[i] = seqs[first]
				continue
			}
			if len(p.events) > 1 {
				if own == nil {
					own = map[skein.ClientID]int{}
				}
				own[id] = i
			}
		}
		if err := s.appendEvent(t, h, pe, p.Import != nil); err != nil {
			return err
		}
		seqs[i] = pe.e.Seq
	}
	return nil
}

func (s *Store) appendEvent(t *tx, h *head, p *packedEvent, imported bool) error {
	prior, err := s.prior(t, h, p)
	if err != nil {
		return err
	}
	prev := h.said
	if p.f.Created != nil && isFork(p.f.Created) {
		prev = prior.said
	}
	key := h.Key
	added, err := h.Apply(&p.e, p.f, prior.Prior)
	if err != nil {
		return err
	}
	if h.Key != "" && h.Key != key {
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
	id, err := t.putEvent(h, p, added, prev, imported)
	if err != nil {
		return err
	}
	if h.said = prev; p.e.Kind == skein.KindSaid {
		h.said = p.e.Seq
	}
	h.bytes += rowSize(p)
	if err := t.putRefs(id, p.f.Blobs); err != nil {
		return err
	}
	return t.putCharge(h, id, p.f.Charge, added.Charge)
}

func isFork(c *skein.Created) bool { return c.Parent != nil && c.Parent.Why == skein.Fork }

// rowSize returns roughly what an event takes on disk, without the index.
func rowSize(p *packedEvent) int64 {
	n := 80 + len(p.payload) + len(p.f.Text) + 2*len(p.e.ClientID)
	if x, ok := p.extra.(string); ok {
		n += len(x)
	}
	return int64(n)
}

func (t *tx) checkKey(h *head) error {
	var n int64
	found, err := t.one(`SELECT n FROM sessions WHERE key = ? AND user_id = ? AND binned = 0 AND key <> ''`, []any{h.Key, string(h.User)}, &n)
	if err == nil && found && n != h.n && h.Binned == 0 {
		err = fmt.Errorf("key %q %w", h.Key, skein.ErrExists)
	}
	return err
}

func (t *tx) putEvent(h *head, p *packedEvent, a skein.Added, prev skein.Seq, imported bool) (id int64, err error) {
	id, _, err = t.exec(`INSERT INTO events (session, seq, kind, at, turn, ordinal, prev, piece, failed, imported, client, hash, role, message, tools, paths, text, extra, payload)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		h.n, int64(p.e.Seq), string(p.e.Kind), int64(p.e.Time), a.Turn, h.Messages, int64(prev), a.Piece, p.f.Failed, imported,
		orNull(string(p.e.ClientID)), p.hash, orNull(string(p.f.Role)), orNull(messageID(p.f.Message)), lines(p.f.Tools), lines(p.f.Paths), p.text, p.extra, p.payload)
	return id, err
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

func (t *tx) putRefs(event int64, blobs []skein.Hash) error {
	for _, h := range blobs {
		hash, err := hex.DecodeString(string(h))
		if err != nil {
			continue // no hash: it refers to nothing that we could have
		}
		if _, _, err := t.exec(`INSERT INTO blob_refs (event, hash) VALUES (?, ?) ON CONFLICT DO NOTHING`, event, hash); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) putCharge(h *head, event int64, c *skein.Charge, u skein.Usage) error {
	if c == nil || u == (skein.Usage{}) {
		return nil
	}
	_, _, err := t.exec(`INSERT INTO charges (event, session, user_id, request, slot, provider, model, input, output, reasoning, cache_read, cache_write, requests, reported)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		event, h.n, string(h.User), orNull(c.Request), int64(c.Time.Slot()), c.Provider, c.Model, u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite, u.Requests, u.Reported)
	return err
}
