package sqlite

import (
	"context"
	"database/sql/driver"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// counted returns the expression of a row s of sessions that has the value of by; ""
// if sessions are not counted by that.
func counted(by skein.Dimension) string {
	return map[skein.Dimension]string{
		skein.ByModelID: "s.model", skein.ByAgent: "s.agent", skein.ByProject: "s.project", skein.ByBranch: "s.branch", skein.BySurface: "s.surface", skein.ByTag: "t.value",
		skein.ByRepository: "CASE s.repository WHEN '' THEN s.project ELSE s.repository END",
		skein.ByState:      "CASE WHEN json_valid(s.state) THEN coalesce(s.state ->> '$.activity.state', 'idle') ELSE 'idle' END",
		skein.BySlot:       "s.updated / 900000 * 900000", // as [skein.Time.Slot]
	}[by]
}

// CountBy implements [skein.SessionCounter].
func (s *Store) CountBy(ctx context.Context, f skein.Filter, by skein.Dimension) (all []skein.Counted, err error) {
	defer skein.Wrapf(&err, "sqlite: count")
	if err := by.Counts(); err != nil {
		return nil, err
	}
	if f.Title != "" { // SQLite does not know the cases of all letters
		return skein.CountListed(ctx, s, f, by)
	}
	f.Before = nil
	from := ` FROM sessions s`
	if by == skein.ByTag {
		from += `, json_each(s.tags) t`
	}
	w := s.where(f)
	err = s.read(ctx, func(c *engine.Conn) error {
		all = nil
		return c.Query(`SELECT `+counted(by)+`, count(*)`+from+w.SQL()+` GROUP BY 1`, w.Args, func(row []driver.Value) error {
			t := skein.Counted{}
			if slot, ok := row[0].(int64); ok {
				t.Of = skein.Time(slot).String()
			} else if err := engine.Scan(row[:1], []any{&t.Of}); err != nil {
				return err
			}
			t.Sessions = int(row[1].(int64))
			all = append(all, t)
			return nil
		})
	})
	skein.SortCounted(all)
	return all, err
}
