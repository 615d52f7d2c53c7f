package interop

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// A flusher appends what is queued of a target to the store, and notes what became of
// it.
type flusher struct{ *target }

// flush appends what is queued: events, records and the read position, in one
// transaction. Until finish the stored file counts as changed, so that the next
// import reads it.
func (t flusher) flush(ctx context.Context) error { return t.commit(ctx, candidate{path: t.file.Path}) }

// finish appends the rest when the file has been read to its end. If reading failed
// before the end, broken is the reason.
func (t flusher) finish(ctx context.Context, broken error) error {
	if broken != nil {
		return t.commit(ctx, candidate{path: t.file.Path})
	}
	if t.w.state.Rewriting {
		if err := t.endRewriting(ctx); err != nil {
			return err
		}
	}
	if t.copies != nil {
		t.copies.follow.close()
		if t.copies.n > 0 {
			t.file.CopyOf = t.copies.last.Session
		}
	}
	now := t.w.now
	if t.left || t.w.unfinished() {
		now = candidate{path: now.path} // the file must not look unchanged
	}
	if t.idle() && unchanged(now, t.w.known) {
		return nil
	}
	return t.commit(ctx, now)
}

// endRewriting withdraws what was removed from a file that was rewritten, and
// drops the records that are no longer in it. If part of the file cannot be read, the
// withdrawals wait until it can.
func (t flusher) endRewriting(ctx context.Context) error {
	if t.main.begun {
		if err := t.begin(ctx, t.main, ""); err != nil {
			return err
		}
	}
	if t.w.state.Tail > t.file.Records {
		if err := t.flush(ctx); err != nil {
			return err
		}
		t.forget = true
	}
	t.w.state.Tail, t.w.state.Rewriting = 0, false
	if !t.w.state.Unread {
		if removed := t.w.state.Removed; len(removed) > 0 {
			t.w.state.Withdrew = true
			for _, th := range t.order {
				th.withdraw(th.stored.WithdrawRemoved(removed))
			}
		}
		t.w.state.Removed, t.w.state.Shrunk = nil, nil
	}
	if !t.forget || len(t.records) > 0 || t.file.Records == 0 {
		return nil
	}
	for r, err := range skein.SourcesOf(t.im.store).Records(ctx, t.file.Format, t.file.Path, t.file.Records-1) {
		if err == nil {
			t.records = append(t.records, r) // the others are dropped from this one on
		}
		return err
	}
	return nil
}

// idle reports whether there is nothing to append.
func (t flusher) idle() bool {
	for _, th := range t.order {
		if len(th.events) > 0 {
			return false
		}
	}
	return len(t.records) == 0 && len(t.runs) == 0 && len(t.revised) == 0 && !t.forget
}

func (t flusher) commit(ctx context.Context, now candidate) (err error) {
	t.file.Size, t.file.Mtime, t.file.Inode, t.file.Head = now.size, now.mtime, now.inode, t.w.head
	done, err := t.current(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := t.predictEnd(ctx); err != nil {
		return err
	}
	bs := t.batches()
	got, err := t.appendAll(ctx, bs)
	if err != nil {
		return err
	}
	t.receive(bs, got)
	t.im.rep.Bytes += t.bytes
	if len(t.records) > 0 || t.file.Records == 0 {
		t.forget = false
	}
	t.records, t.runs, t.revised, t.bytes = nil, nil, nil, 0
	t.w.known = t.file
	t.im.known.keep(t.file)
	return nil
}

// state returns what the next reading of the file must know.
func (t flusher) state() state {
	s := t.at
	s.Rewriting, s.Removed, s.Shrunk, s.Unread = t.w.state.Rewriting, t.w.state.Removed, t.w.state.Shrunk, t.w.state.Unread
	s.Withdrew, s.Apart = t.w.state.Withdrew, t.apart
	s.Plain = t.w.unit == nil && t.w.format.Look != nil
	s.Echoes, s.Seq, s.Tail, s.Intent, s.Reread = t.w.state.Echoes, t.ends, t.w.state.Tail, t.w.state.Intent, t.w.state.Reread
	for name, th := range t.threads {
		if name != "" && th.begun && th.id != th.begin.ID {
			if s.Sessions == nil {
				s.Sessions = map[string]skein.SessionID{}
			}
			s.Sessions[name] = th.id
		}
	}
	return s
}

// batches returns what is queued, the file's main session first. Its batch has the
// records. The file's state is the current one: it holds the ID of a session that had
// to begin under another ID, for when the file is read again.
func (t flusher) batches() []skein.Batch {
	t.file.State = t.state().encode()
	var bs []skein.Batch
	for _, th := range t.order {
		if th != t.main && (len(th.events) == 0 || th.dead) {
			continue
		}
		b := skein.Batch{Session: th.id, Blobs: th.blobs, Again: t.im.rereader.brings(th.id), Import: &skein.Import{File: t.file}}
		for _, w := range th.events {
			b.Events = append(b.Events, w.event)
		}
		if th == t.main {
			b.Import.Records, b.Import.Forget = t.records, t.forget && (len(t.records) > 0 || t.file.Records == 0)
		}
		bs = append(bs, b)
	}
	for _, r := range t.revised {
		t.runs = append(t.runs, []skein.Record{r})
	}
	t.revised = nil
	for _, r := range t.runs {
		im := skein.Import{File: t.file, Records: r}
		bs = append(bs, skein.Batch{Session: t.main.id, Import: &im, Again: t.im.rereader.brings(t.main.id)})
	}
	return bs
}

// receive notes the seqs that the store gave to the events.
func (t flusher) receive(bs []skein.Batch, got []skein.Receipt) {
	for i, b := range bs {
		t.im.rep.count(b, got[i])
		if b.Session == t.main.id && got[i].Last > 0 {
			t.main.last = got[i].Last
		}
		for _, th := range t.order {
			if th.id != b.Session || len(th.events) == 0 {
				continue
			}
			for j, w := range th.events {
				if w.index >= 0 {
					th.seqs[w.index] = got[i].Seqs[j]
				}
			}
			th.events, th.blobs = nil, nil
		}
	}
	for _, th := range t.order {
		if th.dead {
			th.events, th.blobs = nil, nil
		}
	}
}
