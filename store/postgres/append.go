package postgres

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// A job is one call of Append.
type job struct {
	ctx     context.Context
	batches []packed
	turn    chan bool // true: it has its answer; false: it is to lead the waiting jobs

	rs  []skein.Receipt
	err error
}

// Append implements [skein.Store].
func (s appends) Append(ctx context.Context, batches ...skein.Batch) (rs []skein.Receipt, err error) {
	defer skein.Wrapf(&err, "postgres: append to %s", target(batches))
	leave, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	j := &job{ctx: ctx, batches: make([]packed, len(batches)), turn: make(chan bool, 1)}
	for i := range batches {
		if j.batches[i], err = s.packBatch(batches[i]); err != nil {
			return nil, err
		}
	}
	switch {
	case len(batches) == 0:
		return nil, nil
	case len(batches) == 1 && batches[0].Session != "":
		s.inLine(j)
	default:
		j.err = s.settle(ctx, []*job{j})
	}
	if errors.Is(j.err, skein.ErrUnknown) && j.named() {
		s.settleUnknown(j)
	}
	if j.err != nil {
		return nil, j.err
	}
	return j.rs, nil
}

// settleUnknown sends a job again, once, that may have been stored: the client IDs
// keep it from being stored twice. Only success counts as an answer; any other
// result may change until the server has given up the lost transaction.
func (s appends) settleUnknown(j *job) {
	unknown := j.err
	ctx, cancel := context.WithTimeout(context.WithoutCancel(j.ctx), wire.OwnTime)
	defer cancel()
	if err := s.settle(ctx, []*job{j}); err != nil {
		j.rs, j.err = nil, unknown
		return
	}
	j.err = nil
}

// named reports whether all events of j have client IDs.
func (j *job) named() bool {
	for i := range j.batches {
		for k := range j.batches[i].events {
			if j.batches[i].events[k].ClientID == "" {
				return false
			}
		}
	}
	return true
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

// A packed is a batch with everything that can be computed without the database.
type packed struct {
	skein.Batch
	events []ledger.Event
	blobs  map[skein.Hash]pack.Blob
	blocks []pack.WholeBlock // of the import's records
}

func (s appends) packBatch(b skein.Batch) (p packed, err error) {
	p.Batch = b
	if err := ledger.Check(&b); err != nil {
		return p, err
	}
	p.events = make([]ledger.Event, len(b.Events))
	for i, e := range b.Events {
		if p.events[i], err = ledger.View(s.user).Read(e); err != nil {
			return p, err
		}
	}
	for _, blob := range b.Blobs {
		if p.blobs == nil {
			p.blobs = map[skein.Hash]pack.Blob{}
		}
		if p.blobs[blob.Hash], err = s.pack.Blob(blob); err != nil {
			return p, err
		}
	}
	if b.Import != nil {
		p.blocks = s.pack.WholeBlocks(b.Import.Records)
	}
	return p, nil
}

// lockKey returns the key of the advisory lock for what parts name.
func lockKey(parts ...string) int64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return int64(h.Sum64())
}
