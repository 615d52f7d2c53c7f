package postgres

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/sqlstate"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// appendGroup runs the jobs, each of which is one batch for the same session.
func (s appends) appendGroup(group []*job) {
	ctx, cancel := all(group)
	defer cancel()
	rest := group
	if group[0].simple() {
		rest = s.appendFast(ctx, group)
	}
	if len(rest) > 0 {
		s.appendLocked(ctx, rest)
	}
}

// appendLocked runs the jobs in a transaction that reads first. If the server
// refuses one of them, each is run by itself.
func (s appends) appendLocked(ctx context.Context, jobs []*job) {
	s.slow.Add(int64(len(jobs)))
	err := s.settle(ctx, jobs)
	if err != nil && len(jobs) > 1 && (errors.Is(err, errAlone) || sqlstate.Of(err) != "" && !wire.Again(err) && !errors.Is(err, skein.ErrUnknown)) {
		for _, j := range jobs {
			j.err = s.settle(j.ctx, []*job{j})
		}
		return
	}
	for _, j := range jobs {
		if err != nil {
			j.rs, j.err = nil, err
		}
	}
}

// appendFast runs those of the jobs that one statement can write, if the session is
// in the state that this process expects. It returns the other jobs; all of them, if
// the expectation was wrong.
func (s appends) appendFast(ctx context.Context, group []*job) (rest []*job) {
	forgot := s.heads.times()
	h, ok := s.heads.find(group[0].batches[0].Session)
	if !ok || !s.sees(h.User) || h.Base != 0 && h.segs == nil {
		return group
	}
	x, known := s.quotas.find(h.User)
	if !known {
		return group
	}
	w := newWork(s.view)
	w.quotas[h.User] = x
	d := newDraft(h)
	w.drafts[h.ID] = d
	var in []*job
	for _, j := range group {
		rs, err := w.job(j)
		if err != nil {
			rest = append(rest, j) // the expected state may be wrong
			continue
		}
		j.rs = rs
		in = append(in, j)
	}
	if !d.changed() || d.moves() {
		return group
	}
	moved, err := s.send(&groupWrite{ctx: ctx, s: s.view, w: w, d: d, forgot: forgot, turn: make(chan bool, 1)})
	if err != nil || !moved {
		s.heads.drop(h.ID)
	}
	switch {
	case err == nil && !moved, wire.Again(err):
		return group
	case err != nil:
		for _, j := range in {
			j.rs, j.err = nil, wire.Classify(err)
		}
		return rest
	}
	s.heads.keep(d.head)
	s.quotas.use(d.User, d.grew)
	s.stored(len(d.events.at), d.ID)
	return rest
}
