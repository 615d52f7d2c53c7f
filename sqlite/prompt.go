package sqlite

import (
	"database/sql/driver"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// promptOf returns the first words of what a person typed to begin a turn: what
// [skein.Session.LastPrompt] was then. segs, the newest first, have the turn. It
// is "" if the message was deleted in the shell.
func (s *Store) promptOf(c *conn, segs walk.Segments, turn int64) (words string, err error) {
	if turn == 0 {
		return "", nil
	}
	for _, seg := range slices.Backward(segs) {
		seq, err := c.beginOf(seg, turn)
		if err != nil {
			return "", err
		}
		if seq == 0 {
			continue
		}
		err = c.query(selectEvent+`WHERE e.session = ? AND e.seq = ?`, []any{seg.Session, int64(seq)}, func(row []driver.Value) error {
			e, _, err := s.scanEvent(row)
			if err != nil || e.Kind != skein.KindSaid {
				return err
			}
			m, err := skein.Decode[skein.Message](e)
			words = skein.FirstWords(m.Words())
			return err
		})
		return words, err
	}
	return "", nil
}

// beginOf returns the first place in seg that has reached a turn; 0 if none
// has. Turns only go up.
func (c *conn) beginOf(seg walk.Segment, turn int64) (skein.Seq, error) {
	before, at := seg.From, seg.To+1 // the places that are known to be before it, and not
	for at-before > 1 {
		mid := before + (at-before)/2
		var n int64
		found, err := c.one(`SELECT turn FROM events WHERE session = ? AND seq = ?`, []any{seg.Session, int64(mid)}, &n)
		switch {
		case err != nil:
			return 0, err
		case !found:
			return 0, fmt.Errorf("event %d: %w", mid, skein.ErrCorrupt)
		case n < turn:
			before = mid
		default:
			at = mid
		}
	}
	if at > seg.To {
		return 0, nil
	}
	return at, nil
}
