package postgres

import (
	"context"
	"strings"

	"github.com/skein-dev/skein"
)

// mostNamed limits how many sessions are looked up by title. If more match, lists
// check the titles as they go through the sessions, and are soon full.
const mostNamed = 500

// A titledSession is the sessions whose titles match.
type titledSession struct {
	users   []string
	numbers []int64
}

// named looks up the sessions that have f's title, by the index; nil if there are too
// many of them, or f has no title.
func (s reads) named(ctx context.Context, f *skein.Filter) (*titledSession, error) {
	if f.Title == "" {
		return nil, nil
	}
	var who *string
	if u := string(s.user); u != "" {
		who = &u
	} else if u := string(f.User); u != "" {
		who = &u
	}
	c := &titledSession{[]string{}, []int64{}}
	err := s.ask(ctx, `SELECT user_id, n FROM named($1, $2, $3)`, []any{who, "%" + likeEscape(smallTitle(f.Title)) + "%", mostNamed}, func(r row) error {
		var user string
		var n int64
		err := r.Scan(&user, &n)
		c.users, c.numbers = append(c.users, user), append(c.numbers, n)
		return err
	})
	if err != nil || len(c.users) == mostNamed {
		return nil, err
	}
	return c, nil
}

// smallTitle returns a title as stored in names.
func smallTitle(t string) string { return plain(strings.ToLower(t)) }

// title adds the condition on f's title; some, if not nil, are the only sessions that
// have it.
func (w *where) title(f *skein.Filter, some *titledSession) {
	switch {
	case f.Title == "":
	case some != nil:
		w.add("(s.user_id, s.n) IN (SELECT c.user_id, c.n FROM unnest(?::text[], ?::bigint[]) c (user_id, n))", some.users, some.numbers)
	default:
		w.add("EXISTS (SELECT FROM names x WHERE x.user_id = s.user_id AND x.n = s.n AND position(? IN x.name) > 0)", smallTitle(f.Title))
	}
}
