package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/postgres"
)

// benchText is a message of a usual length.
var benchText = strings.Repeat("what was said and what was done about it, line by line\n", 15)

// durable returns the address of a new database on a server that syncs, which the
// servers of tests do not.
func durable(b *testing.B) string {
	b.Helper()
	if os.Getenv(pgtest.Env) != "" {
		return pgtest.DSN(b)
	}
	return pgtest.New(b, pgtest.Options{}).DSN(b)
}

func openBench(b *testing.B, address string) *postgres.Store {
	b.Helper()
	s, err := postgres.Open(context.Background(), address, postgres.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

// BenchmarkAppend appends messages of 800 bytes, each a durable call of its own:
// 64 writers to as many sessions, and 64 to one.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name     string
		sessions int
	}{{"64 sessions", 64}, {"one session", 1}} {
		b.Run(c.name, func(b *testing.B) {
			s := openBench(b, durable(b)).As("ann")
			for i := range c.sessions {
				if _, err := skein.Add(b.Context(), s, sessionID(i), skein.NewEvent(skein.KindCreated, noon, skein.Created{})); err != nil {
					b.Fatal(err)
				}
			}
			appendAll(b, s, c.sessions)
		})
	}
}

func sessionID(i int) skein.SessionID { return skein.SessionID(fmt.Sprint("s", i)) }

const noon skein.Time = 1777896000000

