package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
)

// BenchmarkFeed compares what it costs the server to feed the index with what the
// appends before cost it: the CPU time of its processes, which does not depend on what
// else the machine does, and the WAL. The messages have 80 words; there are 100,000
// before (20,000 with -short). The appends are of one event, by 64 writers, and of 500,
// as those of an import.
func BenchmarkFeed(b *testing.B) {
	before, n := 100_000, 20_000
	if testing.Short() {
		before, n = 20_000, 5_000
	}
	c := pgtest.New(b, pgtest.Options{Settings: []string{"max_wal_size = 4GB"}})
	dsn := c.DSN(b)
	s := openTest(b, dsn)
	library(b, s, 0, before)
	s.caughtUp(b)
	for _, kind := range []struct {
		name string
		do   func()
	}{
		{"single", func() { oneByOne(b, s, n) }},
		{"batches", func() { library(b, s, before, before+n) }},
	} {
		b.Run(kind.name, func(b *testing.B) {
			pgtest.Exec(b, c.Admin(), `CHECKPOINT`)
			began := spentBy(b, c)
			err := s.write(b.Context(), func(t *tx) error {
				if err := t.lockIndex(); err != nil { // the feeder has to wait
					return err
				}
				kind.do()
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			appended := spentBy(b, c)
			s.caughtUp(b)
			fed := spentBy(b, c)
			events := float64(n)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric((appended.cpu-began.cpu).Seconds()*1e6/events, "appends-µs/event")
			b.ReportMetric((fed.cpu-appended.cpu).Seconds()*1e6/events, "feeder-µs/event")
			b.ReportMetric(float64(fed.cpu-appended.cpu)/float64(appended.cpu-began.cpu), "feeder/appends")
			b.ReportMetric((appended.wal-began.wal)/events, "appends-WAL-B/event")
			b.ReportMetric((fed.wal-appended.wal)/events, "feeder-WAL-B/event")
		})
	}
}

// A spending is what a server has used.
type spending struct {
	cpu time.Duration // of all its processes
	wal float64       // bytes
}

func spentBy(b *testing.B, c *pgtest.Cluster) (s spending) {
	b.Helper()
	server := strconv.Itoa(c.Postmaster(b))
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(all) == 0 {
		b.Skipf("CPU times of other processes are read from /proc, which is not there: %v", err)
	}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// Its ID, its name in parentheses, its state, its parent's ID; the 14th to 17th
		// field are its times and those of its children that ended, in 1/100 s.
		_, rest, _ := strings.Cut(string(text), ") ")
		f := strings.Fields(rest)
		own, of := f[11:13], f[1]
		switch {
		case strings.HasPrefix(string(text), server+" "):
			own = f[11:15]
		case of != server:
			continue
		}
		for _, ticks := range own {
			n, err := strconv.Atoi(ticks)
			if err != nil {
				b.Fatal(err)
			}
			s.cpu += time.Duration(n) * 10 * time.Millisecond
		}
	}
	pg, err := pgx.Connect(b.Context(), c.Admin())
	if err != nil {
		b.Fatal(err)
	}
	defer pg.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	if err := pg.QueryRow(b.Context(), `SELECT (pg_current_wal_insert_lsn() - '0/0')::float8`).Scan(&s.wal); err != nil {
		b.Fatal(err)
	}
	return s
}

// oneByOne appends messages like library's, each by itself, as 64 writers.
func oneByOne(b *testing.B, s *Store, messages int) {
	b.Helper()
	const writers = 64
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			words := rand.NewZipf(rand.New(rand.NewPCG(3, uint64(w))), 1.1, 8, 20_000)
			id := skein.SessionID(fmt.Sprint("one-", w))
			evs := []skein.Event{skein.NewEvent(skein.KindCreated, skein.Time(1e7), skein.Created{User: skein.User(fmt.Sprint("user-", w%10))})}
			for i := range messages / writers {
				e := skein.Say(skein.Time(1e7+i), skein.UserSays(sentence(words, 80)))
				e.ClientID = skein.ClientID(fmt.Sprint(id, "-", i))
				if _, err := skein.Add(context.Background(), s, id, append(evs, e)...); err != nil {
					b.Error(err)
					return
				}
				evs = nil
			}
		})
	}
	wg.Wait()
}

// sentence returns n words.
func sentence(words *rand.Zipf, n int) string {
	var text strings.Builder
	for range n {
		fmt.Fprintf(&text, "w%d ", words.Uint64())
	}
	return text.String()
}
