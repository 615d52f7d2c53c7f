package postgres

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// examRows is how many sessions, or events of the index, are examined at once.
const examRows = 100

// A resumePoint is where an examination continues.
type resumePoint struct {
	user string
	n    int64
	seq  skein.Seq
}

// heads compares heads with sessions, and sessions with events: no gaps, and no
// extra events. Each page is read from one snapshot. Rows whose texts are not what was
// stored are restored from the events, and columns from the state beside them.
func (ex *exam) heads(area string) error {
	n := 0
	for at := (resumePoint{}); ; {
		rows := 0
		var altered []skein.SessionID
		err := ex.rows(`SELECT s.user_id, s.n, s.id, s.state, s.beside, coalesce(h.last, -1), coalesce(b.upto, 0), c.count, c.first, c.last
			FROM (SELECT x.user_id, x.n, x.id, x.state, `+columnsBeside+` AS beside FROM sessions x WHERE (x.user_id, x.n) > ($1, $2) ORDER BY x.user_id, x.n LIMIT $3) s
			LEFT JOIN heads h ON h.id = s.id AND h.n = s.n AND h.user_id = s.user_id LEFT JOIN bases b ON b.user_id = s.user_id AND b.n = s.n
			CROSS JOIN LATERAL (SELECT count(*) AS count, coalesce(min(e.seq), 0) AS first, coalesce(max(e.seq), 0) AS last FROM events e WHERE e.user_id = s.user_id AND e.n = s.n) c
			ORDER BY s.user_id, s.n`, []any{at.user, at.n, examRows}, func(r wire.Row) error {
			var h head
			var state []byte
			var beside []byte
			var last, upto int64
			var has inspect.Rows
			if err := r.Scan(&at.user, &at.n, &h.ID, &state, &beside, &last, &upto, &has.Count, &has.First, &has.Last); err != nil {
				return err
			}
			rows++
			id := h.ID
			if err := h.setState(state); err != nil {
				ex.Damage(area, id, err.Error())
				return nil
			}
			if h.Altered || !h.fits(beside) {
				altered = append(altered, id)
			}
			switch {
			case last < 0:
				ex.Damage(area, id, "it has no row in heads")
			case last != int64(h.Last):
				ex.Damage(area, id, fmt.Sprintf("it ends at event %d according to heads, at %d according to its row", last, h.Last))
			}
			ex.Seqs(area, id, has, upto, int64(h.Last))
			return nil
		})
		if err != nil {
			return err
		}
		for _, id := range altered {
			if err := ex.altered(area, id); err != nil {
				return err
			}
		}
		if n += rows; rows < examRows {
			break
		}
	}
	if err := ex.reparented(area); err != nil {
		return err
	}
	ex.Fine(area, "%s, all with as many events as their rows say", inspect.Count(n, "session"))
	return nil
}

// columnsBeside are the columns of a row x of sessions that follow from its state, and its
// name.
const columnsBeside = `jsonb_build_array(x.key, x.surface, x.project, x.agent, x.profile, x.model, x.parent, x.why, x.origin, to_jsonb(x.tags), x.pinned, x.empty, x.open,
	x.recent, x.updated, x.repository, x.branch, x.doing, coalesce((SELECT m.name FROM names m WHERE m.user_id = x.user_id AND m.n = x.n), ''))`

// fits reports whether columnsBeside are those of h.
func (h *head) fits(beside []byte) bool {
	columns := (&sessionDraft{head: *h}).columns()
	want := skein.MustJSON(append(columns[1:len(columns)-1], h.name())) // without state and bytes
	return normal(want) == normal(beside)
}

// normal returns JSON in one form, whatever stands for bytes that are not UTF-8.
func normal(raw []byte) string {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return string(raw)
	}
	text := string(skein.MustJSON(v))
	for strings.Contains(text, "\ufffd\ufffd") {
		text = strings.ReplaceAll(text, "\ufffd\ufffd", "\ufffd")
	}
	return text
}

// altered reports a session whose row was altered, and writes the row again.
func (ex *exam) altered(area string, id skein.SessionID) error {
	h, err := ex.s.headOf(ex.ctx, id)
	if errors.Is(err, skein.ErrNotFound) { // deleted meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	return ex.Altered(area, &h.Session, func() error {
		return ex.s.write(ex.ctx, func(t *tx) error {
			was, err := t.head(id)
			if err != nil {
				return err
			}
			if err := t.touch(&was); err != nil {
				return err
			}
			h, err := t.head(id) // from now on, nobody else can change it
			if err != nil || h.Damaged {
				return err
			}
			h.Altered = false
			return t.putRow(&h)
		})
	})
}

