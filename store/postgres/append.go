package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/skein-dev/skein"
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(j.ctx), ownTime)
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
