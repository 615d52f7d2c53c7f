package importer

import (
	"cmp"
	"context"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/reconcile"
	"github.com/skein-dev/skein/interop/records"
)

// A Target turns the records of one source into events of its sessions.
type Target struct {
	outbox
	claims *records.UniqueKeys
	copies *copier                            // while the file is only a copy, as far as it was read; nil afterward
	shrunk map[reconcile.HashedKey]int        // of state.Shrunk
	making int                                // how many events the record being emitted makes
	left   bool                               // a torn end was left for later
	echoes map[records.RecordHash][]skein.Seq // the events covered by records that were written here
	taped  *tapedSession                      // what was recorded of the conversation; nil for nothing
	sought bool                               // that was looked for
	alone  bool                               // nobody else continued with the session, as far as was checked
}

func newTarget(o outlet, w *records.FileJob) *Target {
	known := w.Known.Session != ""
	main := &fileSession{id: w.Known.Session, begun: known}
	t := &Target{
		outbox: outbox{
			outlet: o, Job: w, apart: w.State.Apart, ends: w.State.Seq, Knew: known, forget: w.Forget,
			file: skein.SourceFile{Format: w.Format.Name, Path: w.Now.Path, Session: w.Known.Session, ID: w.Known.ID, CopyOf: w.Known.CopyOf},
			main: main, threads: map[string]*fileSession{"": main}, order: []*fileSession{main}, last: taken{rec: skein.Record{N: -1}},
		},
		claims: records.NewUniqueKeys(), shrunk: w.State.Shrunk.Counts(), echoes: w.State.Echoes.Index(),
	}
	if !known {
		t.copies = newCopier(o, w, &t.file)
	}
	return t
}

// GoOn prepares to read what was added to a source since it was read to its end.
func (t *Target) GoOn() { t.alone, t.Knew, t.taped, t.sought = false, true, nil, false }

// takeAll takes the records of a chunk, and stores them if there are enough or it is
// the last one.
func (t *Target) takeAll(ctx context.Context, c records.Chunk) error {
	for i := range c.Reads {
		if t.copies != nil {
			if err := t.copies.lookAhead(ctx, c.Reads[i:]); err != nil {
				return err
			}
		}
		if err := t.take(ctx, c.Reads[i]); err != nil {
			return err
		}
	}
	t.at = c.At
	switch {
	case c.End && c.Err == nil:
		return t.finish(ctx)
	case c.End, t.bytes >= records.ChunkBytes, len(t.records) >= records.ChunkRecords:
		return t.flush(ctx)
	}
	return nil
}

// take takes a record.
func (t *Target) take(ctx context.Context, r records.ReadRecord) (err error) {
	if t.left = r.Torn && t.Job.Patient; t.left {
		return nil
	}
	if r.Rec.N == t.last.rec.N && t.last.items { // the same, with a line feed now
		r.Rec.Key, r.Rec.Events, r.Rec.Copy = t.last.rec.Key, t.last.rec.Events, t.last.rec.Copy
		t.record(r, r.Rec)
		return nil
	}
	rec, items := r.Rec, r.Made.Items
	key, again := t.claims.KeyOf(r)
	t.begins(rec.N, r.Made.Begin)
	if err := t.findTaped(ctx); err != nil {
		return err
	}
	if err := t.followTurns(ctx, r.Made.Items); err != nil {
		return err
	}
	if t.isEcho(r, key) || t.isTaped(r, key) {
		t.record(r, rec)
		return nil
	}
	rec.Key, rec.Events = key, len(items)
	twin, was, err := t.duplicate(ctx, r)
	if err != nil {
		return err
	}
	if rec.N >= t.Job.Old && twin == nil {
		for _, a := range r.Made.Apart {
			t.apart = append(t.apart, records.StoredApart{Of: a.Of, Kind: a.Event.Kind, Time: a.Event.Time, Payload: a.Event.Payload})
		}
	}
	switch {
	case twin != nil:
		rec.Key, rec.Copy = cmp.Or(was.Key, rec.Key), len(items) > 0
		t.repeat(twin, rec.Key, items)
	case len(items) == 0:
	case rec.N < t.Job.Old && t.copies == nil:
		t.number(rec.Key, items, unknownSeq)
	case again:
		rec.Copy = true
		t.number(rec.Key, items, unknownSeq)
	case t.copies != nil:
		err = t.takeCopy(ctx, &rec, r)
	default:
		err = t.takeOwn(ctx, &rec, r)
	}
	if err == nil {
		t.record(r, rec)
	}
	return err
}

