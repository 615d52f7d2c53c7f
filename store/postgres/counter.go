package postgres

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// counted returns the expression of a row s of sessions that has the value of by; ""
// if sessions are not counted by that.
func counted(by skein.Dimension) string {
	return map[skein.Dimension]string{
		skein.ByModelID: "s.model", skein.ByAgent: "s.agent", skein.ByProject: "s.project", skein.ByBranch: "s.branch", skein.BySurface: "s.surface", skein.ByTag: "t.tag",
		skein.ByRepository: "CASE s.repository WHEN '' THEN s.project ELSE s.repository END", skein.ByState: "s.doing",
		skein.BySlot: "s.updated / 900000 * 900000", // as [skein.Time.Slot]
	}[by]
}

// CountBy implements [skein.SessionCounter]. Values that PostgreSQL cannot store are counted
// under the text that stands for them.
func (s reads) CountBy(ctx context.Context, f skein.Filter, by ...skein.Dimension) (_ map[skein.Dimension][]skein.Counted, err error) {
	defer skein.Wrapf(&err, "postgres: count")
	t, err := skein.NewSessionCounts(by...)
	if err != nil {
		return nil, err
	}
	f.Before = nil
	some, err := s.named(ctx, &f)
	if err != nil {
		return nil, err
	}
	for d := range t {
		from := ` FROM sessions s`
		if d == skein.ByTag {
			from += `, unnest(s.tags) t (tag)`
		}
		w := s.where(&f)
		title(w, &f, some)
		err := s.ask(ctx, `SELECT `+counted(d)+`, count(*)`+from+w.SQL()+` GROUP BY 1`, w.Args, func(r wire.Row) error {
			var value string
			var slot skein.Time
			of, n := any(&value), 0
			if d == skein.BySlot {
				of = &slot
			}
			if err := r.Scan(of, &n); err != nil {
				return err
			}
			if d == skein.BySlot {
				value = slot.String()
			}
			t[d][value] += n
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return t.Sorted(), nil
}