// reparented examines the events of deleted sessions that count as a fork's, and
// looks for orphaned rows of heads.
func (ex *exam) reparented(area string) error {
	err := ex.rows(`SELECT t.n, coalesce(s.id, ''), t.upto - coalesce(b.upto, 0), (SELECT count(*) FROM events e WHERE e.user_id = t.user_id AND e.n = t.n AND e.seq <= t.upto)
		FROM reparented t LEFT JOIN sessions s ON s.user_id = t.user_id AND s.n = t.owner LEFT JOIN bases b ON b.user_id = t.user_id AND b.n = t.n`, nil, func(r wire.Row) error {
		var n, want, got int64
		var id skein.SessionID
		if err := r.Scan(&n, &id, &want, &got); err != nil {
			return err
		}
		if id == "" || want != got {
			ex.Damage(area, id, fmt.Sprintf("session %[4]q shows %[2]d events of deleted session number %[1]d, want %[3]d", n, got, want, id))
		}
		return nil
	})
	if err != nil {
		return err
	}
	lost := int64(0)
	err = ex.rows(`SELECT count(*) FROM heads h WHERE h.last > 0 AND ($1 = '' OR h.user_id = $1) AND NOT EXISTS (SELECT FROM sessions s WHERE s.user_id = h.user_id AND s.n = h.n)`,
		[]any{string(ex.s.user)}, func(r wire.Row) error { return r.Scan(&lost) })
	if lost > 0 {
		ex.Damage(area, "", fmt.Sprintf("%d rows of heads have no session", lost))
	}
	return err
}

// events reads every event, compares it with its checksum, and decodes it. It
// reports which events are damaged.
func (ex *exam) events(area string) error {
	n, err := ex.each(func(_ resumePoint, id skein.SessionID, e skein.Event, err error) { ex.Event(area, id, e, err) })
	if err == nil {
		ex.Fine(area, "%s, all intact", inspect.Count(n, "event"))
	}
	return err
}

// each calls f with every event, where it is, and the session that it counts for, until
// the examination is over, and returns how many there were. The error of f's event is a
// [skein.DamagedError].
func (ex *exam) each(f func(at resumePoint, id skein.SessionID, e skein.Event, err error)) (n int, err error) {
	for at := (resumePoint{}); ; {
		rows := 0
		size := 0
		err := ex.rows(`SELECT `+columns.Event+`, e.user_id, e.n, coalesce(s.id, '')
			FROM events e LEFT JOIN reparented t ON t.user_id = e.user_id AND t.n = e.n LEFT JOIN sessions s ON s.user_id = e.user_id AND s.n = coalesce(t.owner, e.n)
			WHERE (e.user_id, e.n, e.seq) > ($1, $2, $3) ORDER BY e.user_id, e.n, e.seq LIMIT $4`, []any{at.user, at.n, int64(at.seq), wire.PageRows}, func(r wire.Row) error {
			var id skein.SessionID
			e, _, err := columns.ScanEvent(r, &at.user, &at.n, &id)
			bad := (*skein.DamagedError)(nil)
			if err != nil && !errors.As(err, &bad) {
				return err
			}
			rows++
			at.seq = e.Seq
			f(at, id, e, err)
			if size += len(e.Payload); size > wire.PageBytes {
				return wire.ErrStop
			}
			return nil
		})
		if err != nil {
			return n, err
		}
		if n += rows; rows == 0 || ex.Over() {
			return n, nil
		}
	}
}

// records reads all source records.
func (ex *exam) records(area string) error {
	var views []skein.Store
	err := ex.rows(`SELECT DISTINCT f.user_id FROM files f WHERE f.format <> ''`, nil, func(r wire.Row) error {
		var u skein.User
		err := r.Scan(&u)
		views = append(views, ex.s.As(u))
		return err
	})
	if err != nil {
		return err
	}
	n, err := ex.Records(area, views)
	ex.Fine(area, "%s, all intact and in order", inspect.Count(n, "source record"))
	return err
}
