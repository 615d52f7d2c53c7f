package sqlite

import (
	"bytes"
	"context"
	"fmt"

	"github.com/skein-dev/skein"
)

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
		if err := t.checkTombstones(p); err != nil {
			return err
		}
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
			[]any{string(client), seg.Session, int64(seg.To)}, &id, &seq, &hash)
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
