package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
)

// A tableOf is a table, view, or the like of the schema.
type tableOf struct {
	name, kind string
	columns    []columnOf
}

type columnOf struct{ name, kind string }

// tablesOf returns all tables of the schema, with the columns that can be written.
func tablesOf(t *testing.T, c *pgx.Conn) (all []tableOf) {
	t.Helper()
	rows, err := c.Query(t.Context(), `SELECT c.relname::text, c.relkind::text, a.attname::text, format_type(a.atttypid, NULL)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY 1, a.attnum`)
	if err != nil {
		t.Fatal(err)
	}
	var x tableOf
	var col columnOf
	if _, err = pgx.ForEachRow(rows, []any{&x.name, &x.kind, &col.name, &col.kind}, func() error {
		if len(all) == 0 || all[len(all)-1].name != x.name {
			all = append(all, x)
		}
		last := &all[len(all)-1]
		last.columns = append(last.columns, col)
		return nil
	}); err != nil || len(all) < 20 {
		t.Fatalf("the schema has %d tables, %v", len(all), err)
	}
	return all
}

// owned reports whether each row of a table belongs to a user.
func (x *tableOf) owned() bool {
	return slices.ContainsFunc(x.columns, func(c columnOf) bool { return c.name == "user_id" })
}

// row returns the statement that writes a row of a user. The rows of different users
// and numbers do not conflict.
func (x *tableOf) row(t *testing.T, user string, n int) string {
	t.Helper()
	var names, values []string
	for _, c := range x.columns {
		v := map[string]string{
			"text": fmt.Sprintf("'x%d'", n), "text[]": "'{}'", "integer[]": "'{}'", "bigint": fmt.Sprint(1_000_000 + n), "integer": fmt.Sprint(n), "boolean": "false",
			"bytea": fmt.Sprintf(`'\x%02x'`, n), "timestamp with time zone": "now()", "xid8": fmt.Sprintf("'%d'", n), "tsvector": "''",
		}[c.kind]
		if c.name == "user_id" {
			v = "'" + user + "'"
		}
		if v == "" {
			t.Fatalf("%s.%s: this test knows no value of type %s", x.name, c.name, c.kind)
		}
		names, values = append(names, `"`+c.name+`"`), append(values, v)
	}
	return fmt.Sprintf(`INSERT INTO "%s" (%s) VALUES (%s)`, x.name, strings.Join(names, ", "), strings.Join(values, ", "))
}

// as runs f in a transaction with a role and a user, and rolls it back.
func as(t *testing.T, c *pgx.Conn, role, user string, f func(pgx.Tx)) {
	t.Helper()
	tx, err := c.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background()) //nolint:errcheck // the connection says so soon
	if _, err := tx.Exec(t.Context(), `SELECT set_config('role', $1, true), set_config('skein.user', $2, true)`, role, user); err != nil {
		t.Fatal(err)
	}
	f(tx)
}

// changes runs a statement in a transaction that is rolled back, and returns how many
// rows it has changed, and the code of its error.
func changes(t *testing.T, tx pgx.Tx, sql string, args ...any) (n int64, code string) {
	t.Helper()
	inner, err := tx.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Rollback(context.Background()) //nolint:errcheck // the transaction says so soon
	tag, err := inner.Exec(t.Context(), sql, args...)
	var e *pgconn.PgError
	switch {
	case errors.As(err, &e):
		return 0, e.Code
	case err != nil:
		t.Fatalf("%s: %v", sql, err)
	}
	return tag.RowsAffected(), ""
}

const noPermission = "42501"

// A statement without the program's conditions is still limited by those of the
// database, on every table, including those added later.
func TestRowSecurityKeepsAUserFromAnothersRows(t *testing.T) {
	dsn := pgtest.DSN(t)
	open(t, dsn).Close()
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	for _, x := range tablesOf(t, c) {
		if !x.owned() || x.kind != "r" && x.kind != "p" {
			wantNobodys(t, c, &x)
			continue
		}
		as(t, c, "skein_all", "", func(tx pgx.Tx) {
			for n, user := range []string{"ann", "bob"} {
				if _, err := tx.Exec(t.Context(), x.row(t, user, n+1)); err != nil {
					t.Fatalf("%s: a row of %s: %v", x.name, user, err)
				}
			}
			if _, err := tx.Exec(t.Context(), `SELECT set_config('role', 'skein_user', true), set_config('skein.user', 'bob', true)`); err != nil {
				t.Fatal(err)
			}
			wantOwn(t, tx, &x)
		})
	}
}

