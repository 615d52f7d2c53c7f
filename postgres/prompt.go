package postgres

import (
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// promptOf returns the first words of what a person typed to begin a turn: what
// [skein.Session.LastPrompt] was then. segs, the newest first, have the turn.
func (q *conn) promptOf(user skein.User, segs walk.Segments, turn int) (words string, err error) {
	if turn == 0 {
		return "", nil
	}
	for _, seg := range slices.Backward(segs) {
		seq, err := q.beginOf(user, seg, turn)
		if err != nil {
			return "", err
		}
		if seq == 0 {
			continue
		}
		err = q.query(`SELECT `+eventColumns+` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq = $3`,
			[]any{string(user), seg.Session, int64(seq)}, func(r row) error {
				e, _, err := scanEvent(r)
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
// has. Turns only go up, so the server can halve the way at each step.
func (q *conn) beginOf(user skein.User, seg walk.Segment, turn int) (at skein.Seq, err error) {
	_, err = q.one(`WITH RECURSIVE h (before, at) AS ( -- the places that are known to be before it, and not
			SELECT $3::bigint, $4::bigint + 1
			UNION ALL
			SELECT CASE WHEN e.turn < $5 THEN e.seq ELSE h.before END, CASE WHEN e.turn < $5 THEN h.at ELSE e.seq END
			FROM h JOIN events e ON e.user_id = $1 AND e.n = $2 AND e.seq = h.before + (h.at - h.before) / 2
			WHERE h.at - h.before > 1)
		SELECT at FROM h WHERE at - before = 1 AND at <= $4`,
		[]any{string(user), seg.Session, int64(seg.From), int64(seg.To), turn}, &at)
	return at, err
}
