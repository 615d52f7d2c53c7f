package interop

import (
	"cmp"
	"context"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/jsonl"
	"github.com/skein-dev/skein/interop/reconcile"
)

// A target stores the records of one file.
type target struct {
	im      *importer
	w       *work
	claims  *uniqueKeys
	file    skein.SourceFile
	at      state
	main    *fileSession
	threads map[string]*fileSession
	order   []*fileSession
	copies  *copier // while the file is only a copy, as far as it was read; nil afterward
	apart   []apart
	last    taken            // the last record; a torn one comes again when it is longer
	records []skein.Record   // for the next flush
	runs    [][]skein.Record // earlier ones in its place that are not consecutive
	revised []skein.Record   // stored records that made events later
	bytes   int64            // of records
	forget  bool
	shrunk  map[reconcile.HashedKey]int // of state.Shrunk
	making  int                         // how many events the record being emitted makes
	left    bool                        // a torn end was left for later
	echoes  map[recordHash][]skein.Seq  // the events covered by records that were written here
	ends    skein.Seq                   // see state.Seq
	knew    bool                        // the source was known when this reading of it began
	alone   bool                        // nobody else went on with the session, as far as was checked
}

// taken is a record with its line number.
type taken struct {
	rec   skein.Record
	items bool
	line  int
}

func newTarget(im *importer, w *work) *target {
	t := &target{im: im, w: w, claims: newUniqueKeys(), threads: map[string]*fileSession{}, forget: w.forget}
	t.file = skein.SourceFile{Format: w.format.Name, Path: w.now.path, Session: w.known.Session, ID: w.known.ID, CopyOf: w.known.CopyOf}
	t.main = t.session("")
	t.apart, t.last.rec.N = w.state.Apart, -1
	t.knew, t.shrunk = w.known.Session != "", w.state.Shrunk.Counts()
	t.echoes, t.ends = w.state.Echoes.index(), w.state.Seq
	if t.main.id, t.main.begun = w.known.Session, w.known.Session != ""; !t.main.begun {
		t.copies = newCopier(t)
	}
	return t
}

func (t *target) session(name string) *fileSession {
	th := t.threads[name]
	if th == nil {
		th = &fileSession{}
		t.threads[name] = th
		t.order = append(t.order, th)
	}
	return th
}

// takeAll takes the records of a chunk.
func (t *target) takeAll(ctx context.Context, c chunk) error {
	for i := range c.reads {
		if t.copies != nil {
			if err := t.copies.lookAhead(ctx, c.reads[i:]); err != nil {
				return err
			}
		}
		if err := t.take(ctx, c.reads[i]); err != nil {
			return err
		}
	}
	t.at = c.at
	return nil
}

func (t *target) take(ctx context.Context, r read) error {
	if t.left = r.torn && t.w.patient; t.left {
		return nil
	}
	if r.rec.N == t.last.rec.N && t.last.items { // the same, with a line feed now
		r.rec.Key, r.rec.Events, r.rec.Copy = t.last.rec.Key, t.last.rec.Events, t.last.rec.Copy
		t.store(r, r.rec)
		return nil
	}
	if len(t.echoes) > 0 {
		if seqs := t.echoes[hashRecord(r.rec.Raw)]; len(seqs) > 0 {
			return t.takeEcho(ctx, r, seqs)
		}
	}
	rec := r.rec
	var again bool
	rec.Key, again = t.claims.keyOf(r)
	rec.Events = len(r.made.Items)
	if err := t.begins(ctx, rec.N, r.made.Begin); err != nil {
		return err
	}
	if t.copies != nil {
		tw, was, err := t.copies.duplicates.match(ctx, r)
		if err != nil {
			return err
		}
		if tw != nil {
			rec.Key, rec.Copy = cmp.Or(was.Key, rec.Key), len(r.made.Items) > 0
			t.copies.repeat(tw, rec.Key, r.made.Items)
			t.store(r, rec)
			return nil
		}
	}
	if rec.N >= t.w.old {
		for _, a := range r.made.Apart {
			t.apart = append(t.apart, apart{a.Of, a.Event.Kind, a.Event.Time, a.Event.Payload})
		}
	}
	var err error
	switch {
	case len(r.made.Items) == 0:
	case rec.N < t.w.old && t.copies == nil:
		t.number(rec.Key, r.made.Items)
	case again:
		rec.Copy = true
		t.number(rec.Key, r.made.Items)
	case t.copies != nil:
		err = t.copies.take(ctx, &rec, r)
	default:
		if r.made.CopyKey != "" {
			if rec.Key, err = t.inherited(ctx, rec.Key, r); err != nil {
				return err
			}
		}
		rec.Copy, err = t.emit(ctx, rec.Key, site{rec.N, r.line, r.made.Instead}, r.made.Items)
	}
	if err == nil {
		t.store(r, rec)
	}
	return err
}

