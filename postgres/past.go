package postgres

import (
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// past works out what a session of a user was set to after the last event of
// segs, whose last said event stands at said. It is needed only for a fork that
// does not begin at its parent's end: the parent's state says what is set now.
func (q *conn) past(user skein.User, segs walk.Segments, said skein.Seq) (x skein.Shown, err error) {
	modelAt := skein.Seq(0) // where the model was set last
	for _, seg := range slices.Backward(segs) {
		err := q.query(`SELECT `+eventColumns+` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq > $3 AND e.seq <= $4 AND e.kind IN ('created', 'changed') ORDER BY e.seq`,
			[]any{string(user), seg.Session, int64(seg.From), int64(seg.To)}, func(r row) error {
				e, _, err := scanEvent(r)
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
	if m, err := q.answeredBy(user, segs, said, modelAt); m != "" || err != nil {
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
func (q *conn) answeredBy(user skein.User, segs walk.Segments, said, after skein.Seq) (model string, err error) {
	for said > after && model == "" && err == nil {
		at := said
		said = 0
		err = q.query(`WITH RECURSIVE back (seq, step) AS (
				SELECT $3::bigint, 1 UNION ALL
				SELECT e.prev, step + 1 FROM back b JOIN events e ON e.user_id = $1 AND e.n = $2 AND e.seq = b.seq WHERE e.prev > $4 AND step < 64)
			SELECT `+eventColumns+` FROM back b JOIN events e ON e.user_id = $1 AND e.n = $2 AND e.seq = b.seq ORDER BY e.seq DESC`,
			[]any{string(user), segs.Of(at).Session, int64(at), int64(segs.Of(at).From)}, func(r row) error {
				e, p, err := scanEvent(r)
				if err != nil || e.Seq <= after || model != "" {
					return err
				}
				said = p.prev
				m, err := skein.Decode[skein.Message](e)
				if err == nil && m.Role == skein.RoleAssistant && !m.Synthetic {
					model = m.Model
				}
				return err
			})
	}
	return model, err
}
