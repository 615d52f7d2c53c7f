package importer

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/jsonl"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/records"
)

// An outbox is what is to be stored of one source: the sessions with their events, the
// records, and what the next reading must know.
type outbox struct {
	outlet
	Job     *records.FileJob
	file    skein.SourceFile
	at      records.FileState // how far the records go
	apart   []records.StoredApart
	ends    skein.Seq // see state.Seq
	Knew    bool      // the source was known when this reading of it began
	main    *fileSession
	threads map[string]*fileSession
	order   []*fileSession
	last    taken            // the last record; a torn one comes again when it is longer
	records []skein.Record   // for the next flush
	runs    [][]skein.Record // earlier ones in its place that are not consecutive
	revised []skein.Record   // stored records that made events later
	bytes   int64            // of records
	forget  bool             // the stored records from the first of records on are no longer in the source
}

// taken is a record with its line number.
type taken struct {
	rec   skein.Record
	items bool
	line  int
}

func (o *outbox) session(name string) *fileSession {
	th := o.threads[name]
	if th == nil {
		th = &fileSession{}
		o.threads[name] = th
		o.order = append(o.order, th)
	}
	return th
}

// record queues a record for the next flush, unless it is stored already.
func (o *outbox) record(r records.ReadRecord, rec skein.Record) {
	again, was := rec.N == o.last.rec.N, o.last.rec.Damage
	pieces := was != "" && was == rec.Damage && o.last.line == r.Line && strings.HasPrefix(was, jsonl.LongLine) // of one line
	o.last = taken{rec, len(r.Made.Items) > 0, r.Line}
	if again && was != "" && !pieces {
		o.file.Damaged--
	}
	if rec.Damage != "" && !pieces {
		o.file.Damaged++
	}
	o.file.Records, o.file.Offset = rec.N+1, rec.Offset+int64(len(rec.Raw))
	if rec.N < o.Job.Old {
		return
	}
	if o.Job.Stored.Has(rec) {
		return
	}
	if n := len(o.records); n > 0 && o.records[n-1].N == rec.N {
		o.records[n-1] = rec
		return
	} else if n > 0 && o.records[n-1].N+1 != rec.N {
		o.runs, o.records = append(o.runs, o.records), nil
	}
	o.records = append(o.records, rec)
	o.bytes += int64(len(rec.Raw))
	if rec.Damage != "" && !pieces {
		o.rep.AddDamage(o.file.Path, r.Line, rec.Damage)
	}
	if rec.Copy {
		o.rep.Copies++
	}
}

// revise queues an earlier record once more, as it is now.
func (o *outbox) revise(rec skein.Record) {
	i, found := slices.BinarySearchFunc(o.records, rec.N, func(r skein.Record, n int) int { return r.N - n })
	if found {
		o.records[i] = rec
		return
	}
	o.revised = append(o.revised, rec)
}

// flush appends what is queued: events, records and the read position, in one
// transaction. Until the source was read to its end, the stored file counts as changed, so that the next
// import reads it.
func (o *outbox) flush(ctx context.Context) error { return o.commit(ctx, disk.File{Path: o.file.Path}) }

// idle reports whether there is nothing to append.
func (o *outbox) idle() bool {
	for _, th := range o.order {
		if len(th.events) > 0 {
			return false
		}
	}
	return len(o.records) == 0 && len(o.runs) == 0 && len(o.revised) == 0 && !o.forget
}