// wantNobodys fails the test unless users can at most read x, and only if x is the
// version or the watermark.
func wantNobodys(t *testing.T, c *pgx.Conn, x *tableOf) {
	t.Helper()
	var may string
	if err := c.QueryRow(t.Context(), `SELECT coalesce(string_agg(v, ' '), '') FROM unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) v
		WHERE has_table_privilege('skein_user', $1, v)`, x.name).Scan(&may); err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"skein_version": "SELECT", "indexed": "SELECT"}[x.name]; may != want {
		t.Errorf("in %s, whose rows are no user's, skein_user may %q, want %q", x.name, may, want)
	}
}

// wantOwn fails the test unless bob, who has one row of x, as ann has, reaches at most
// his own.
func wantOwn(t *testing.T, tx pgx.Tx, x *tableOf) {
	t.Helper()
	var may string
	if err := tx.QueryRow(t.Context(), `SELECT coalesce(string_agg(v, ' '), '') FROM unnest('{TRUNCATE,REFERENCES,TRIGGER}'::text[]) v WHERE has_table_privilege($1, v)`, x.name).Scan(&may); err != nil || may != "" {
		t.Errorf("%s: skein_user may %s, %v", x.name, may, err)
	}
	name := `"` + x.name + `"`
	for _, sql := range []string{
		`SELECT 1 FROM ` + name, `SELECT 1 FROM ` + name + ` FOR UPDATE`, `UPDATE ` + name + ` SET user_id = user_id`, `DELETE FROM ` + name,
		`DELETE FROM ` + name + ` WHERE user_id = 'ann'`, `UPDATE ` + name + ` SET user_id = 'bob' WHERE user_id = 'ann'`,
	} {
		n, code := changes(t, tx, sql)
		if of := strings.HasSuffix(sql, "'ann'"); code != noPermission && (code != "" || of && n != 0 || !of && n != 1) {
			t.Errorf("%s as bob: %d rows, %q, want his own alone", sql, n, code)
		}
	}
	for _, sql := range []string{x.row(t, "ann", 3), `UPDATE ` + name + ` SET user_id = 'ann'`, `TRUNCATE ` + name} {
		if n, code := changes(t, tx, sql); code != noPermission {
			t.Errorf("%s as bob: %d rows, %q, want no permission", sql, n, code)
		}
	}
	// Without a user: neither all rows, nor those whose user is ''.
	if _, err := tx.Exec(t.Context(), `SELECT set_config('skein.user', '', true)`); err != nil {
		t.Fatal(err)
	}
	if n, code := changes(t, tx, `SELECT 1 FROM `+name); n != 0 {
		t.Errorf("%s as nobody: %d rows, %q, want none", x.name, n, code)
	}
}

