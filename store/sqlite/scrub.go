package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
	"github.com/skein-dev/skein/store/sqlite/purge"
	"github.com/skein-dev/skein/store/sqlite/textindex"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// scrubPatience is how long Scrub waits for readers of an earlier state before
// it reports them.
const scrubPatience = 2 * time.Second

// Scrub implements [skein.Lifecycle]. It is one transaction, however long that
// takes; after it, the index, the free pages and the log are swept.
func (s *lifecycle) Scrub(ctx context.Context, id skein.SessionID, secrets []string) (done skein.Scrubbed, err error) {
	defer skein.Wrapf(&err, "sqlite: scrub %s", id)
	leave, err := s.enter()
	if err != nil {
		return done, err
	}
	defer leave()
	err = s.write(ctx, func(t *txn.Tx) error {
		m, err := erase.NewMasker(secrets)
		if err != nil {
			return err
		}
		sc := &scrub{s: s, Tx: t, Masker: m, heads: map[int64]bool{}, first: map[int64]skein.Seq{}}
		if err := sc.run(id); err != nil {
			return err
		}
		done = sc.Done
		return purge.Owe(t)
	})
	if err != nil {
		return skein.Scrubbed{}, err
	}
	if err := s.beyond(ctx, &done); err != nil {
		return done, err
	}
	clean := cleaner{s.core}
	if err := clean.sweep(ctx); err != nil && !errors.Is(err, skein.ErrLocked) {
		return done, err
	}
	short, cancel := context.WithTimeout(ctx, scrubPatience) // most readers are done in a moment
	defer cancel()
	if err := clean.swept(short); err != nil && (ctx.Err() != nil || short.Err() == nil) {
		return done, err
	}
	done.Pending, err = clean.left(ctx)
	return done, err
}

// beyond lists the copies that a scrub cannot reach.
func (s *lifecycle) beyond(ctx context.Context, done *skein.Scrubbed) error {
	all, err := (&backupMaker{s.view}).Copies(ctx)
	for _, c := range all {
		if c.Gone {
			done.Moved = append(done.Moved, c.Path)
		} else {
			done.Beyond = append(done.Beyond, c.Path)
		}
	}
	return err
}

// A scrub is one call of Scrub in its transaction.
type scrub struct {
	s *lifecycle
	*txn.Tx
	*erase.Masker
	heads map[int64]bool      // numbers of the sessions whose rows change
	first map[int64]skein.Seq // the first changed event of each session that has any
}

func (sc *scrub) run(id skein.SessionID) error {
	h, err := sc.s.own(sc.Tx, id)
	if err != nil {
		return err
	}
	segs, err := headSegments(sc.Tx, &h)
	if err != nil {
		return err
	}
	for _, seg := range segs {
		if err := sc.findBlobs(seg); err != nil {
			return err
		}
	}
	for _, seg := range segs {
		if err := sc.events(seg); err != nil {
			return err
		}
	}
	if err := sc.shown(h); err != nil {
		return err
	}
	for _, n := range slices.Sorted(maps.Keys(sc.heads)) { // parents first
		if err := sc.refold(n); err != nil {
			return err
		}
	}
	return sc.s.note(sc.Tx, id, sc.Note(sc.Now))
}

// findBlobs finds the blobs with a secret that the events of seg refer to.
func (sc *scrub) findBlobs(seg walk.Segment) error {
	return sc.Query(`SELECT DISTINCT b.hash, b.form, b.data FROM events e JOIN blob_refs r ON r.event = e.id JOIN blobs b ON b.hash = r.hash
		WHERE e.session = ? AND e.seq > ? AND e.seq <= ?`, []any{seg.Session, int64(seg.From), int64(seg.To)}, func(row []driver.Value) error {
		var hash, stored []byte
		var form int64
		if err := engine.Scan(row, []any{&hash, &form, &stored}); err != nil {
			return err
		}
		h := skein.Hash(hex.EncodeToString(hash))
		data, err := sc.s.pack.UnpackBlob(h, int(form), stored)
		return sc.Blob(h, data, err)
	})
}