// isEcho takes a record with this key if it was written here, from events that the
// session has: it makes no events, but its items get their ordinals.
func (t *Target) isEcho(r records.ReadRecord, key skein.ClientID) bool {
	if len(t.echoes) == 0 {
		return false
	}
	h := records.HashRecord(r.Rec.Raw)
	seqs := t.echoes[h]
	if len(seqs) == 0 {
		return false
	}
	t.echoes[h] = seqs[1:]
	t.number(key, r.Made.Items, func(int) skein.Seq { return seqs[0] })
	return true
}

// takeOwn takes a record of a source that has a session.
func (t *Target) takeOwn(ctx context.Context, rec *skein.Record, r records.ReadRecord) (err error) {
	if r.Made.CopyKey != "" {
		if rec.Key, err = t.inherited(ctx, rec.Key, r); err != nil {
			return err
		}
	}
	rec.Copy, err = t.emit(ctx, rec.Key, filePos{rec.N, r.Line, r.Made.Instead}, r.Made.Items)
	return err
}

// duplicate returns the duplicate of the file that has a record too, and the record as
// it is in that one; nil if there is none.
func (t *Target) duplicate(ctx context.Context, r records.ReadRecord) (*duplicate, skein.Record, error) {
	if t.copies == nil {
		return nil, skein.Record{}, nil
	}
	return t.copies.duplicates.match(ctx, t.file, r)
}

// repeat notes where the items of a record that a duplicate also has are.
func (t *Target) repeat(tw *duplicate, key skein.ClientID, items []interop.Item) {
	c, id := t.copies, tw.file.Session
	for i, it := range items {
		th := t.session(it.Session)
		seq := tw.seqs[reconcile.ClientID(key, i, len(items))]
		th.add(&it, reconcile.ClientID(key, i, len(items)), seq)
		if it.Session != "" {
			th.id, th.begun, th.shared = th.begin.ID, true, true
			if other, ok := tw.sessions[it.Session]; ok {
				th.id = other
			}
			continue
		}
		if seq == 0 && c.last.Session == id {
			continue
		}
		seq = max(1, seq)
		far := max(c.furthest[id], seq, tw.amended[seq])
		c.shares(skein.Place{Session: id, Seq: tw.end(seq, far)}, far)
	}
	if len(items) > 0 {
		c.n++
	}
}

// takeCopy takes a record of a file that was a copy so far: as a copy, as one to hold
// back, or as the first one that only this file has, which begins the session.
func (t *Target) takeCopy(ctx context.Context, rec *skein.Record, r records.ReadRecord) error {
	items := r.Made.Items
	switch key, places, err := t.copies.copyOf(ctx, rec.Key, r); {
	case err != nil:
		return err
	case places != nil:
		rec.Key, rec.Copy = key, true
		t.share(key, items, places)
		return nil
	}
	if t.copies.holds(r) {
		t.copies.hold(*rec, r.Line, items, t.number(rec.Key, items, unknownSeq))
		rec.Events = 0
		return nil
	}
	t.Job.Old = min(t.Job.Old, rec.N) // what follows was stored as copies, but is not
	if err := t.own(ctx, rec.Key); err != nil {
		return err
	}
	_, err := t.emit(ctx, rec.Key, filePos{n: rec.N, line: r.Line}, items)
	return err
}

