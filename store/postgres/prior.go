package postgres

import (
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/postgres/eventlog"
)

// A parentRow is the row in heads of a new fork's parent: it must not change between
// being read and the write of the fork, and must exist until then.
type parentRow struct {
	n, revision int64
}

// A forkParent is what is known of the parent of a fork that begins.
type forkParent struct {
	parent   *head
	base     int64 // number of the session that stores the event after which the fork begins: bases.base
	segs     walk.Segments
	clients  map[skein.ClientID]ledger.Place
	messages map[string]bool  // whether they are live
	rewound  []skein.SeqRange // the ranges taken back up to that event
}

// Shown implements [ledger.Book].
func (k *book) Shown(at skein.Parent) (x ledger.Base, err error) {
	p := k.parent
	if k.segs, err = k.tx.segments(p, at.Seq); err != nil {
		return x, err
	}
	// The first segments may be empty: the event is in what p shows of its parent.
	i := slices.IndexFunc(k.segs, func(s walk.Segment) bool { return s.From < s.To })
	k.segs = k.segs[i:]
	k.base = k.segs[0].Session
	var prev skein.Seq
	var kind string
	found, err := k.tx.One(`SELECT prev, kind FROM events WHERE user_id = $1 AND n = $2 AND seq = $3`,
		[]any{string(p.User), k.base, int64(at.Seq)}, &prev, &kind)
	if err != nil {
		return x, err
	}
	if !found {
		return x, fmt.Errorf("event %d of session %s: %w", at.Seq, at.Session, skein.ErrCorrupt)
	}
	if x.Said = prev; kind == string(skein.KindSaid) {
		x.Said = at.Seq
	}
	past := eventlog.New(k.tx.Conn, p.User)
	if at.Seq == p.Last {
		taken, err := k.tx.gaps(p)
		if err != nil {
			return x, err
		}
		x.Shown, k.rewound, x.Prompts = p.Shown(), taken, p.Prompts
	} else {
		var live walk.LiveState
		if x.Shown, live, err = walk.ShownAt(past, k.segs, x.Said, at.Seq); err != nil {
			return x, err
		}
		k.rewound, x.Prompts = live.Gaps, live.Prompts
	}
	if k.clients, k.messages, err = k.tx.known(p.User, k.segs, k.d.asks.clients, k.d.asks.messages); err != nil {
		return x, err
	}
	for id := range k.messages {
		if k.messages[id], err = walk.Joins(past, k.segs, k.rewound, id); err != nil {
			return x, err
		}
	}
	return x, nil
}

// Parent implements [ledger.Book]. It writes the group's drafts if one has changed
// the parent.
func (k *book) Parent(id skein.SessionID, u skein.User) (*skein.Session, error) {
	w := k.work
	if d := w.drafts[id]; d != nil && d.Last > 0 && w.s.sees(d.User) {
		if d.changed() {
			if err := w.flush(); err != nil {
				return nil, err
			}
		} else {
			w.shownBy = append(w.shownBy, parentRow{d.n, d.revision})
		}
		k.parent = &d.head
		return &d.Session, nil
	}
	tomb := erase.TombOfID(id)
	p := w.tx.pipe()
	var h head
	var buried bool
	var revision int64 // read first, so that a change between the two queries makes it outdated
	p.One(nil, `SELECT revision FROM heads WHERE id = $1`, []any{string(id)}, &revision)
	p.head(id, &h)
	p.One(&buried, `SELECT hash FROM tombstones WHERE user_id = $1 AND hash = $2`, []any{string(u), tomb[:]}, nil)
	if err := p.Run(); err != nil {
		return nil, err
	}
	if h.n == 0 {
		w.tombs[tombOf{string(tomb[:]), u}] = buried
		return nil, nil
	}
	w.shownBy = append(w.shownBy, parentRow{h.n, revision})
	k.parent = &h
	return &h.Session, w.tx.retell(&h)
}
