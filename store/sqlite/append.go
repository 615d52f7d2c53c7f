package sqlite

import (
	"context"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/txn"
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
	err = s.write(ctx, func(t *txn.Tx) error {
		rs = make([]skein.Receipt, len(ps))
		c := &call{t, s.view, map[string]pack.Blob{}}
		stored := 0
		for i := range ps {
			if rs[i], err = c.batch(&ps[i]); err != nil {
				return err
			}
			stored += rs[i].New
		}
		t.OnCommit(func() { s.appended(stored) })
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

// A call is one Append inside its transaction.
type call struct {
	*txn.Tx
	s       *view
	brought map[string]pack.Blob // blobs of the batches so far, by hash
}

// batch writes one batch.
func (t *call) batch(p *packed) (r skein.Receipt, err error) {
	if p.Session == "" {
		return r, t.putImport(p, nil)
	}
	was, err := t.Head(p.Session)
	if err != nil {
		return r, err
	}
	for _, b := range p.blobs {
		t.brought[string(b.Hash)] = b
	}
	h := was
	k := &book{call: t, p: p, h: &h, was: &was}
	if r, err = ledger.Append(k, ledger.View(t.s.user), &h.Head, &p.Batch); err != nil {
		return r, err
	}
	if err := t.putImport(p, &h); err != nil {
		return r, err
	}
	if r.New > 0 || h.Bytes != was.Bytes {
		if err := t.PutHead(&was, &h); err != nil {
			return r, err
		}
		t.Touch(p.Session)
	}
	return r, nil
}