// events masks the secrets in the events of seg, page by page.
func (sc *scrub) events(seg walk.Segment) error {
	page := func(after skein.Seq) (page []scrubEvent, err error) {
		err = sc.Query(`SELECT `+columns.EventColumns+`, e.id FROM events e
			WHERE e.session = ? AND e.seq > ? AND e.seq <= ? ORDER BY e.seq LIMIT ?`,
			[]any{seg.Session, int64(after), int64(seg.To), eventlog.PageRows}, func(row []driver.Value) error {
				x := scrubEvent{session: seg.Session}
				x.id, _ = row[columns.EventWidth].(int64)
				var err error
				x.e, _, err = columns.ScanEvent(sc.s.pack, row[:columns.EventWidth])
				if bad := (*skein.DamagedError)(nil); errors.As(err, &bad) {
					x.damaged, err = true, nil
				}
				page = append(page, x)
				return err
			})
		return page, err
	}
	return erase.EventRun[scrubEvent]{After: seg.From, Upto: seg.To, Page: page, Seq: func(x *scrubEvent) skein.Seq { return x.e.Seq }}.Each(sc.Masker, sc.look)
}

// A scrubEvent is an event to be scrubbed.
type scrubEvent struct {
	id, session int64
	e           skein.Event // without a payload, if it cannot be read
	damaged     bool
}

// look masks the secrets in an event, and counts it if it changed.
func (sc *scrub) look(x *scrubEvent) error {
	changed, err := sc.event(x)
	if x.damaged {
		sc.Done.Unread = append(sc.Done.Unread, x.e.Seq)
		if errors.Is(err, skein.ErrInvalid) || len(x.e.Payload) == 0 {
			changed, err = sc.bytes(x)
		}
		err = cmp.Or(err, sc.dropRefs(x.id, nil)) // it is unknown which blobs the event names
	}
	if err != nil || !changed {
		return err
	}
	if sc.first[x.session] == 0 {
		sc.first[x.session] = x.e.Seq
	}
	sc.Done.Events++
	return nil
}