// commit is flush, with what the file looks like by now.
func (o *outbox) commit(ctx context.Context, now disk.File) (err error) {
	o.file.Size, o.file.Mtime, o.file.Inode, o.file.Head = now.Size, now.Mtime, now.Inode, o.Job.Head
	done, err := o.current(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := o.predictEnd(ctx); err != nil {
		return err
	}
	bs := o.batches()
	got, err := o.appendAll(ctx, bs)
	if err != nil {
		return err
	}
	o.receive(bs, got)
	o.rep.Bytes += o.bytes
	if len(o.records) > 0 || o.file.Records == 0 {
		o.forget = false
	}
	o.records, o.runs, o.revised, o.bytes = nil, nil, nil, 0
	o.Job.Known = o.file
	o.known.Keep(o.file)
	return nil
}

// predictEnd computes where the main session will end when what is queued has been
// appended.
func (o *outbox) predictEnd(ctx context.Context) error {
	if len(o.main.events) == 0 {
		return nil
	}
	if o.main.last == 0 && (o.main.shared || o.main.events[0].event.Kind != skein.KindCreated) {
		s, err := o.store.Session(ctx, o.main.id)
		if err != nil && !errors.Is(err, skein.ErrNotFound) {
			return err
		}
		o.main.last = s.Last
	}
	o.ends = max(o.main.last, o.main.base) + skein.Seq(len(o.main.events))
	return nil
}

// current returns errTaken if what was read must not be stored: a sync is writing
// to the source, or somebody else has stored something of it since. Nobody does so
// before done is called.
func (o *outbox) current(ctx context.Context) (done func() error, err error) {
	done = func() error { return nil }
	if o.rep.Own != nil || !o.Knew || o.Job.Format.Write == nil {
		return done, nil
	}
	unit := o.Job.Now.Path
	if o.Job.Unit != nil {
		unit = o.Job.Unit.Path
	}
	if o.isRecent() || o.Job.State.Intent != nil {
		if o.Watcher != nil {
			done, err = records.TryHold(ctx, o.store, "skein import", unit)
		} else {
			done, err = records.Hold(ctx, o.store, "skein import", unit, records.Impatience)
		}
		switch {
		case errors.Is(err, skein.ErrLocked):
			return nil, errTaken
		case err != nil:
			return nil, err
		}
	}
	f, err := skein.SourcesOf(o.store).File(ctx, o.file.Format, o.file.Path)
	switch {
	case errors.Is(err, skein.ErrNotFound):
		return done, nil
	case err == nil && !isAs(f, o.Job.Known):
		o.known.Keep(f)
		err = errTaken
	}
	if err != nil {
		return nil, errors.Join(err, done())
	}
	return done, nil
}

// IsRecent reports whether the source changed so recently that a sync may have
// changed it.
func (o *outbox) isRecent() bool {
	if o.Job.Unit == nil {
		return discover.IsMoving(o.Job.Now)
	}
	return len(o.Job.Unit.Files) == 0 || slices.ContainsFunc(o.Job.Unit.Files, discover.IsMoving)
}

// isAs reports whether the same amount is stored of both sources.
func isAs(a, b skein.SourceFile) bool {
	was, is := records.DecodeState(a.State), records.DecodeState(b.State)
	return a.Session == b.Session && a.Records == b.Records && was.Sum == is.Sum && bytes.Equal(was.Echoes, is.Echoes) && was.Intent.Same(is.Intent)
}

// state returns what the next reading of the file must know.
func (o *outbox) state() records.FileState {
	s := o.at
	s.Rewriting, s.Removed, s.Shrunk, s.Unread = o.Job.State.Rewriting, o.Job.State.Removed, o.Job.State.Shrunk, o.Job.State.Unread
	s.Withdrew, s.Apart, s.Back = o.Job.State.Withdrew, o.apart, o.Job.State.Back
	s.Elsewhere, s.Spent, s.Gone = o.Job.State.Elsewhere, o.Job.State.Spent, o.Job.State.Gone
	s.Plain = o.Job.Unit == nil && o.Job.Format.Look != nil
	s.Lone = o.Job.Unit != nil && records.IsLone(o.Job.Unit.Unit)
	s.Echoes, s.Seq, s.Tail, s.Intent, s.Reread = o.Job.State.Echoes, o.ends, o.Job.State.Tail, o.Job.State.Intent, o.Job.State.Reread
	for name, th := range o.threads {
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
func (o *outbox) batches() []skein.Batch {
	o.file.State = o.state().Encode()
	var bs []skein.Batch
	for _, th := range o.order {
		if th != o.main && (len(th.events) == 0 || th.dead) {
			continue
		}
		b := skein.Batch{Session: th.id, Blobs: th.blobs, Again: o.rereader.brings(th.id), Import: &skein.Import{File: o.file}}
		for _, w := range th.events {
			b.Events = append(b.Events, w.event)
		}
		if th == o.main {
			b.Import.Records, b.Import.Forget = o.records, o.forget && (len(o.records) > 0 || o.file.Records == 0)
		}
		bs = append(bs, b)
	}
	for _, r := range o.revised {
		o.runs = append(o.runs, []skein.Record{r})
	}
	o.revised = nil
	for _, r := range o.runs {
		im := skein.Import{File: o.file, Records: r}
		bs = append(bs, skein.Batch{Session: o.main.id, Import: &im, Again: o.rereader.brings(o.main.id)})
	}
	return bs
}

// receive notes the seqs that the store gave to the events.
func (o *outbox) receive(bs []skein.Batch, got []skein.Receipt) {
	for i, b := range bs {
		o.rep.AddBatch(b, got[i])
		if b.Session == o.main.id && got[i].Last > 0 {
			o.main.last = got[i].Last
		}
		for _, th := range o.order {
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
	for _, th := range o.order {
		if th.dead {
			th.events, th.blobs = nil, nil
		}
	}
}
