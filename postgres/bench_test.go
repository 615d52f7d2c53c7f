package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/postgres"
)

// benchText is a message of a usual length.
var benchText = strings.Repeat("what was said and what was done about it, line by line\n", 15)

// durable returns the address of a new database on a server that syncs, as those
// of tests do not.
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

// BenchmarkPgbench runs the statement of the usual append by pgbench, 16
// connections on a session each.
func BenchmarkPgbench(b *testing.B) {
	program, err := exec.LookPath("pgbench")
	if found, gerr := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench"); gerr == nil && len(found) > 0 {
		program, err = found[len(found)-1], nil
	}
	if err != nil {
		b.Skip("pgbench is not installed")
	}
	dsn := durable(b)
	s := openBench(b, dsn).As("ann")
	for i := range 16 {
		if _, err := skein.Add(b.Context(), s, sessionID(i), skein.NewEvent(skein.KindCreated, noon, skein.Created{})); err != nil {
			b.Fatal(err)
		}
	}
	script := filepath.Join(b.TempDir(), "append.sql")
	if err := os.WriteFile(script, []byte(pgbenchScript(firstNumber(b, dsn))), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(program, "-n", "-M", "prepared", "-c", "16", "-j", "2", "-T", "5", "-D", "last=1", "-f", script, dsn)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatalf("pgbench: %v after %v\n%s", err, time.Since(began), out.String())
	}
	m := regexp.MustCompile(`tps = ([0-9.]+)`).FindSubmatch(out.Bytes())
	if m == nil {
		b.Fatal(out.String())
	}
	tps, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(tps, "appends/s")
	b.Logf("%s", out.String())
}

// firstNumber returns the number of the first session; the others follow.
func firstNumber(b *testing.B, dsn string) (n int64) {
	b.Helper()
	c, err := pgx.Connect(b.Context(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	if err := c.QueryRow(b.Context(), `SELECT min(n) FROM heads`).Scan(&n); err != nil {
		b.Fatal(err)
	}
	return n
}

// pgbenchScript is the pipeline of the usual append in pgbench's words.
func pgbenchScript(first int64) string {
	payload := skein.MustJSON(skein.UserSays(benchText))
	state := skein.MustJSON(skein.Session{ID: "s0", User: "ann", First: "what was said", LastPrompt: "what was said", Created: noon, Updated: noon})
	values := []string{
		"'ann'", ":n", ":last", "0", ":next", "'{}'", "true", "ARRAY[:client]", "'{}'", "'{}'",
		"ARRAY[:at]", "ARRAY['said']", "ARRAY[:last]", "ARRAY[:last]", "ARRAY[:last]", "ARRAY[false]", "ARRAY[false]", "ARRAY[false]",
		"ARRAY[:client]", "ARRAY[sha256(:client::bytea)]", "ARRAY['user']", "ARRAY[null]", "ARRAY[null]", "ARRAY[null]", "ARRAY[null]", "ARRAY[null]",
		"ARRAY[convert_to(:payload, 'UTF8')]", "0",
		"convert_to(:state, 'UTF8')", "''", "'what was said'", "''", "''", "''", "''", "''", "''", "''", "''", "'{}'", "false", "false", "false", "(:at::bigint >> 10)", ":at::bigint", "1000",
	}
	sql := postgres.PutSQL()
	for i := len(values); i > 0; i-- {
		sql = strings.ReplaceAll(sql, "$"+strconv.Itoa(i), values[i-1])
	}
	sql = strings.NewReplacer(":client", "('c' || :client_id || '-' || :last)", ":payload", quote(payload), ":state", quote(state)).Replace(sql)
	role := strings.NewReplacer("$1", "'skein_user'", "$2", "'ann'").Replace(postgres.SetRole)
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