// share notes where the items of a copy are.
func (t *Target) share(key skein.ClientID, items []interop.Item, places []skein.Place) {
	t.number(key, items, func(i int) skein.Seq { return places[i].Seq })
	for i, it := range items {
		p, th := places[i], t.session(it.Session)
		if it.Session == "" {
			t.copies.shares(p, p.Seq)
		} else {
			th.id, th.begun, th.shared = p.Session, true, true
		}
	}
	t.copies.n++
}

// own creates the session and queues what was held back: the file is no copy.
func (t *Target) own(ctx context.Context, key skein.ClientID) error {
	defer t.copies.follow.close()
	if err := t.begin(ctx, t.main, key); err != nil {
		return err
	}
	held := t.copies.held
	t.copies = nil
	for _, h := range held {
		for i, it := range h.items {
			th := t.session(it.Session)
			if err := t.begin(ctx, th, h.rec.Key); err != nil {
				return err
			}
			e, err := t.place(ctx, th, it)
			if err != nil {
				return err
			}
			e.ClientID = reconcile.ClientID(h.rec.Key, i, len(h.items))
			th.reconcile(e, it.Blobs, h.indexes[i], filePos{n: h.rec.N, line: h.line})
		}
		h.rec.Events = len(h.items)
		t.revise(h.rec)
	}
	return nil
}

// inherited returns the key of a record of a file that is read again: the key of
// the record that it may be a copy of, if its session shows everything of its
// parent that this one made; otherwise key, the record's own.
func (t *Target) inherited(ctx context.Context, key skein.ClientID, r records.ReadRecord) (skein.ClientID, error) {
	if err := t.begin(ctx, t.main, key); err != nil {
		return "", err
	}
	for i, it := range r.Made.Items {
		e := it.Event
		e.ClientID = reconcile.ClientID(r.Made.CopyKey, i, len(r.Made.Items))
		if it.Session != "" || !t.main.stored.Inherits(e) {
			return key, nil
		}
	}
	return r.Made.CopyKey, nil
}

// number gives the items of a record their ordinals, and returns them. at says where an
// item is stored; 0 if that is not known.
func (t *Target) number(key skein.ClientID, items []interop.Item, at func(i int) skein.Seq) (ordinals []int) {
	for i, it := range items {
		ordinals = append(ordinals, t.session(it.Session).add(&it, reconcile.ClientID(key, i, len(items)), at(i)))
	}
	return ordinals
}

func unknownSeq(int) skein.Seq { return 0 }

// emit reconciles the items of a record with the sessions that they belong to. It
// reports whether these sessions show all of the items of their parents already: then
// the record is a copy that is read again.
func (t *Target) emit(ctx context.Context, key skein.ClientID, at filePos, items []interop.Item) (copies bool, err error) {
	copies, t.making = true, len(items)
	used := map[skein.ClientID]bool{}
	if err := t.forkIfDiverged(ctx, key, items); err != nil {
		return false, err
	}
	for i, it := range items {
		th := t.session(it.Session)
		if err := t.begin(ctx, th, key); err != nil {
			return false, err
		}
		e, err := t.place(ctx, th, it)
		if err != nil {
			return false, err
		}
		e.ClientID = reconcile.ClientID(key, i, len(items))
		if err := th.locate(ctx, t.store, key, len(items)); err != nil {
			return false, err
		}
		if th.stored != nil {
			e.ClientID = th.stored.Named(key, e.ClientID, e.Kind, used)
		}
		var same skein.Seq
		if at.instead {
			e, same = t.replace(th, e)
		}
		index := th.add(&it, e.ClientID, same)
		if same != 0 {
			copies = copies && same <= th.base
			continue
		}
		if e.Kind == skein.KindAmended && th.inherits(e) {
			if err := t.sayAgain(ctx, th, e); err != nil {
				return false, err
			}
			continue
		}
		th.reconcile(e, it.Blobs, index, at)
		copies = copies && th.seqs[index] != 0 && th.seqs[index] <= th.base
	}
	if len(t.Job.State.Shrunk) == 0 || t.Job.State.Unread {
		return copies, nil
	}
	if n := t.shrunk[reconcile.HashKey(key)]; n > 0 {
		err = t.withdrawUnused(ctx, key, n, used)
	}
	return copies, err
}