// bytes masks the secrets in the bytes of a damaged event that cannot be
// decoded, and reports whether there were any.
func (sc *scrub) bytes(x *scrubEvent) (changed bool, err error) {
	var columns []any
	err = sc.Query(`SELECT e.text, e.extra, e.tools, e.paths FROM events e WHERE e.id = ?`, []any{x.id}, func(row []driver.Value) error {
		for _, v := range row {
			if text, ok := v.(string); ok {
				clean, found := sc.Mask([]byte(text))
				v, changed = string(clean), changed || found
			}
			columns = append(columns, v)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	payload, found := sc.Mask(x.e.Payload)
	if found = found && payload[0] >= ' '; found { // otherwise it would be taken for a packed one
		_, _, err = sc.Exec(`UPDATE events SET payload = ? WHERE id = ?`, payload, x.id)
	}
	if err == nil && changed {
		err = textindex.ChangeText(sc.Tx, x.id, `UPDATE events SET text = ?, extra = ?, tools = ?, paths = ? WHERE id = ?`, append(columns, x.id)...)
	}
	return changed || found, err
}

// event masks the secrets in one event and reports whether it had any.
func (sc *scrub) event(x *scrubEvent) (changed bool, err error) {
	id, e := x.id, x.e
	var moved []skein.Blob
	e.Payload, moved, changed = sc.Payload(e.Payload)
	if !changed {
		return false, nil
	}
	var p packedEvent
	err = sc.s.packEvent(&p, e)
	if err == nil {
		err = sc.packNow(x.session, &p)
	}
	if err != nil {
		return false, erase.NoLongerValid(e.Seq, err)
	}
	for _, b := range moved {
		pb, err := sc.s.pack.Blob(b)
		if err != nil {
			return false, err
		}
		if err := putBlob(sc.Tx, pb); err != nil {
			return false, err
		}
	}
	if len(moved) > 0 {
		if err := putRefs(sc.Tx, id, p.now.Blobs); err != nil {
			return false, err
		}
		if err := sc.dropRefs(id, p.now.Blobs); err != nil {
			return false, err
		}
	}
	// Without a hash, its client ID matches whatever the content: it is no
	// longer possible to tell what the content was. The checksum of a damaged
	// event stays: a new one would make it look intact.
	err = textindex.ChangeText(sc.Tx, id, `UPDATE events SET hash = CASE WHEN ?1 AND sum IS NULL THEN hash END, tools = ?2, paths = ?3, text = ?4, extra = ?5, payload = ?6,
		sum = CASE WHEN ?1 THEN sum ELSE ?7 END, items = ?8 WHERE id = ?9`,
		x.damaged, lines(p.now.Tools), lines(p.now.Paths), p.text, p.extra, p.payload, columns.Sum(&p.Event.Event, p.now.Text), p.items, id)
	if err == nil {
		err = textindex.PutEdits(sc.Tx, sc.s.pack, id)
	}
	return true, err
}

// packNow sets the values of p's row, if p amends another event, from what is
// now live in that one's place.
func (sc *scrub) packNow(session int64, p *packedEvent) error {
	a := p.Facts.Amended
	if a == nil {
		return nil
	}
	of, err := targetOf(sc.Tx, session, a.Seq)
	if err != nil {
		return err
	}
	now, err := ledger.Now(&p.Facts, of)
	if err == nil {
		sc.s.packText(p, now)
	}
	return err
}

// dropRefs removes the event's references to blobs other than keep.
func (sc *scrub) dropRefs(event int64, keep []skein.Hash) error {
	for _, hash := range sc.Replaced(keep) {
		raw, err := hex.DecodeString(string(hash))
		if err != nil {
			return err
		}
		if _, _, err := sc.Exec(`DELETE FROM blob_refs WHERE event = ? AND hash = ?`, event, raw); err != nil {
			return err
		}
	}
	return nil
}

// shown masks the secrets in the records of the session, and of all others
// whose events changed or that show such events; the rows of these sessions
// will change, too.
func (sc *scrub) shown(h columns.Head) error {
	all := map[int64]bool{h.N: true}
	for n, first := range sc.first {
		all[n] = true
		for todo := []int64{n}; len(todo) > 0; todo = todo[1:] {
			err := sc.Query(`SELECT session FROM bases WHERE base = ? AND upto >= ?`, []any{todo[0], int64(first)}, func(row []driver.Value) error {
				var fork int64
				err := engine.Scan(row, []any{&fork})
				if !all[fork] {
					all[fork] = true
					todo = append(todo, fork)
				}
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	for n := range all {
		if err := sc.sources(n); err != nil {
			return err
		}
		if sc.heads[n] = true; n == h.N {
			continue
		}
		var id string
		if _, err := sc.One(`SELECT id FROM sessions WHERE n = ?`, []any{n}, &id); err != nil {
			return err
		}
		sc.Done.Forks = append(sc.Done.Forks, skein.SessionID(id))
	}
	slices.Sort(sc.Done.Forks)
	return nil
}

// sources masks the secrets in the source records of session n, and in the
// state of their readers.
func (sc *scrub) sources(n int64) error {
	if err := sc.states(n); err != nil {
		return err
	}
	var blocks []int64 // records.n
	err := sc.Query(`SELECT r.n FROM sessions s JOIN files f ON f.session = s.id OR f.copy_of = s.id
		JOIN records r ON r.n >= f.n * 4294967296 AND r.n < (f.n + 1) * 4294967296 WHERE s.n = ?`, []any{n}, func(row []driver.Value) error {
		var at int64
		err := engine.Scan(row, []any{&at})
		blocks = append(blocks, at)
		return err
	})
	if err != nil {
		return err
	}
	for _, at := range blocks {
		if err := sc.block(at); err != nil {
			return err
		}
	}
	return nil
}

// block masks the secrets in a block of records. An unreadable record stays
// unreadable.
func (sc *scrub) block(n int64) error {
	var stored []byte
	var count int64
	if _, err := sc.One(`SELECT raw, count FROM records WHERE n = ?`, []any{n}, &stored, &count); err != nil {
		return err
	}
	replaced := false
	rs, bad, err := legible(sc.s.pack, sc.Conn, int(n%columns.RecordsPerFile), stored, func(h skein.Hash) ([]byte, bool) {
		b, ok := sc.Replacement(h)
		replaced = replaced || ok
		return b.Data, ok
	})
	if errors.Is(err, skein.ErrCorrupt) {
		sc.Done.UnreadRecords += int(count)
		return sc.damagedBlock(n, stored)
	}
	if err != nil {
		return err
	}
	changed := sc.Records(rs)
	sc.Done.Records += changed
	b, ids := sc.s.pack.OneBlock(rs, nil), []int64(nil)
	if firstBad(bad, 0, 0) != nil {
		if ids, err = sc.keepBad(&b, bad, stored); err != nil {
			return err
		}
	} else if changed == 0 && !replaced {
		return nil
	}
	return setBlock(sc.Tx, n, b, ids)
}

// keepBad puts the unreadable records into a block in their stored form, with
// the secrets in them masked, and returns the events that they refer to.
func (sc *scrub) keepBad(b *pack.PackedBlock, bad []error, stored []byte) (ids []int64, err error) {
	raw, ids, err := sc.s.pack.Open(stored)
	if err != nil {
		return nil, err
	}
	for i, r := range raw {
		if bad[i] == nil {
			continue
		}
		sc.Done.UnreadRecords++
		sc.pieces(r)
	}
	keepBad(sc.s.pack, b, bad, raw)
	return ids, nil
}

// damagedBlock masks the secrets in a block that differs from what was stored, as far
// as records can be found in it. Its checksum stays, so that it does not look intact.
func (sc *scrub) damagedBlock(n int64, stored []byte) error {
	rs, ids, err := sc.s.pack.Unseal(stored)
	if err != nil {
		return nil //nolint:nilerr // it has none
	}
	changed := false
	for _, r := range rs {
		changed = sc.pieces(r) || changed
	}
	if !changed {
		return nil
	}
	_, _, err = sc.Exec(`UPDATE records SET raw = ? WHERE n = ?`, sc.s.pack.Reseal(stored, rs, ids), n)
	return err
}

// pieces masks the secrets in the pieces of a record, and reports whether any
// changed.
func (sc *scrub) pieces(r pack.Record) (changed bool) {
	for i := range r.Pieces {
		clean, found := sc.Mask(r.Pieces[i].Bytes)
		r.Pieces[i].Bytes, changed = clean, changed || found
	}
	return changed
}

// states masks the secrets in the stored states of the readers of session n's files.
func (sc *scrub) states(n int64) error {
	changed := map[int64][]byte{}
	err := sc.Query(`SELECT f.n, f.state FROM sessions s JOIN files f ON f.session = s.id OR f.copy_of = s.id WHERE s.n = ?`, []any{n}, func(row []driver.Value) error {
		var file int64
		var state []byte
		if err := engine.Scan(row, []any{&file, &state}); err != nil {
			return err
		}
		if clean, found := sc.Mask(state); found {
			changed[file] = clean
		}
		return nil
	})
	if err != nil {
		return err
	}
	for file, state := range changed {
		if _, _, err := sc.Exec(`UPDATE files SET state = ? WHERE n = ?`, state, file); err != nil {
			return err
		}
	}
	return nil
}

// refold recomputes the texts that people read in the row of session n, and
// increments its revision.
func (sc *scrub) refold(n int64) error {
	var id string
	if found, err := sc.One(`SELECT id FROM sessions WHERE n = ?`, []any{n}, &id); err != nil || !found {
		return err
	}
	was, err := sc.Tx.Head(skein.SessionID(id))
	if err != nil {
		return err
	}
	h := was
	if err := sc.fold(&h); err != nil {
		return err
	}
	h.Revision++
	sc.Touch(h.ID)
	return sc.PutHead(&was, &h)
}

// fold recomputes the texts in h's row from h's own events; counts stay.
func (sc *scrub) fold(h *columns.Head) error {
	segs, err := headSegments(sc.Tx, h)
	if err != nil {
		return err
	}
	log := eventlog.New(sc.s.pack, sc.Conn, nil)
	x, damaged, err := h.FoldOwn(log, segs[0], sc.Base(&h.Session))
	if err != nil {
		return err
	}
	if damaged {
		x = sc.Session(h.Session)
	}
	live, err := walk.Live(log, segs, h.Last)
	if err != nil {
		return err
	}
	live.Retell(&h.Session, x, sc.Texts)
	h.Prompts = live.Prompts
	return nil
}
