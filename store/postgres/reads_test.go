package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/postgres/eventlog"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// opened returns a store in a new database. Its maintenance begins only when it is asked for: on a
// slow machine it would mend what a test damages before the test has looked.
func opened(t testing.TB) *Store {
	t.Helper()
	s, err := Open(t.Context(), pgtest.DSN(t), Options{first: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// sql runs statements as the role that sees all rows, each in a transaction of its own:
// a long one would keep all feeds of the server waiting.
func (s *Store) sql(t testing.TB, statements ...string) {
	t.Helper()
	for _, q := range statements {
		err := (&view{core: s.core}).write(context.Background(), func(tx *tx) error {
			_, err := tx.Exec(q)
			return err
		})
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// plan returns the server's plan for a query of s.
func (s *Store) plan(t testing.TB, sql string, args ...any) string {
	t.Helper()
	var lines []string
	err := s.ask(t.Context(), `EXPLAIN `+sql, args, func(r wire.Row) error {
		var line string
		err := r.Scan(&line)
		lines = append(lines, line)
		return err
	})
	if err != nil {
		t.Fatalf("EXPLAIN %s: %v", sql, err)
	}
	return strings.Join(lines, "\n")
}

// crowd fills the tables with sessions of ann, the first with many messages, and as
// many of other users, all of them newer.
func crowd(t testing.TB, s *Store, sessions, messages int) {
	t.Helper()
	user := `CASE WHEN i <= %[1]d THEN 'ann' ELSE 'u' || i %% 100 END`
	fill := func(sql string) string { return fmt.Sprintf(strings.ReplaceAll(sql, "USER", user), sessions, messages) }
	s.sql(t,
		fill(`INSERT INTO heads (id, user_id, n, last) SELECT 's' || lpad(i::text, 7, '0'), USER, i, CASE WHEN i = 1 THEN %[2]d ELSE 2 END FROM generate_series(1, 2 * %[1]d) i`),
		fill(`INSERT INTO sessions (user_id, n, id, state, project, parent, why, empty, recent, updated, key)
			SELECT USER, i, 's' || lpad(i::text, 7, '0'), convert_to(json_build_object('id', 's' || lpad(i::text, 7, '0'), 'user', USER, 'first_words', repeat('word ', 20) || i,
				'project', '/p' || i %% 500,
				'updated_at', to_char(to_timestamp((1790000000000 + i * 60000) / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'last', CASE WHEN i = 1 THEN %[2]d ELSE 2 END, 'said', CASE WHEN i = 1 THEN %[2]d ELSE 1 END)::text, 'UTF8'),
			'/p' || i %% 500, CASE WHEN i %% 100 = 0 THEN 's' || lpad((i %% 77)::text, 7, '0') ELSE '' END, 'child', false,
			(1790000000000 + i * 60000) >> 10, 1790000000000 + i * 60000, CASE WHEN i %% 10 = 0 THEN 'cli:' || i ELSE '' END FROM generate_series(1::bigint, 2 * %[1]d) i`),
		fill(`INSERT INTO names (user_id, n, name) SELECT USER, i, repeat('word ', 20) || i FROM generate_series(1::bigint, 2 * %[1]d) i`),
		fill(`INSERT INTO events (user_id, n, seq, at, kind, turn, ordinal, prev, piece, failed, imported, role, client, sum, payload)
			SELECT 'ann', 1, i, 1790000000000 + i, 'said', i, i, i - 1, false, false, i %% 2 = 0, 'user', 'c' || i, 0,
			convert_to('{"role":"user","parts":[{"kind":"text","text":"' || repeat('hello ', 30) || i || '"}]}', 'UTF8') FROM generate_series(1, %[2]d) i`),
		fill(`INSERT INTO files (user_id, format, path, session, id, copy_of, size, mtime, inode, "offset", records, damaged, head, state)
			SELECT USER, 'codex', convert_to('/x/' || i, 'UTF8'), 's' || lpad(i::text, 7, '0'), 'o' || i, '', 1, 1, 1, 1, 1, 0, '', '' FROM generate_series(1, 2 * %[1]d) i`),
		fill(`INSERT INTO charges (user_id, n, seq, request, slot, provider, model, tier, recorded, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
			SELECT USER, i, 1, 'r' || i, 0, 'p', 'm', '', false, 1, 1, 0, 0, 0, 0, 1, 0 FROM generate_series(1, 2 * %[1]d) i`),
		`INSERT INTO usage (user_id, n, slot, provider, model, tier, recorded, project, repository, agent, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
			SELECT c.user_id, c.n, slot, provider, c.model, tier, recorded, s.project, s.repository, s.agent, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported
			FROM charges c JOIN sessions s ON s.user_id = c.user_id AND s.n = c.n`,
	)
	if _, err := s.pool.Exec(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
}

// Every read uses an index that begins with the user: it never reads rows of another
// user, or a whole table.
func TestReadsGoByTheUsersIndex(t *testing.T) {
	all := opened(t)
	crowd(t, all, 5000, 20_000)
	ann := all.As("ann").(*Store)
	list := func(s *Store, f skein.Filter) string {
		sql, args := s.listQuery(f, nil, 50)
		return s.plan(t, sql, args...)
	}
	at := &skein.Session{ID: "s0002000", Updated: 1790000000000 + 2000*60000}
	for _, c := range []struct{ name, plan, index string }{
		{"list", list(ann, skein.Filter{}), "sessions_by_recent"},
		{"next page", list(ann, skein.Filter{Before: at}), "sessions_by_recent"},
		{"since", list(ann, skein.Filter{Since: at.Updated}), "sessions_by_recent"},
		{"list of one user, by everybody's", list(all, skein.Filter{User: "ann"}), "sessions_by_recent"},
		{"everybody's list", list(all, skein.Filter{}), "sessions_all_by_recent"},
		{"everybody's next page", list(all, skein.Filter{Before: at}), "sessions_all_by_recent"},
		{"project", list(ann, skein.Filter{Project: "/p7"}), "sessions_by_project"},
		{"key", list(ann, skein.Filter{Key: "cli:70"}), "sessions_by_key"},
		{"children", list(ann, skein.Filter{Parent: "s0000023"}), "sessions_by_parent"},
		{"beginning of an ID", list(ann, skein.Filter{IDPrefix: "s00012"}), "sessions_by_id"},
		{"end of an ID", list(ann, skein.Filter{IDSuffix: "01234"}), "sessions_by_end"},
		{"newest", ann.plan(t, eventlog.SelectBack, "ann", 1, 20_000, 0, 50), "events_pkey"},
		{"marks", ann.plan(t, `SELECT e.payload FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq > $3 AND e.seq <= $4 AND `+eventlog.MarkKinds, "ann", 1, 0, 20_000), "events_marks"},
		{"client IDs", findIn(t, ann), "events_by_client"},
		{"everybody's client IDs", findIn(t, all), "events_by_client"},
		{"usage of a session", usageQuery(t, ann, skein.UsageQuery{Sessions: []skein.SessionID{"s0000077"}}), "usage_pkey"},
		{"source file", fileIn(t, ann), "files_by_path"},
		{"everybody's source file", fileIn(t, all), "files_by_path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(c.plan, "using "+c.index+" ") && !strings.Contains(c.plan, "on "+c.index+" ") || strings.Contains(c.plan, "Seq Scan on sessions") ||
				strings.Contains(c.plan, "Seq Scan on events") || strings.Contains(c.plan, "Seq Scan on files") {
				t.Errorf("the plan does not go by %s:\n%s", c.index, c.plan)
			}
		})
	}
}

func findIn(t *testing.T, s *Store) string {
	sql, args := findQuery(s.user, []string{"c70", "c80"})
	return s.plan(t, sql, args...)
}

func usageQuery(t *testing.T, s *Store, q skein.UsageQuery) string {
	sql, args := s.usageQuery(&q)
	return s.plan(t, sql, args...)
}

func fileIn(t *testing.T, s *Store) string {
	sql, args := fileQuery(s.user, "codex", "/x/77")
	return s.plan(t, sql, args...)
}

// An ID, key, or path is compared by its bytes, even if no text column can hold it.
func TestWhatTextCannotHold(t *testing.T) {
	s := opened(t)
	ctx := t.Context()
	project := "/p\x00q"
	if _, err := skein.Add(ctx, s, "a", skein.NewEvent(skein.KindCreated, 1, skein.Created{Project: project}), skein.Say(2, skein.UserSays("x"))); err != nil {
		t.Fatal(err)
	}
	for f, want := range map[string]int{project: 1, "/p\ufffdq": 0, "/p\x00Q": 0} {
		n := 0
		for _, err := range s.Sessions(ctx, skein.Filter{Project: f}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != want {
			t.Errorf("Sessions of project %q: %d, want %d", f, n, want)
		}
	}
	for _, id := range []skein.SessionID{"a\x00", "\xff", "a\xc3"} {
		if _, err := s.Session(ctx, id); err == nil || !strings.Contains(err.Error(), "not found") {
			t.Errorf("Session(%q) = %v, want not found", id, err)
		}
	}
	if found, err := s.Find(ctx, []skein.ClientID{"\x00", "\xff"}); err != nil || len(found) > 0 {
		t.Errorf("Find = %v, %v, want nothing", found, err)
	}
	path := "/x\x00/" + strings.Repeat("long", 3000) + "\xff"
	f := skein.SourceFile{Format: "f", Path: path, Session: "a"}
	if _, err := s.Append(ctx, skein.Batch{Session: "a", Import: &skein.Import{File: f}}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.File(ctx, "f", path); err != nil || got.Path != path {
		t.Errorf("File = %q, %v", got.Path, err)
	}
}