// inherited returns the key of a record of a file that is read again: the key of
// the record that it may be a copy of, if its session shows everything of its
// parent that this one made; otherwise key, the record's own.
func (t *target) inherited(ctx context.Context, key skein.ClientID, r read) (skein.ClientID, error) {
	if err := t.begin(ctx, t.main, key); err != nil {
		return "", err
	}
	of := bounded(r.made.CopyKey, r.rec.Raw)
	for i, it := range r.made.Items {
		e := it.Event
		e.ClientID = reconcile.ClientID(of, i, len(r.made.Items))
		if it.Session != "" || !t.main.stored.Inherits(e) {
			return key, nil
		}
	}
	return of, nil
}

// store queues a record for the next flush, unless it is stored already.
func (t *target) store(r read, rec skein.Record) {
	again, was := rec.N == t.last.rec.N, t.last.rec.Damage
	pieces := was != "" && was == rec.Damage && t.last.line == r.line && strings.HasPrefix(was, jsonl.LongLine) // of one line
	t.last = taken{rec, len(r.made.Items) > 0, r.line}
	if again && was != "" && !pieces {
		t.file.Damaged--
	}
	if rec.Damage != "" && !pieces {
		t.file.Damaged++
	}
	t.file.Records, t.file.Offset = rec.N+1, rec.Offset+int64(len(rec.Raw))
	if rec.N < t.w.old {
		return
	}
	if t.w.stored.Has(rec) {
		return
	}
	if n := len(t.records); n > 0 && t.records[n-1].N == rec.N {
		t.records[n-1] = rec
		return
	} else if n > 0 && t.records[n-1].N+1 != rec.N {
		t.runs, t.records = append(t.runs, t.records), nil
	}
	t.records = append(t.records, rec)
	t.bytes += int64(len(rec.Raw))
	if rec.Damage != "" && !pieces {
		t.im.rep.damage(t.file.Path, r.line, rec.Damage)
	}
	if rec.Copy {
		t.im.rep.Copies++
	}
}

// number gives items that are stored their ordinals.
func (t *target) number(key skein.ClientID, items []Item) {
	for i, it := range items {
		t.session(it.Session).add(reconcile.ClientID(key, i, len(items)), 0)
	}
}

// emit reconciles the items of a record with the sessions that they belong to. It
// reports whether these sessions show all of the items of their parents already: then
// the record is a copy that is read again.
func (t *target) emit(ctx context.Context, key skein.ClientID, at site, items []Item) (copies bool, err error) {
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
		if err := th.locate(ctx, t.im.store, key, len(items)); err != nil {
			return false, err
		}
		if th.stored != nil {
			e.ClientID = th.stored.Named(key, e.ClientID, e.Kind, used)
		}
		var same skein.Seq
		if at.instead {
			e, same = t.replace(th, e)
		}
		index := th.add(e.ClientID, same)
		if same != 0 {
			copies = copies && same <= th.base
			continue
		}
		if e.Kind == skein.KindAmended && t.beyond(e, th) {
			continue // it concerns what the session shows of its parent
		}
		th.reconcile(e, it.Blobs, index, at)
		copies = copies && th.seqs[index] != 0 && th.seqs[index] <= th.base
	}
	if len(t.w.state.Shrunk) == 0 || t.w.state.Unread {
		return copies, nil
	}
	if n := t.shrunk[reconcile.HashKey(key)]; n > 0 {
		err = t.withdrawUnused(ctx, key, n, used)
	}
	return copies, err
}

// withdrawUnused withdraws the events of a record that made n events and makes fewer
// now, those in used.
func (t *target) withdrawUnused(ctx context.Context, key skein.ClientID, n int, used map[skein.ClientID]bool) error {
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
func (t *target) replace(th *fileSession, e skein.Event) (skein.Event, skein.Seq) {
	if th.stored == nil || th.stored.Seq(e.ClientID) != 0 {
		return e, 0
	}
	if removed := t.w.state.Removed; len(removed)+len(t.w.state.Shrunk) > 0 {
		th.spared = max(th.spared, th.stored.LastOf(removed))
		t.w.state.Removed, t.w.state.Shrunk = nil, nil
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
