package postgres

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// look finds what has a secret, and changes nothing.
//
// The error wraps [skein.ErrInvalid] if an event would be invalid without its secrets.
func (sc *scrub) look(ctx context.Context) error {
	err := sc.s.read(ctx, func(q *conn) (err error) {
		sc.segs, err = q.segments(&sc.head, sc.head.Last)
		return err
	})
	if err != nil {
		return err
	}
	for _, seg := range sc.segs {
		if err := sc.lookAtBlobs(ctx, seg); err != nil {
			return err
		}
	}
	for _, seg := range sc.segs {
		if err := sc.lookAtEvents(ctx, seg); err != nil {
			return err
		}
	}
	sc.Done.Events = len(sc.events)
	return nil
}

// lookAtBlobs finds the blobs with a secret that the events of seg refer to.
func (sc *scrub) lookAtBlobs(ctx context.Context, seg walk.Segment) error {
	var hashes [][]byte
	err := sc.s.ask(ctx, `SELECT DISTINCT r.hash FROM blob_refs r WHERE r.user_id = $1 AND r.n = $2 AND r.seq > $3 AND r.seq <= $4`,
		[]any{sc.user(), seg.Session, int64(seg.From), int64(seg.To)}, func(r wire.Row) error {
			var h []byte
			err := r.Scan(&h)
			hashes = append(hashes, h)
			return err
		})
	if err != nil {
		return err
	}
	for _, h := range hashes { // one at a time: each may be long
		var form int
		var stored []byte
		name := skein.Hash(hex.EncodeToString(h))
		err := sc.s.ask(ctx, `SELECT b.form, b.data FROM blobs b WHERE b.user_id = $1 AND b.hash = $2`, []any{sc.user(), h}, func(r wire.Row) error {
			return r.Scan(&form, &stored)
		})
		if err != nil {
			return err
		}
		if stored == nil {
			continue // deleted meanwhile
		}
		data, err := sc.s.pack.UnpackBlob(name, form, stored)
		if err := sc.Blob(name, data, err); err != nil {
			return err
		}
	}
	return nil
}

// A suspect is an event that may have a secret.
type suspect struct {
	skein.Event
	aimed   skein.Kind // for an amended event: the kind of the event that it amends
	damaged bool
}

// suspectColumns are the columns that scanSuspect reads, of events e.
const suspectColumns = columns.Event + `, coalesce((SELECT o.kind FROM events o WHERE o.user_id = e.user_id AND o.n = e.n AND o.seq = e.amends), '')`

func scanSuspect(r wire.Row) (x suspect, err error) {
	x.Event, _, err = columns.ScanEvent(r, &x.aimed)
	if bad := (*skein.DamagedError)(nil); errors.As(err, &bad) {
		x.damaged, err = true, nil
	}
	return x, err
}

// lookAtEvents finds the events of seg with a secret, page by page.
func (sc *scrub) lookAtEvents(ctx context.Context, seg walk.Segment) error {
	page := func(after skein.Seq) (page []suspect, err error) {
		size := 0
		err = sc.s.ask(ctx, `SELECT `+suspectColumns+` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq > $3 AND e.seq <= $4 ORDER BY e.seq LIMIT $5`,
			[]any{sc.user(), seg.Session, int64(after), int64(seg.To), wire.PageRows}, func(r wire.Row) error {
				x, err := scanSuspect(r)
				if err != nil {
					return err
				}
				page = append(page, x)
				if size += len(x.Payload); size > wire.PageBytes {
					return wire.ErrStop
				}
				return nil
			})
		return page, err
	}
	return erase.EventRun[suspect]{After: seg.From, Upto: seg.To, Page: page, Seq: func(x *suspect) skein.Seq { return x.Seq }}.Each(sc.Masker, func(x *suspect) error {
		_, changed, err := sc.event(x)
		if err != nil {
			return err
		}
		if x.damaged {
			sc.Done.Unread = append(sc.Done.Unread, x.Seq)
		}
		if changed {
			sc.events = append(sc.events, eventPlace{seg.Session, x.Seq})
		}
		return nil
	})
}

// A maskedEvent is an event without its secrets, and the rest of its row.
type maskedEvent struct {
	ledger.Row
	moved   []skein.Blob // the blobs that it now refers to, instead of those with a secret
	damaged bool
}

// event masks the secrets in an event; changed reports whether it had any.
func (sc *scrub) event(x *suspect) (b maskedEvent, changed bool, err error) {
	e := x.Event
	e.Payload, b.moved, changed = sc.Payload(e.Payload)
	if !changed && (!x.damaged || sc.Done.Blobs == 0) {
		return b, false, nil
	}
	b.Event, b.damaged = &ledger.Event{Event: e}, x.damaged
	if b.Facts, err = skein.FactsOf(e); err == nil {
		b.Now, err = ledger.Now(&b.Facts, ledger.Target{Kind: x.aimed})
	}
	if err != nil && x.damaged {
		b.Facts, b.Now, err = skein.Facts{}, &skein.Facts{}, nil // it is no longer a valid event: its bytes are masked
	}
	if err != nil {
		err = erase.NoLongerValid(e.Seq, err)
	}
	return b, true, err
}
