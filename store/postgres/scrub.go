package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// minSecret is the shortest secret that Scrub takes, in bytes.
const minSecret = 4

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
	if len(secrets) == 0 || slices.ContainsFunc(secrets, func(s string) bool { return len(s) < minSecret }) {
		return done, fmt.Errorf("%w secrets: want one or more, each of %d bytes or more", skein.ErrInvalid, minSecret)
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
	sc := newScrub(s.view, h, secrets)
	if err := sc.look(ctx); err != nil {
		return done, err
	}
	if err := sc.mark(ctx); err != nil {
		return done, err
	}
	if err := sc.run(ctx); err != nil && !errors.Is(err, errScrubbed) {
		return skein.Scrubbed{}, err
	}
	sc.done.Beyond = []string{beyondLog, beyondRows}
	return sc.done, nil
}

// A scrub is the state of one call of Scrub, or of the maintenance that finishes it.
type scrub struct {
	s       *view
	head    head  // of the session, as read at the beginning
	n       int64 // scrubs.n
	resumed bool  // another process began it
	secrets []string
	segs    walk.Segments
	blobs   map[skein.Hash]skein.Blob // the masked blobs, by the hash of the blob with a secret
	events  []eventPlace              // those with a secret, ordered by segment and seq
	forks   map[int64]skein.SessionID // the other sessions that show one of these, by number
	texts   map[string]string         // texts in the rows of sessions, and what they became
	done    skein.Scrubbed
}

// An eventPlace is the place of an event.
type eventPlace struct {
	n   int64
	seq skein.Seq
}

func newScrub(s *view, h head, secrets []string) *scrub {
	return &scrub{s: s, head: h, secrets: secrets, blobs: map[skein.Hash]skein.Blob{}, forks: map[int64]skein.SessionID{}, texts: map[string]string{}}
}

func (sc *scrub) user() string { return string(sc.head.User) }

// mark notes that the scrub is under way.
func (sc *scrub) mark(ctx context.Context) error {
	return sc.s.write(ctx, func(t *tx) error {
		_, err := t.One(`INSERT INTO scrubs (user_id, id, secrets) VALUES ($1, $2, $3) RETURNING n`,
			[]any{sc.user(), string(sc.head.ID), []byte(skein.MustJSON(sc.secrets))}, &sc.n)
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
	_, err := skein.Add(ctx, sc.s.store(), sc.head.ID, skein.NewEvent(skein.KindNoted, skein.At(time.Now()), skein.Noted{
		Name: "scrubbed", Level: "info",
		Data: skein.MustJSON(map[string]int{"events": sc.done.Events, "records": sc.done.Records, "blobs": sc.done.Blobs}),
	}))
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
	h, err := s.headOf(ctx, id)
	sc := newScrub(s.view, h, nil)
	sc.n, sc.head.User, sc.resumed = n, user, true
	if err == nil {
		err = json.Unmarshal(list, &sc.secrets)
	}
	if err == nil {
		err = sc.look(ctx)
	}
	if err == nil {
		err = sc.run(ctx)
	}
	if errors.Is(err, skein.ErrNotFound) || errors.Is(err, skein.ErrInvalid) { // there is nothing left to scrub
		err = s.write(ctx, func(t *tx) error {
			_, err := t.Exec(`DELETE FROM scrubs WHERE user_id = $1 AND n = $2`, string(user), n)
			return err
		})
	}
	return true, err
}