func TestTheRolesOwnNothing(t *testing.T) {
	dsn := pgtest.DSN(t)
	open(t, dsn)
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	var owned, bypass int
	if err := c.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM pg_class WHERE relowner IN ('skein_user'::regrole, 'skein_all'::regrole)),
		(SELECT count(*) FROM pg_roles WHERE rolname IN ('skein_user', 'skein_all') AND (rolbypassrls OR rolsuper OR rolcanlogin))`).Scan(&owned, &bypass); err != nil || owned+bypass != 0 {
		t.Errorf("the roles own %d tables, %d of them get by row security or may log in, %v, want 0, 0", owned, bypass, err)
	}
	// The test below checks the functions that see all rows.
	var definers, open string
	if err := c.QueryRow(t.Context(), `SELECT coalesce(string_agg(proname, ' ' ORDER BY proname), ''), coalesce(string_agg(proname, ' ') FILTER (WHERE pg_get_userbyid(proowner) <> 'skein_all' OR has_function_privilege('public', oid, 'EXECUTE')), '')
		FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef`).Scan(&definers, &open); err != nil || definers != "adopt edited find journal_edge named theirs" || open != "" {
		t.Errorf("the functions that see everybody's rows are %q, %q of them anybody's, %v", definers, open, err)
	}
}

// The functions that see all rows return and do no more than the store does for a user
// that names a session.
func TestWhatSeesAllTellsAUserLittle(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := open(t, dsn)
	ann := s.As("ann")
	for _, id := range []skein.SessionID{"a", "d"} {
		add(t, ann, id, created(), said("a kettle"))
	}
	for _, id := range []skein.SessionID{"a", "new"} {
		if _, err := skein.LeasesOf(ann).Acquire(t.Context(), id, skein.LeaseRequest{Program: "anns"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := skein.LifecycleOf(ann).Delete(t.Context(), "d", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	as(t, c, "skein_user", "bob", func(tx pgx.Tx) {
		for sql, want := range map[string]string{
			`SELECT string_agg(x::text, ' ') FROM theirs('{a,none}') x`:                                             `(a,1,,,,,)`,
			`SELECT string_agg(x.holder::json ->> 'program', ' ') FROM theirs('{new}') x WHERE x.last = 0 AND held`: `anns`,
		} {
			var got *string
			if err := tx.QueryRow(t.Context(), sql).Scan(&got); err != nil || got == nil && want != "" || got != nil && *got != want {
				t.Errorf("%s as bob = %v, %v, want %q", sql, got, err, want)
			}
		}
		for _, sql := range []string{
			`SELECT * FROM find('ann', 'x', NULL, false, '', false, 0, NULL, false, NULL, 9, 9)`, `SELECT * FROM find(NULL, 'x', NULL, false, '', false, 0, NULL, false, NULL, 9, 9)`,
			`SELECT * FROM edited('ann', '{1}')`, `SELECT * FROM edited(NULL, '{1}')`,
			`SELECT * FROM named('ann', '%', 9)`, `SELECT * FROM named(NULL, '%', 9)`, `SELECT adopt('new', 'ann', 1)`, `SELECT adopt('new', NULL, 1)`,
		} {
			if n, code := changes(t, tx, sql); code != noPermission {
				t.Errorf("%s as bob: %d rows, %q, want no permission", sql, n, code)
			}
		}
		for _, sql := range []string{
			`SELECT adopt('a', 'bob', 1)`, `SELECT adopt('new', 'bob', 99)`, `DELETE FROM tombstones`,
		} {
			if _, err := tx.Exec(t.Context(), sql); err != nil {
				t.Errorf("%s as bob = %v", sql, err)
			}
		}
		if _, err := tx.Exec(t.Context(), `SET LOCAL ROLE skein_all`); err != nil {
			t.Fatal(err)
		}
		var others string
		if err := tx.QueryRow(t.Context(), `SELECT string_agg(DISTINCT x.user_id, ' ') || ' ' || count(*) FROM (SELECT user_id FROM heads UNION ALL SELECT user_id FROM leases UNION ALL SELECT user_id FROM tombstones) x`).Scan(&others); err != nil || others != "ann 5" {
			t.Errorf("after what bob has done the rows are %q's, %v, want ann 5", others, err)
		}
	})
}

// Which user took a lease for a session that has not begun does not matter: it is the
// session that has an owner.
func TestALeaseGoesWithWhoBeginsTheSession(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := open(t, dsn)
	for _, c := range []struct{ taker, beginner skein.User }{{"ann", "bob"}, {"", "bob"}, {"ann", ""}} {
		id := skein.SessionID("of-" + c.taker + "-" + c.beginner)
		taker, beginner := s.As(c.taker), s.As(c.beginner)
		l, err := skein.LeasesOf(taker).Acquire(t.Context(), id, skein.LeaseRequest{Program: "takers"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = beginner.Append(t.Context(), skein.Batch{Session: id, Events: []skein.Event{created(), said("x")}})
		var locked *skein.LockedError
		if !errors.As(err, &locked) || locked.Holder.Program != "takers" {
			t.Errorf("%s: Append of %q = %v, want that the lease is held", id, c.beginner, err)
		}
		if _, err = skein.LeasesOf(beginner).Acquire(t.Context(), id, skein.LeaseRequest{}); !errors.As(err, &locked) {
			t.Errorf("%s: Acquire of %q = %v, want that the lease is held", id, c.beginner, err)
		}
		if _, err = beginner.Append(t.Context(), skein.Batch{Session: id, Fence: l.Fence, Events: []skein.Event{created(), said("x")}}); err != nil {
			t.Errorf("%s: Append of %q with the lease = %v", id, c.beginner, err)
		}
		if x, err := beginner.Session(t.Context(), id); err != nil || !strings.Contains(x.LockedBy, "takers") {
			t.Errorf("%s: Session = %+v, %v, want one that the taker has locked", id, x, err)
		}
		l, err = skein.LeasesOf(beginner).Acquire(t.Context(), id, skein.LeaseRequest{TakeOver: true})
		if err != nil {
			t.Errorf("%s: Acquire of who has begun it = %v", id, err)
		}
		if err := skein.LeasesOf(beginner).Release(t.Context(), l); err != nil {
			t.Error(err)
		}
	}
	// Any user that has the lease may release it and renew it.
	l, err := skein.LeasesOf(s.As("ann")).Acquire(t.Context(), "later", skein.LeaseRequest{TTL: frees})
	if err == nil {
		_, err = skein.LeasesOf(s.As("bob")).Renew(t.Context(), l, 2*frees)
	}
	if err == nil {
		err = skein.LeasesOf(s.As("cy")).Release(t.Context(), l)
	}
	if err == nil {
		_, err = skein.LeasesOf(s.As("ann")).Acquire(t.Context(), "later", skein.LeaseRequest{})
	}
	if err != nil {
		t.Errorf("the lease of a session that has not begun: %v", err)
	}
}
