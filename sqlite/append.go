package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
)

// A packed is a batch as it is written: all that can be worked out without
// the database is.
type packed struct {
	skein.Batch
	events []packedEvent
	blobs  []packedBlob
	blocks []packedBlock
}

// A packedEvent is an event and what its row holds.
type packedEvent struct {
	e       skein.Event
	f       skein.Facts
	id      int64        // events.id, when it is stored; 0 if its text cannot be referred to
	now     *skein.Facts // what the row says: f, or of an amended event the facts of what stands there now
	hash    []byte       // nil without a client ID
	text    any          // string, or nil if there is none
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
		c := &call{t, s, map[string]packedBlob{}}
		stored := 0
		for i := range ps {
			if rs[i], err = c.batch(&ps[i]); err != nil {
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
	if err := checkBatch(&b); err != nil {
		return p, err
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
		p.blocks, err = s.packRecords(b.Import, p.events)
	}
	return p, err
}

// checkBatch refuses what is wrong whatever the store holds.
func checkBatch(b *skein.Batch) error {
	none := b.Session == "" && len(b.Events) == 0 && b.Import != nil && b.Import.File.Session == ""
	if err := b.Session.Check(); err != nil && !none {
		return err
	}
	switch {
	case len(b.Events) == 0 && b.Import == nil:
		return fmt.Errorf("%w batch for session %s: it has no events", skein.ErrInvalid, b.Session)
	case b.After < skein.Fresh:
		return fmt.Errorf("%w batch for session %s: after %d", skein.ErrInvalid, b.Session, b.After)
	case b.Fence < 0:
		return fmt.Errorf("%w batch for session %s: fence %d", skein.ErrInvalid, b.Session, b.Fence)
	}
	return nil
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
	if p.f.Amended == nil { // else appendEvent knows what it is about
		s.packText(&p, &p.f)
	}
	return p, nil
}

// packText sets what the row says of the facts of the event, or, where it
// amends another, of what stands there now.
func (s *Store) packText(p *packedEvent, f *skein.Facts) {
	p.now = f
	if f.Text != "" {
		p.text, p.extra = f.Text, extraOf(f)
	}
	p.payload = s.pack.pack(p.e.Payload, f.Text, f.Spans)
}

// owned returns c with the user whose session it makes.
func (s *Store) owned(c skein.Created) (*skein.Created, error) {
	if c.User == "" {
		c.User = s.owner()
	}
	if !s.sees(c.User) {
		return nil, fmt.Errorf("%w created event: user %q: the store is a view of user %q", skein.ErrInvalid, c.User, s.user)
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

// A call is one Append in its transaction.
type call struct {
	*tx
	s       *Store
	brought map[string]packedBlob // blobs of the batches so far, by hash
}

// batch writes one batch.
func (t *call) batch(p *packed) (r skein.Receipt, err error) {
	if p.Session == "" {
		return r, t.putImport(p, nil)
	}
	was, err := t.head(p.Session)
	if err != nil {
		return r, err
	}
	if err := t.admit(p, &was); err != nil {
		return r, err
	}
	r = skein.Receipt{Session: p.Session, Seqs: make([]skein.Seq, len(p.events))}
	fresh, err := t.places(p, &was, r.Seqs)
	if err != nil {
		return r, err
	}
	if fresh > 0 {
		if err := t.mayAppend(p, &was, r.Seqs); err != nil {
			return r, err
		}
	}
	for _, b := range p.blobs {
		t.brought[string(b.hash)] = b
	}
	h := was
	if err := t.events(p, &h, &r); err != nil {
		return r, err
	}
	if err := t.putImport(p, &h); err != nil {
		return r, err
	}
	if r.New > 0 || h.bytes != was.bytes {
		if err := t.putHead(&was, &h); err != nil {
			return r, err
		}
		t.changed = append(t.changed, p.Session)
	}
	r.Last = h.Last
	return r, nil
}

// admit refuses a batch for a session of another user, and one for a session
// that was deleted.
func (t *call) admit(p *packed, h *head) error {
	begins := len(p.events) > 0 && p.events[0].f.Created != nil
	switch {
	case h.n == 0:
		if err := t.checkTombstones(p); err != nil || len(p.events) > 0 {
			return err
		}
	case t.s.sees(h.User):
		return nil
	case begins:
		return fmt.Errorf("session %s %w", p.Session, skein.ErrExists)
	}
	return fmt.Errorf("session %s %w", p.Session, skein.ErrNotFound)
}

// places puts in seqs the places of the events that the session has already
// and returns how many it has not.
func (t *call) places(p *packed, h *head, seqs []skein.Seq) (fresh int, err error) {
	for i := range p.events {
		if h.n != 0 {
			if seqs[i], err = t.place(&p.events[i], h); err != nil {
				return 0, err
			}
		}
		if seqs[i] == 0 {
			fresh++
		}
	}
	return fresh, nil
}

// place returns where the session has the event with p's client ID, in what
// it shows of its parent too; 0 if it has none.
func (t *call) place(p *packedEvent, h *head) (skein.Seq, error) {
	client := p.e.ClientID
	if client == "" {
		return 0, nil
	}
	segs, err := t.segments(h)
	if err != nil {
		return 0, err
	}
	for _, seg := range segs {
		var id, seq int64
		var hash []byte
		// The other columns are those of the row with the max.
		_, err := t.one(`SELECT id, max(seq), hash FROM events INDEXED BY events_by_client WHERE client = ? AND session = ? AND seq <= ?`,
			[]any{string(client), seg.session, int64(seg.to)}, &id, &seq, &hash)
		if err != nil {
			return 0, err
		}
		found := id != 0
		if found && hash != nil && !bytes.Equal(hash, p.hash) { // without a hash it was deleted in the shell
			return 0, fmt.Errorf("%w: %q of session %s is event %d", skein.ErrMismatch, client, h.ID, seq)
		}
		if found {
			if p.id = id; hash == nil {
				p.id = 0
			}
			return skein.Seq(seq), nil
		}
	}
	return 0, nil
}

// mayAppend compares After and looks at the lease.
func (t *call) mayAppend(p *packed, h *head, seqs []skein.Seq) error {
	if p.After == skein.Fresh && h.Last != 0 || p.After > 0 && p.After != h.Last {
		return &skein.ConflictError{Session: p.Session, Last: h.Last}
	}
	fenced := false
	for i := range p.events {
		fenced = fenced || seqs[i] == 0 && needsFence(p.events[i].e.Kind)
	}
	return t.s.checkFence(t.tx, p.Session, p.Fence, fenced)
}

func needsFence(k skein.Kind) bool {
	switch k {
	case skein.KindSaid, skein.KindTool, skein.KindStep, skein.KindCompacted, skein.KindRewound:
		return true
	}
	return false
}

// events adds to h the events that have no place yet.
func (t *call) events(p *packed, h *head, r *skein.Receipt) (err error) {
	for i := range p.events {
		pe := &p.events[i]
		if r.Seqs[i] == 0 && i > 0 { // those before it may have brought it
			if r.Seqs[i], err = t.place(pe, h); err != nil {
				return err
			}
		}
		if r.Seqs[i] != 0 {
			continue
		}
		if err := t.event(h, pe, p.Import != nil); err != nil {
			return err
		}
		r.Seqs[i] = pe.e.Seq
		r.New++
	}
	return nil
}

func (t *call) event(h *head, p *packedEvent, imported bool) error {
	if err := t.amend(h, p); err != nil {
		return err
	}
	prior, err := t.prior(h, p)
	if err != nil {
		return err
	}
	prev, key := h.said, h.Key
	if p.f.Created != nil {
		prev = prior.said
	}
	added, err := h.Apply(&p.e, p.f, prior.Prior)
	if err != nil {
		return err
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
	return t.putCharge(h, id, p.f.Charge, added.Charge)
}

// amend works out what an amended event puts in another's place.
func (t *call) amend(h *head, p *packedEvent) error {
	a := p.f.Amended
	if a == nil {
		return nil
	}
	now := skein.Facts{}
	var kind string
	found, err := t.one(`SELECT kind FROM events WHERE session = ? AND seq = ?`, []any{h.n, int64(a.Seq)}, &kind)
	if err != nil {
		return err
	}
	if found && !a.Withdrawn && len(a.Payload) > 0 {
		if now, err = skein.FactsOf(skein.Event{Kind: skein.Kind(kind), Payload: a.Payload}); err != nil {
			return fmt.Errorf("amended event %d: %w", a.Seq, err)
		}
	}
	t.s.packText(p, &now)
	return nil
}

func isFork(c *skein.Created) bool { return c.Parent != nil && c.Parent.Why == skein.Fork }

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
	_, _, err = t.exec(`INSERT INTO events (id, session, seq, kind, at, turn, ordinal, prev, piece, failed, imported, client, hash, role, agent, message, amends, tools, paths, text, extra, payload)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, h.n, int64(p.e.Seq), string(p.e.Kind), int64(p.e.Time), a.Turn, h.Messages, int64(prev), a.Piece, p.now.Failed, imported,
		orNull(string(p.e.ClientID)), p.hash, orNull(string(p.now.Role)), orNull(agent(p.now.Message)), orNull(messageID(p.f.Message)), amends, lines(p.now.Tools), lines(p.now.Paths), p.text, p.extra, p.payload)
	return id, err
}

// nextID returns the ID of the next event. It is greater than what the index
// was fed with, so that the index never takes one for fed that is not; that is
// all that AUTOINCREMENT would give, without a page to write for it.
func (t *tx) nextID() (int64, error) {
	if t.heads.lastID == 0 {
		if _, err := t.one(`SELECT max((SELECT coalesce(max(id), 0) FROM events), (SELECT upto FROM indexed))`, nil, &t.heads.lastID); err != nil {
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

func (t *tx) putCharge(h *head, event int64, c *skein.Charge, u skein.Usage) error {
	if c == nil || u == (skein.Usage{}) {
		return nil
	}
	_, _, err := t.exec(`INSERT INTO charges (event, session, user_id, request, slot, provider, model, input, output, reasoning, cache_read, cache_write, requests, reported)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		event, h.n, string(h.User), orNull(c.Request), int64(c.Time.Slot()), c.Provider, c.Model, u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite, u.Requests, u.Reported)
	return err
}
