package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/erase"
)

// What a scrub cannot reach.
const (
	beyondLog  = "the server's write-ahead log, its archive and backups"
	beyondRows = "dead rows, until the server's next VACUUM"
)

// errScrubbed says that another process has finished a scrub.
var errScrubbed = errors.New("scrub was finished by another process")

// Scrub implements [skein.Lifecycle]. A row in scrubs says that it is under way; it
// runs in steps, between which others can write. If the process dies, or ctx ends,
// between two steps, maintenance finishes it, in this process or another.
func (s lifecycle) Scrub(ctx context.Context, id skein.SessionID, secrets []string) (done skein.Scrubbed, err error) {
	defer skein.Wrapf(&err, "postgres: scrub %s", id)
	m, err := erase.NewMasker(secrets)
	if err != nil {
		return done, err
	}
	leave, err := s.enter()
	if err != nil {
		return done, err
	}
	defer leave()
	s.view = s.inside()
	h, err := s.headOf(ctx, id)
	if err != nil {
		return done, err
	}
	sc := newScrub(s.view, m, h)
	if err := sc.look(ctx); err != nil {
		return done, err
	}
	if err := sc.mark(ctx, secrets); err != nil {
		return done, err
	}
	if err := sc.run(ctx); err != nil && !errors.Is(err, errScrubbed) {
		return skein.Scrubbed{}, err
	}
	sc.Done.Beyond = []string{beyondLog, beyondRows}
	return sc.Done, nil
}

// A scrub is the state of one call of Scrub, or of the maintenance that finishes it.
type scrub struct {
	*erase.Masker
	s       *view
	head    head  // of the session, as read at the beginning
	n       int64 // scrubs.n
	resumed bool  // another process began it
	segs    walk.Segments
	events  []eventPlace              // those with a secret, ordered by segment and seq
	forks   map[int64]skein.SessionID // the other sessions that show one of these, by number
}

// An eventPlace is the place of an event.
type eventPlace struct {
	n   int64
	seq skein.Seq
}

func (sc *scrub) user() string { return string(sc.head.User) }

func newScrub(s *view, m *erase.Masker, h head) *scrub {
	return &scrub{Masker: m, s: s, head: h, forks: map[int64]skein.SessionID{}}
}

// mark notes that the scrub of secrets is under way.
func (sc *scrub) mark(ctx context.Context, secrets []string) error {
	return sc.s.write(ctx, func(t *tx) error {
		_, err := t.One(`INSERT INTO scrubs (user_id, id, secrets) VALUES ($1, $2, $3) RETURNING n`,
			[]any{sc.user(), string(sc.head.ID), []byte(skein.MustJSON(secrets))}, &sc.n)
		return err
	})
}

// step runs f in a transaction of its own, if no other process has finished the
// scrub.
func (sc *scrub) step(ctx context.Context, f func(*tx) error) error {
	return sc.s.write(ctx, func(t *tx) error {
		if err := f(t); err != nil {
			return err
		}
		n, err := t.Exec(`UPDATE scrubs SET alive = clock_timestamp() WHERE user_id = $1 AND n = $2`, sc.user(), sc.n)
		if err == nil && n == 0 {
			err = errScrubbed
		}
		return err
	})
}

// run changes what look has found.
func (sc *scrub) run(ctx context.Context) error {
	for _, f := range []func(context.Context) error{sc.change, sc.showing, sc.files, sc.refoldAll, sc.note} {
		if err := f(ctx); err != nil {
			return err
		}
	}
	return sc.s.write(ctx, func(t *tx) error {
		_, err := t.Exec(`DELETE FROM scrubs WHERE user_id = $1 AND n = $2`, sc.user(), sc.n)
		return err
	})
}

// note appends the audit event.
func (sc *scrub) note(ctx context.Context) error {
	_, err := skein.Add(ctx, sc.s.store(), sc.head.ID, sc.Note(skein.At(time.Now())))
	return err
}

// resumeScrub finishes a scrub that no process has worked on for a minute, and reports
// whether there was one.
func (s lifecycle) resumeScrub(ctx context.Context) (was bool, err error) {
	var user skein.User
	var id skein.SessionID
	var n int64
	var list []byte
	err = s.write(ctx, func(t *tx) error {
		was, err = t.One(`UPDATE scrubs SET alive = clock_timestamp() WHERE (user_id, n) = (
			SELECT c.user_id, c.n FROM scrubs c WHERE c.alive < clock_timestamp() - interval '1 minute' ORDER BY c.user_id, c.n LIMIT 1 FOR UPDATE SKIP LOCKED)
			RETURNING user_id, id, n, secrets`, nil, &user, &id, &n, &list)
		return err
	})
	if err != nil || !was {
		return false, err
	}
	err = s.finishScrub(ctx, n, id, list)
	if errors.Is(err, skein.ErrNotFound) || errors.Is(err, skein.ErrInvalid) { // there is nothing left to scrub
		err = s.write(ctx, func(t *tx) error {
			_, err := t.Exec(`DELETE FROM scrubs WHERE user_id = $1 AND n = $2`, string(user), n)
			return err
		})
	}
	return true, err
}

// finishScrub finishes scrub number n, of session id and a list of secrets.
func (s lifecycle) finishScrub(ctx context.Context, n int64, id skein.SessionID, list []byte) error {
	var secrets []string
	if err := json.Unmarshal(list, &secrets); err != nil {
		return err
	}
	m, err := erase.NewMasker(secrets)
	if err != nil {
		return err
	}
	h, err := s.headOf(ctx, id)
	if err != nil {
		return err
	}
	sc := newScrub(s.view, m, h)
	sc.n, sc.resumed = n, true
	if err := sc.look(ctx); err != nil {
		return err
	}
	return sc.run(ctx)
}