func appendAll(b *testing.B, s skein.Store, sessions int) {
	var n atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for w := range 64 {
		wg.Go(func() {
			for {
				i := n.Add(1)
				if i > int64(b.N) {
					return
				}
				e := skein.Say(noon+skein.Time(i), skein.UserSays(benchText))
				e.ClientID = skein.ClientID(fmt.Sprint("c", i))
				if _, err := skein.Add(context.Background(), s, sessionID(w%sessions), e); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
}

// BenchmarkBesidePgbench appends messages of 800 bytes, each durable by itself, to
// 64 sessions over as many connections: by the store, which builds its index
// meanwhile, and, with the same statements, by pgbench; in turn for some seconds
// each, every time in a new database of one server. ratio is the median of the
// rounds, store to pgbench.
func BenchmarkBesidePgbench(b *testing.B) {
	const sessions, rounds, seconds = 64, 5, 4
	program := pgbench(b)
	server := pgtest.New(b, pgtest.Options{Settings: []string{"max_connections = 200"}})
	for _, connections := range []int{16, sessions} {
		b.Run(fmt.Sprint(connections, " connections"), func(b *testing.B) {
			var ratios, ours, theirs []float64
			for round := range rounds {
				dsn := server.DSN(b)
				s, err := postgres.Open(b.Context(), dsn+"&pool_max_conns="+strconv.Itoa(connections), postgres.Options{})
				if err != nil {
					b.Fatal(err)
				}
				ids, others := beginMany(b, s.As("ann"), "s", sessions), beginMany(b, s.As("ann"), "p", connections)
				ours = append(ours, appendFor(b, s.As("ann"), ids, seconds*time.Second))
				first := firstNumber(b, dsn, others[0])
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				theirs = append(theirs, runPgbench(b, program, dsn, first, connections, seconds))
				ratios = append(ratios, ours[round]/theirs[round])
				b.Logf("store %.0f/s, pgbench %.0f/s, ratio %.2f", ours[round], theirs[round], ratios[round])
			}
			for name, of := range map[string][]float64{"appends/s": ours, "pgbench/s": theirs, "ratio": ratios} {
				slices.Sort(of)
				b.ReportMetric(of[rounds/2], name)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// beginMany makes sessions whose names have a prefix, one after the other, and returns
// their IDs.
func beginMany(b *testing.B, s skein.Store, name string, sessions int) (ids []skein.SessionID) {
	b.Helper()
	for i := range sessions {
		ids = append(ids, skein.SessionID(fmt.Sprint(name, i)))
		if _, err := skein.Add(b.Context(), s, ids[i], skein.NewEvent(skein.KindCreated, noon, skein.Created{})); err != nil {
			b.Fatal(err)
		}
	}
	return ids
}

// appendFor appends to each of the sessions, one message after the other, and
// returns how many it appended per second.
func appendFor(b *testing.B, s skein.Store, ids []skein.SessionID, long time.Duration) float64 {
	b.Helper()
	var n atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for _, id := range ids {
		wg.Go(func() {
			for i := 0; time.Since(began) < long; i++ {
				e := skein.Say(noon+skein.Time(i), skein.UserSays(benchText))
				e.ClientID = skein.ClientID(fmt.Sprint(id, "-", i))
				if _, err := skein.Add(context.Background(), s, id, e); err != nil {
					b.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(n.Load()) / time.Since(began).Seconds()
}

// pgbench returns the path of the program.
func pgbench(b *testing.B) string {
	b.Helper()
	program, err := exec.LookPath("pgbench")
	if found, gerr := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench"); gerr == nil && len(found) > 0 {
		program, err = found[len(found)-1], nil
	}
	if err != nil {
		b.Skip("pgbench is not installed")
	}
	return program
}

// runPgbench runs the statements of the usual append, a connection for each of
// the sessions whose numbers begin at first, and returns how many it ran per second.
func runPgbench(b *testing.B, program, dsn string, first int64, sessions, seconds int) float64 {
	b.Helper()
	script := filepath.Join(b.TempDir(), "append.sql")
	if err := os.WriteFile(script, []byte(pgbenchScript(first)), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(program, "-n", "-M", "prepared", "-c", strconv.Itoa(sessions), "-j", "2", "-T", strconv.Itoa(seconds), "-D", "last=1", "-f", script, dsn)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("pgbench: %v\n%s", err, out)
	}
	m := regexp.MustCompile(`tps = ([0-9.]+)`).FindSubmatch(out)
	if m == nil || !bytes.Contains(out, []byte("number of failed transactions: 0 ")) {
		b.Fatalf("%s", out)
	}
	tps, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return tps
}

// firstNumber returns the number of a session.
func firstNumber(b *testing.B, dsn string, id skein.SessionID) (n int64) {
	b.Helper()
	c, err := pgx.Connect(b.Context(), pgtest.As(b, dsn, "skein_all"))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	if err := c.QueryRow(b.Context(), `SELECT n FROM heads WHERE id = $1`, string(id)).Scan(&n); err != nil {
		b.Fatal(err)
	}
	return n
}

// pgbenchScript is the pipeline of the usual append as a pgbench script.
func pgbenchScript(first int64) string {
	payload := skein.MustJSON(skein.UserSays(benchText))
	state := skein.MustJSON(skein.Session{ID: "s0", User: "ann", First: "what was said", LastPrompt: "what was said", Created: noon, Updated: noon})
	values := []string{
		"'ann'", ":n", ":last", "0", ":next", "'{}'", "true", "ARRAY[:client]", "'{}'", "'{}'",
		"ARRAY[:at]", "ARRAY['said']", "ARRAY[:last]", "ARRAY[:last]", "ARRAY[:last]", "ARRAY[false]", "ARRAY[false]", "ARRAY[false]",
		"ARRAY[:client]", "ARRAY[sha256(:client::bytea)]", "ARRAY['user']", "ARRAY[null]", "ARRAY[null]", "ARRAY[null]", "ARRAY[null]", "ARRAY[null]",
		"ARRAY[convert_to(:payload, 'UTF8')]", "0",
		"convert_to(:state, 'UTF8')", "''", "''", "''", "''", "''", "''", "''", "''", "''", "'{}'", "false", "false", "false", "(:at::bigint >> 10)", ":at::bigint", "1000",
	}
	sql := postgres.PutSQL()
	for i := len(values); i > 0; i-- {
		sql = strings.ReplaceAll(sql, "$"+strconv.Itoa(i), values[i-1])
	}
	sql = strings.NewReplacer(":client", "('c' || :client_id || '-' || :last)", ":payload", quote(payload), ":state", quote(state)).Replace(sql)
	role := strings.NewReplacer("$1", "'skein_user'", "$2", "'ann'", "$3", "1", "\n", " ").Replace(postgres.SetPut)
	return fmt.Sprintf(`\set n %d + :client_id
\set next :last + 1
\set at %d + :last
\startpipeline
%s;
%s;
\endpipeline
\set last :next
`, first, int64(noon), role, strings.ReplaceAll(sql, "\n", " "))
}

func quote(b []byte) string {
	return "E'" + strings.NewReplacer(`\`, `\\`, "'", "''", ":", `\x3a`).Replace(string(b)) + "'"
}