// withdrawUnused withdraws the events of a record that made n events and makes fewer
// now, those in used.
func (t *Target) withdrawUnused(ctx context.Context, key skein.ClientID, n int, used map[skein.ClientID]bool) error {
	for _, th := range t.order {
		if !th.begun {
			continue
		}
		if err := t.begin(ctx, th, key); err != nil { // it loads what the store has
			return err
		}
		th.withdraw(th.stored.WithdrawUnused(key, n, used))
	}
	return nil
}

// replace takes an event of a record that replaces others which its program has
// removed: the events of those are not withdrawn. It returns the event, which covers
// them if it is a compaction, and, if it is a message, the seq at which the session has
// it already.
func (t *Target) replace(th *fileSession, e skein.Event) (skein.Event, skein.Seq) {
	if th.stored == nil || th.stored.Seq(e.ClientID) != 0 {
		return e, 0
	}
	if removed := t.Job.State.Removed; len(removed)+len(t.Job.State.Shrunk) > 0 {
		th.spared = max(th.spared, th.stored.LastOf(removed))
		t.Job.State.Removed, t.Job.State.Shrunk = nil, nil
	}
	switch e.Kind {
	case skein.KindCompacted:
		if c, err := skein.Decode[skein.Compacted](e); err == nil {
			c.To = max(c.To, th.spared)
			e.Payload = skein.MustJSON(c)
		}
	case skein.KindSaid:
		return e, th.stored.Like(e)
	}
	return e, 0
}

// finish appends the rest when the file has been read to its end.
func (t *Target) finish(ctx context.Context) error {
	if t.Job.State.Rewriting {
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
	if err := t.findTaped(ctx); err != nil {
		return err
	}
	waits, err := t.queueSpent(ctx)
	if err != nil {
		return err
	}
	now := t.Job.Now
	if waits || t.left || t.Job.Unfinished() {
		now = disk.File{Path: now.Path} // the file must not look unchanged
	}
	if t.idle() && records.Unchanged(now, t.Job.Known) {
		return nil
	}
	return t.commit(ctx, now)
}

// endRewriting withdraws what was removed from a file that was rewritten, and
// drops the records that are no longer in it. If part of the file cannot be read, the
// withdrawals wait until it can.
func (t *Target) endRewriting(ctx context.Context) error {
	if t.main.begun {
		if err := t.begin(ctx, t.main, ""); err != nil {
			return err
		}
	}
	if t.Job.State.Tail > t.file.Records {
		if err := t.flush(ctx); err != nil {
			return err
		}
		t.forget = true
	}
	t.Job.State.Tail, t.Job.State.Rewriting = 0, false
	gone := slices.Concat(t.Job.State.Removed, t.Job.State.Shrunk).Made()
	if !t.Job.State.Unread {
		if removed := t.Job.State.Removed; len(removed) > 0 {
			t.Job.State.Withdrew = true
			for _, th := range t.order {
				th.withdraw(th.stored.WithdrawRemoved(removed))
			}
		}
		t.Job.State.Removed, t.Job.State.Shrunk = nil, nil
	}
	for _, th := range t.order {
		if err := t.showAsRead(ctx, th, gone); err != nil {
			return err
		}
	}
	if !t.forget || len(t.records) > 0 || t.file.Records == 0 {
		return nil
	}
	for r, err := range skein.SourcesOf(t.store).Records(ctx, t.file.Format, t.file.Path, t.file.Records-1) {
		if err == nil {
			t.records = append(t.records, r) // the others are dropped from this one on
		}
		return err
	}
	return nil
}
