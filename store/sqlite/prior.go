package sqlite

import (
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
)

// Joins implements [ledger.Book]; see [walk.Joins].
func (k *book) Joins(id string) (found bool, err error) {
	h := k.h
	segs, err := headSegments(k.call.Tx, h)
	if err != nil {
		return false, err
	}
	for _, seg := range segs {
		var seq int64
		if found, err = k.One(`SELECT seq FROM events INDEXED BY events_by_message WHERE session = ? AND message = ? AND seq <= ? LIMIT 1`, []any{seg.Session, id, int64(seg.To)}, &seq); err != nil {
			return false, err
		}
		if found {
			break
		}
	}
	if !found {
		return false, nil
	}
	for _, seg := range segs {
		var seq int64
		// The index is partial: SQLite uses it only if the query repeats its
		// condition.
		marked, err := k.One(`SELECT seq FROM events INDEXED BY events_marks WHERE session = ? AND seq <= ? AND kind IN ('rewound', 'compacted', 'amended') AND kind <> 'compacted' LIMIT 1`,
			[]any{seg.Session, int64(seg.To)}, &seq)
		if err != nil {
			return false, err
		}
		if marked {
			g, err := k.gaps(h.N, segs, h.Last)
			if err != nil {
				return false, err
			}
			return walk.Joins(eventlog.New(k.s.pack, k.Conn, nil), segs, g.ranges, id)
		}
	}
	return true, nil
}

// Charged implements [ledger.Book].
func (k *book) Charged(request string) (skein.Usage, error) {
	return eventlog.SumUsage(k.call.Tx.Conn, `charges INDEXED BY charges_by_request WHERE request = ? AND user_id = ?`, request, string(k.h.User))
}

// Shown implements [ledger.Book].
func (k *book) Shown(at skein.Parent) (x ledger.Base, err error) {
	p := &k.parent
	segs, err := eventlog.Segments(k.Conn, p.N, at.Seq)
	if err != nil {
		return x, err
	}
	// The first segment may be empty: then the place is in a segment of its parent.
	owner := segs[slices.IndexFunc(segs, func(s walk.Segment) bool { return s.From < s.To })]
	k.base = owner.Session
	if purging, err := eventlog.IsPurging(k.call.Tx.Conn, owner.Session); err != nil {
		return x, err
	} else if purging {
		k.base = p.N // which will have the events
	}
	var prev int64
	var kind string
	found, err := k.One(`SELECT prev, kind FROM events WHERE session = ? AND seq = ?`, []any{owner.Session, int64(at.Seq)}, &prev, &kind)
	if err != nil {
		return x, err
	}
	if !found {
		return x, fmt.Errorf("event %d of session %s: %w", at.Seq, at.Session, skein.ErrCorrupt)
	}
	if x.Said = skein.Seq(prev); kind == string(skein.KindSaid) {
		x.Said = at.Seq
	}
	if at.Seq == p.Last {
		g, err := k.gaps(p.N, segs, p.Last)
		x.Shown, k.rewound, x.Prompts = p.Shown(), g.ranges, p.Prompts
		return x, err
	}
	var live walk.LiveState
	x.Shown, live, err = walk.ShownAt(eventlog.New(k.s.pack, k.Conn, nil), segs, x.Said, at.Seq)
	k.rewound, x.Prompts = live.Gaps, live.Prompts
	return x, err
}

// Begin implements [ledger.Book]. The row must exist before others can refer to it.
func (k *book) Begin() (err error) {
	h := k.h
	if h.N, err = k.InsertHead(h); err != nil {
		return err
	}
	*k.was = *h
	if err := putGaps(k.call.Tx, h.N, nil, k.rewound); err != nil {
		return err
	}
	if k.base != 0 {
		if _, _, err := k.Exec(`INSERT INTO bases (session, base, upto) VALUES (?, ?, ?)`, h.N, k.base, int64(h.Base)); err != nil {
			return err
		}
	}
	l, err := leaseOf(k.call.Tx.Conn, h.ID)
	if err == nil && l.held {
		_, _, err = k.Exec(`UPDATE sessions SET locked_by = ? WHERE n = ?`, l.holder.String(), h.N)
	}
	return err
}
