package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/postgres"
	"github.com/skein-dev/skein/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m, dial) }

func dial(address string) (skein.Store, error) {
	return postgres.Open(context.Background(), address, postgres.Options{})
}

// frees is how long the lease of a killed process lasts.
const frees = 11 * time.Second

func TestStore(t *testing.T) {
	var places sync.Map // store → its address
	tables := pgtest.DSN(t)
	if s, err := dial(tables); err != nil {
		t.Fatal(err)
	} else if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	storetest.Run(t, func(t *testing.T) skein.Store {
		address := pgtest.Copy(t, tables) // much quicker than to make them
		s, err := dial(address)
		if err != nil {
			t.Fatal(err)
		}
		places.Store(s, address)
		return s
	}, storetest.Options{
		Address: func(s skein.Store) string { a, _ := places.Load(s); return a.(string) },
		Dial:    dial,
		Frees:   frees,
		Newer:   makeNewer,
		Hurt:    hurt,
		HurtRow: hurtRow,

		Unchanged:  unchanged,
		HurtRecord: hurtRecord,
		HurtBlobs:  hurtBlobs(),
	})
}

// asOwner returns a connection to a database as the owner of its tables.
func asOwner(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), pgtest.As(t, address, "skein_owner"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) }) //nolint:errcheck // nothing is lost with it
	return c
}

// makeNewer is storetest.Options.Newer.
func makeNewer(t *testing.T, address string) {
	t.Helper()
	pgtest.Exec(t, pgtest.As(t, address, "skein_owner"), `UPDATE skein_version SET version = 1000, program = 'skein 99'`)
}

// unchanged is storetest.Options.Unchanged.
func unchanged(t *testing.T, address string) func() error {
	t.Helper()
	ctx, c := context.Background(), asOwner(t, address)
	state := func() (s string, err error) {
		err = c.QueryRow(ctx, `SELECT (SELECT string_agg(relname || relnatts, ',' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace)
			|| (SELECT string_agg(m::text, ',') FROM skein_version m) || (SELECT count(*) FROM events)`).Scan(&s)
		return s, err
	}
	was, err := state()
	if err != nil {
		t.Fatal(err)
	}
	return func() error {
		is, err := state()
		if err == nil && is != was {
			err = fmt.Errorf("the database is %s, want %s", is, was)
		}
		return err
	}
}

// hurtRecord is storetest.Options.HurtRecord.
func hurtRecord(t *testing.T, address, path string, n int) {
	t.Helper()
	if _, err := asOwner(t, address).Exec(t.Context(), `UPDATE records SET raw = set_byte(raw, octet_length(raw) / 2, get_byte(raw, octet_length(raw) / 2) # 16) WHERE (user_id, file, number) = (
		SELECT r.user_id, r.file, r.number FROM records r JOIN files f ON f.user_id = r.user_id AND f.n = r.file
		WHERE f.path = $1 AND r.number <= $2 ORDER BY r.number DESC LIMIT 1)`, []byte(path), n); err != nil {
		t.Fatal(err)
	}
}

// hurtBlobs is storetest.Options.HurtBlobs.
func hurtBlobs() map[string]func(t *testing.T, address string) {
	all := map[string]func(t *testing.T, address string){}
	for how, query := range map[string]string{
		"data":             `UPDATE blobs SET data = decode(repeat('00', octet_length(data)), 'hex')`,
		"size":             `UPDATE blobs SET size = -1`,
		"large":            `UPDATE blobs SET size = 1::bigint << 60`,
		"form":             `UPDATE blobs SET form = 1 - form`,
		"blobs":            `DELETE FROM blobs`,
		"both":             `WITH gone AS (DELETE FROM blob_refs) DELETE FROM blobs`,
		storetest.LostRefs: `DELETE FROM blob_refs`,
	} {
		all[how] = func(t *testing.T, address string) {
			t.Helper()
			if _, err := asOwner(t, address).Exec(t.Context(), query); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// hurt is storetest.Options.Hurt.
func hurt(t *testing.T, address, old, new string) {
	t.Helper()
	if _, err := asOwner(t, address).Exec(t.Context(), `UPDATE events SET payload = convert_to(replace(convert_from(payload, 'UTF8'), $1, $2), 'UTF8')`, old, new); err != nil {
		t.Fatal(err)
	}
}

// hurtRow is storetest.Options.HurtRow.
func hurtRow(t *testing.T, address, old, new string) {
	t.Helper()
	if _, err := asOwner(t, address).Exec(t.Context(), `UPDATE sessions SET state = convert_to(replace(convert_from(state, 'UTF8'), $1, $2), 'UTF8'), agent = replace(agent, $1, $2)`, old, new); err != nil {
		t.Fatal(err)
	}
}
