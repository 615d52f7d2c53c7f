package postgres

import (
	"context"
	"errors"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
)

// Two nodes that do not know a user's quota begin the last session that the user may
// have, at once: only one of them succeeds.
func TestAQuotaOfSessionsIsKeptAmongNodesThatJustStarted(t *testing.T) {
	dsn := pgtest.DSN(t)
	var nodes [2]*Store
	for i := range nodes {
		s, err := Open(t.Context(), dsn, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		nodes[i] = s
	}
	pgtest.Exec(t, pgtest.As(t, dsn, "skein_all"), `INSERT INTO users (user_id, created, sessions) VALUES ('ann', 0, 1)`)
	created := skein.NewEvent(skein.KindCreated, noon, skein.Created{User: "ann"})
	p, err := nodes[0].packBatch(skein.Batch{Session: "a", Events: []skein.Event{created}})
	if err != nil {
		t.Fatal(err)
	}
	j := &job{ctx: t.Context(), batches: []packed{p}}
	other := make(chan error, 1)
	err = nodes[0].tryWrite(t.Context(), func(tx *tx) error {
		w := newWork(nodes[0].view)
		w.tx, w.looked = tx, true
		if err := w.look([]*job{j}); err != nil {
			return err
		}
		go func() {
			_, err := skein.Add(context.Background(), nodes[1], "b", created)
			other <- err
		}()
		for waits := false; !waits && len(other) == 0; {
			if err := nodes[0].pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits); err != nil {
				return err
			}
		}
		_, err := w.job(j)
		return errors.Join(err, w.finish())
	})
	if err != nil {
		t.Fatal(err)
	}
	var q *skein.QuotaError
	if err := <-other; !errors.As(err, &q) {
		t.Errorf("Append to the second of 1 session = %v, want a quota", err)
	}
}
