package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// change masks the secrets in the events that look found, some at a time.
func (sc *scrub) change(ctx context.Context) error {
	const some = 100
	for i := 0; i < len(sc.events); {
		n := sc.events[i].n
		var seqs []int64
		for ; i < len(sc.events) && sc.events[i].n == n && len(seqs) < some; i++ {
			seqs = append(seqs, int64(sc.events[i].seq))
		}
		if err := sc.changeSome(ctx, n, seqs); err != nil {
			return err
		}
	}
	return nil
}

// changeSome masks the secrets in events of session number n, step by step.
func (sc *scrub) changeSome(ctx context.Context, n int64, seqs []int64) error {
	for len(seqs) > 0 {
		taken := 0
		err := sc.step(ctx, func(t *tx) error {
			page, err := sc.lock(t, n, seqs)
			if err != nil {
				return err
			}
			taken = len(seqs)
			if len(page) > 0 {
				last := int64(page[len(page)-1].Seq)
				taken = 1 + slices.IndexFunc(seqs, func(s int64) bool { return s == last })
			}
			return sc.put(t, n, page)
		})
		if err != nil {
			return err
		}
		seqs = seqs[taken:]
	}
	return nil
}

// put masks the secrets in the events of session number n that lock has returned.
func (sc *scrub) put(t *tx, n int64, page []suspect) error {
	var changed []skein.Seq
	for i := range page {
		b, is, err := sc.event(&page[i])
		if err == nil && is {
			changed = append(changed, b.Seq)
			err = sc.write(t, n, &b)
		}
		if err != nil {
			return err
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return t.reindex(sc.head.User, n, changed)
}

// lock locks and returns the first of some events: until the transaction ends, nobody
// else can change or index them.
func (sc *scrub) lock(t *tx, n int64, seqs []int64) (page []suspect, err error) {
	if err := t.lockIndex(); err != nil {
		return nil, err
	}
	size := 0
	err = t.Query(`SELECT `+suspectColumns+` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq = ANY ($3) ORDER BY e.seq FOR UPDATE OF e`,
		[]any{sc.user(), n, seqs}, func(r wire.Row) error {
			if size > stepBytes {
				return nil
			}
			x, err := scanSuspect(r)
			size += len(x.Payload)
			page = append(page, x)
			return err
		})
	return page, err
}

// write replaces an event by the one without its secrets.
//
// It removes the hash: after that, dedup by the client ID ignores the content, because
// it is no longer known what it was.
func (sc *scrub) write(t *tx, n int64, b *maskedEvent) error {
	var r eventRows
	r.add(&b.Row, 0)
	at := []any{sc.user(), n, int64(b.Seq)}
	p := t.pipe()
	// The checksum of a damaged event stays: a new one would hide the damage.
	p.Exec(`UPDATE events SET hash = CASE WHEN $10 AND sum IS NULL THEN hash END, agent = $4, message = $5, tools = $6, paths = $7, payload = $8,
		sum = CASE WHEN $10 THEN sum ELSE $9 END WHERE user_id = $1 AND n = $2 AND seq = $3`,
		append(at[:3:3], r.agent[0], r.message[0], r.tools[0], r.paths[0], []byte(b.Payload), r.sum[0], b.damaged)...)
	if c := b.Facts.Charge; c != nil {
		p.Exec(`UPDATE charges SET request = $4 WHERE user_id = $1 AND n = $2 AND seq = $3 AND request IS NOT NULL AND request <> $4`, append(at[:3:3], columns.Indexed(c.Request))...)
	}
	if err := p.Run(); err != nil {
		return err
	}
	return sc.moveBlobs(t, n, b)
}

// moveBlobs lets an event refer to the blobs without secrets instead of those
// with them.
func (sc *scrub) moveBlobs(t *tx, n int64, b *maskedEvent) error {
	if len(b.moved) == 0 && !b.damaged { // what a damaged event refers to is not known
		return nil
	}
	p := t.pipe()
	for _, blob := range b.moved {
		x, err := sc.s.pack.Blob(blob)
		if err != nil {
			return err
		}
		p.Exec(`INSERT INTO blobs (user_id, hash, size, form, data) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`, sc.user(), x.Hash, x.Size, x.Form, x.Data)
		p.Exec(`SELECT FROM blobs WHERE user_id = $1 AND hash = $2 FOR KEY SHARE`, sc.user(), x.Hash)
		p.Exec(`INSERT INTO blob_refs (user_id, hash, n, seq) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, sc.user(), x.Hash, n, int64(b.Seq))
	}
	var gone [][]byte
	for _, h := range sc.Replaced(b.Now.Blobs) {
		raw, err := hex.DecodeString(string(h))
		if err != nil {
			return err
		}
		gone = append(gone, raw)
	}
	p.Exec(`DELETE FROM blob_refs WHERE user_id = $1 AND n = $2 AND seq = $3 AND hash = ANY ($4)`, sc.user(), n, int64(b.Seq), gone)
	if err := p.Run(); err != nil {
		return err
	}
	return t.dropBlobs(sc.user(), gone)
}

// showing finds the other sessions that show a changed event. If another process began
// the scrub, it is not known which events that one changed: then all of them count.
func (sc *scrub) showing(ctx context.Context) error {
	first := map[int64]skein.Seq{}
	for _, e := range sc.events {
		if at, ok := first[e.n]; !ok || e.seq < at {
			first[e.n] = e.seq
		}
	}
	if sc.resumed {
		for _, seg := range sc.segs {
			first[seg.Session] = seg.From + 1
		}
	}
	return sc.s.read(ctx, func(q *conn) error {
		p := q.pipe()
		for n, seq := range first {
			// A deleted session in between is not one of them, but may lead to some.
			p.Query(`WITH RECURSIVE f (n) AS (
					SELECT $2::bigint UNION SELECT b.n FROM f JOIN bases b ON b.user_id = $1 AND b.base = f.n AND b.upto >= $3)
				SELECT s.n, s.id FROM f JOIN sessions s ON s.user_id = $1 AND s.n = f.n WHERE s.n <> $4`,
				[]any{sc.user(), n, int64(seq), sc.head.n}, func(r wire.Row) error {
					var n int64
					var id skein.SessionID
					err := r.Scan(&n, &id)
					sc.forks[n] = id
					return err
				})
		}
		if len(first) == 0 {
			return nil
		}
		err := p.Run()
		sc.Done.Forks = slices.Sorted(maps.Values(sc.forks))
		return err
	})
}

// files masks the secrets in the source files of all sessions that show a changed
// event.
func (sc *scrub) files(ctx context.Context) error {
	ids := []string{string(sc.head.ID)}
	for _, id := range sc.Done.Forks {
		ids = append(ids, string(id))
	}
	var files []int64
	err := sc.s.ask(ctx, `SELECT f.n FROM files f WHERE f.user_id = $1 AND f.session = ANY ($2) UNION SELECT f.n FROM files f WHERE f.user_id = $1 AND f.copy_of = ANY ($2) AND f.copy_of <> ''`,
		[]any{sc.user(), ids}, func(r wire.Row) error {
			var n int64
			err := r.Scan(&n)
			files = append(files, n)
			return err
		})
	for _, n := range files {
		if err == nil {
			err = sc.state(ctx, n)
		}
		for at := int64(-1); err == nil; {
			var more bool
			if at, more, err = sc.block(ctx, n, at); !more {
				break
			}
		}
	}
	return err
}

// state masks the secrets in the state that a file's reader keeps.
func (sc *scrub) state(ctx context.Context, n int64) error {
	return sc.step(ctx, func(t *tx) error {
		var state []byte
		found, err := t.One(`SELECT f.state FROM files f WHERE f.user_id = $1 AND f.n = $2 FOR UPDATE`, []any{sc.user(), n}, &state)
		if err != nil || !found {
			return err
		}
		if clean, is := sc.Mask(state); is {
			_, err = t.Exec(`UPDATE files SET state = $3 WHERE user_id = $1 AND n = $2`, sc.user(), n, clean)
		}
		return err
	})
}

// block masks the secrets in the first block of file n that begins after a record
// number, and returns the number of its first record; more is false if there is no
// such block.
func (sc *scrub) block(ctx context.Context, n, after int64) (at int64, more bool, err error) {
	changed, unread := 0, 0
	err = sc.step(ctx, func(t *tx) error {
		changed, unread = 0, 0
		var count int
		var raw []byte
		more, err = t.One(`SELECT r.number, r.count, r.raw FROM records r WHERE r.user_id = $1 AND r.file = $2 AND r.number > $3 ORDER BY r.number LIMIT 1 FOR UPDATE`,
			[]any{sc.user(), n, after}, &at, &count, &raw)
		if err != nil || !more {
			return err
		}
		rs, err := sc.s.pack.OpenWhole(int(at), count, raw)
		if errors.Is(err, skein.ErrCorrupt) {
			unread = count
			return nil
		}
		if err != nil {
			return err
		}
		if changed = sc.Records(rs); changed > 0 {
			_, err = t.Exec(`UPDATE records SET raw = $4 WHERE user_id = $1 AND file = $2 AND number = $3`, sc.user(), n, at, sc.s.pack.SealWhole(rs))
		}
		return err
	})
	sc.Done.Records += changed
	sc.Done.UnreadRecords += unread
	return at, more, err
}
