package sqlite

import (
	"database/sql/driver"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// past works out what a session was set to after the last event of segs, whose
// last said event stands at said. It is needed only for a fork that does not
// begin at its parent's end: the parent's row says what is set now.
func (t *call) past(segs walk.Segments, said skein.Seq) (x skein.Shown, err error) {
	modelAt := skein.Seq(0) // where the model was set last
	for _, seg := range slices.Backward(segs) {
		err := t.query(selectEvent+`INDEXED BY events_settings WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind IN ('created', 'changed') ORDER BY e.seq`,
			[]any{seg.Session, int64(seg.From), int64(seg.To)}, func(row []driver.Value) error {
				e, _, err := t.s.scanEvent(row)
				if err != nil {
					return err
				}
				set, err := setBy(&x, e)
				if set {
					modelAt = e.Seq
				}
				return err
			})
		if err != nil {
			return x, err
		}
	}
	if m, err := t.answeredBy(segs, said, modelAt); m != "" || err != nil {
		x.Model = m
		return x, err
	}
	return x, nil
}

// setBy puts in x what a created or changed event sets, and reports whether
// that is the model.
func setBy(x *skein.Shown, e skein.Event) (model bool, err error) {
	f, err := skein.FactsOf(e)
	if err != nil {
		return false, err
	}
	if c := f.Changed; c != nil {
		for _, s := range []struct {
			to   *string
			from *string
		}{{&x.Project, c.Project}, {&x.Cwd, c.Cwd}, {&x.Agent, c.Agent}, {&x.Model, c.Model}} {
			if s.from != nil {
				*s.to = *s.from
			}
		}
		return c.Model != nil, nil
	}
	c := f.Created
	was := *x
	*x = skein.Shown{Project: c.Project, Cwd: c.Cwd, Agent: c.Agent, Model: c.Model}
	if isFork(c) {
		for _, s := range []struct {
			to   *string
			from string
		}{{&x.Project, was.Project}, {&x.Cwd, was.Cwd}, {&x.Agent, was.Agent}, {&x.Model, was.Model}} {
			if *s.to == "" {
				*s.to = s.from
			}
		}
	}
	return c.Model != "" || !isFork(c), nil
}

// answeredBy returns the model of the newest answer after a place, going back
// from the said event at said; "" if there is none.
func (t *call) answeredBy(segs walk.Segments, said, after skein.Seq) (model string, err error) {
	for said > after && model == "" && err == nil {
		seg := segs[slices.IndexFunc(segs, func(s walk.Segment) bool { return said > s.From })]
		err = t.query(selectEvent+`WHERE e.session = ? AND e.seq = ?`, []any{seg.Session, int64(said)}, func(row []driver.Value) error {
			e, p, err := t.s.scanEvent(row)
			if said = p.prev; err != nil || e.Kind != skein.KindSaid {
				return err
			}
			m, err := skein.Decode[skein.Message](e)
			if err == nil && m.Role == skein.RoleAssistant && !m.Synthetic {
				model = m.Model
			}
			return err
		})
	}
	return model, err
}
