package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// BenchmarkSearch searches for words of different frequency among 1,000,000
// messages (20,000 with -short) of ten users, and reports the space on disk, table by
// table.
func BenchmarkSearch(b *testing.B) {
	messages := 1_000_000
	if testing.Short() {
		messages = 20_000
	}
	ctx, dsn := context.Background(), pgtest.DSN(b)
	s := openTest(b, dsn)
	began := time.Now()
	library(b, s, 0, messages)
	b.Logf("%d messages appended in %s", messages, time.Since(began).Round(time.Second))
	s.caughtUp(b)
	b.Logf("indexed after %s", time.Since(began).Round(time.Second))
	pgtest.Exec(b, dsn, `VACUUM ANALYZE`)
	s.tables(b, messages)
	ann := s.As("user-0")
	for _, word := range []string{"w19000", "w3000", "w1000", "w100", "w0"} { // from rare to in nearly every message
		b.Run(word, func(b *testing.B) {
			var all []time.Duration
			hits, cut := 0, false
			for b.Loop() {
				began := time.Now()
				r, err := ann.Search(ctx, skein.Query{Terms: []skein.Term{{Words: []string{word}}}, Limit: 20})
				if err != nil {
					b.Fatal(err)
				}
				all = append(all, time.Since(began))
				hits, cut = len(r.Hits), r.CutOff
			}
			slices.Sort(all)
			b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
			b.Logf("%d hits, cut off: %v", hits, cut)
		})
	}
}

// library appends messages number from to to, whose words are as unevenly distributed as in a language.
func library(b *testing.B, s *Store, from, to int) {
	b.Helper()
	const batch, users = 500, 10
	dice := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(dice, 1.1, 8, 20_000)
	for i := from; i < to; i += batch {
		user := skein.User(fmt.Sprint("user-", i/batch%users))
		evs := []skein.Event{skein.NewEvent(skein.KindCreated, skein.Time(i+1), skein.Created{User: user})}
		for n := range batch {
			e := skein.Say(skein.Time(i+n+1), skein.UserSays(sentence(words, 80)))
			e.ClientID = skein.ClientID(fmt.Sprint("c", i+n))
			evs = append(evs, e)
		}
		if _, err := skein.Add(context.Background(), s, skein.SessionID(fmt.Sprint("lib-", i)), evs...); err != nil {
			b.Fatal(err)
		}
	}
}

// tables logs the space that each table takes, in total and per event.
func (s *Store) tables(b *testing.B, events int) {
	b.Helper()
	err := s.ask(context.Background(), `SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class
		WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_total_relation_size(oid) > 1000000 ORDER BY pg_total_relation_size(oid) DESC`, nil, func(r wire.Row) error {
		var name string
		var table, indexes int64
		err := r.Scan(&name, &table, &indexes)
		b.Logf("%-10s %8.1f MB and indexes %8.1f MB; for each event %6.1f and %6.1f bytes", name, float64(table)/1e6, float64(indexes)/1e6,
			float64(table)/float64(events), float64(indexes)/float64(events))
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}
