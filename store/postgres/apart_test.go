package postgres_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/postgres"
)

// wantApart fails the test unless a connection at dsn sees no row of any table
// before it has taken a role, and no login owns one.
func wantApart(t *testing.T, dsn string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	var tables, logins []string
	if err := c.QueryRow(t.Context(), `SELECT array_agg(oid::regclass::text ORDER BY oid), array_agg(oid::regclass::text) FILTER (WHERE (SELECT rolcanlogin FROM pg_roles r WHERE r.oid = relowner))
		FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S', 'v', 'm')`).Scan(&tables, &logins); err != nil || len(tables) < 20 || len(logins) > 0 {
		t.Fatalf("there are the tables %q, a login's are %q, %v", tables, logins, err)
	}
	for _, name := range tables {
		for _, sql := range []string{`SELECT FROM ` + name + ` LIMIT 1`, `SELECT set_config('skein.user', 'ann', false) FROM ` + name} {
			if tag, err := c.Exec(t.Context(), sql); (err == nil || !strings.Contains(err.Error(), noPermission)) && name != "skein_version" {
				t.Errorf("%s = %v, %v without a role, want no permission", sql, tag, err)
			}
		}
	}
	for _, sql := range []string{`SELECT FROM find(NULL, 'kettle', 'x', false, '', false, 0, NULL, false, NULL, 9, 9)`, `SELECT FROM named(NULL, '%', 9)`, `DROP TABLE events`, `ALTER TABLE events DISABLE ROW LEVEL SECURITY`} {
		if _, err := c.Exec(t.Context(), `BEGIN`); err != nil {
			t.Fatal(err)
		}
		if tag, err := c.Exec(t.Context(), sql); (err == nil || !strings.Contains(err.Error(), noPermission)) && !strings.HasPrefix(sql, "DROP") {
			t.Errorf("%s = %v, %v without a role, want no permission", sql, tag, err)
		}
		if _, err := c.Exec(t.Context(), `ROLLBACK`); err != nil {
			t.Fatal(err)
		}
	}
}

// warnings returns the warnings of Examine in the area of rights.
func warnings(t *testing.T, s *postgres.Store) (all []string) {
	t.Helper()
	for f, err := range s.Examine(t.Context(), inspect.Examination{}) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Area == "rights" && f.Level == inspect.Warning {
			all = append(all, f.Text)
		}
	}
	return all
}

// before restores the state of a database in which the login owned the tables and had
// the rights of the roles, and the role for the owner did not exist.
func before(t *testing.T, server *pgtest.Cluster, dsn string) (login string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := url.Parse(server.Admin())
	if err != nil {
		t.Fatal(err)
	}
	admin.Path, login = u.Path, u.User.Username()
	pgtest.Exec(t, admin.String(), `REASSIGN OWNED BY skein_owner TO `+login, `DROP OWNED BY skein_owner`, `DROP ROLE skein_owner`, `ALTER ROLE `+login+` INHERIT`)
	return login
}

// reads fails the test unless ann and bob each find their own kettle in s, and the
// store of all users finds both.
func reads(t *testing.T, s *postgres.Store) {
	t.Helper()
	for user, want := range map[skein.User]int{"ann": 1, "bob": 1, "eve": 0, "": 2} {
		r, err := s.As(user).Search(t.Context(), skein.Query{Terms: []skein.Term{{Words: []string{"kettle"}}}})
		if err != nil || len(r.Hits) != want {
			t.Errorf("Search as %q yields %d hits, %v, want %d", user, len(r.Hits), err, want)
		}
	}
}

func stock(t *testing.T, dsn string) {
	t.Helper()
	s := open(t, dsn)
	add(t, s.As("ann"), "a", created(), said("a kettle"))
	add(t, s.As("bob"), "b", created(), said("a kettle too"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAConnectionThatTakesNoRoleSeesNothing(t *testing.T) {
	dsn := pgtest.DSN(t)
	stock(t, dsn)
	wantApart(t, dsn)
	s := open(t, dsn)
	reads(t, s)
	if w := warnings(t, s); len(w) > 0 {
		t.Errorf("Examine warns of %q", w)
	}
}

func TestALoginThatOwnsTheTablesIsSetApartAtTheNextStart(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	dsn := server.DSN(t)
	stock(t, dsn)
	before(t, server, dsn)
	s := open(t, dsn)
	reads(t, s)
	add(t, s.As("ann"), "a", said("another"))
	if w := warnings(t, s); len(w) > 0 {
		t.Errorf("Examine warns of %q", w)
	}
	wantApart(t, dsn)
	stock(t, server.DSN(t)) // an empty database of a login that inherits nothing
}

// The role in the address was made by somebody else.
func TestALoginThatMayNotMakeRolesIsToldWhatToRun(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	dsn := server.DSN(t)
	stock(t, dsn)
	login := before(t, server, dsn)
	pgtest.Exec(t, server.Admin(), `ALTER ROLE `+login+` NOCREATEROLE`)
	s := open(t, dsn) // it continues as before
	reads(t, s)
	w := warnings(t, s)
	if len(w) != 1 || !strings.Contains(w[0], login) || !strings.Contains(w[0], ": CREATE ROLE") {
		t.Fatalf("Examine warns of %q, want one of %s, with what to run", w, login)
	}
	todo := w[0][strings.Index(w[0], ": CREATE ROLE")+2:]
	pgtest.Exec(t, server.Admin(), slices.DeleteFunc(strings.Split(todo, ";"), func(s string) bool { return s == "" })...)
	s = open(t, dsn)
	reads(t, s)
	if w := warnings(t, s); len(w) > 0 {
		t.Errorf("Examine warns of %q after what it said was run", w)
	}
	wantApart(t, dsn)
}

// Up to version 15, a role inherits from all roles that it is a member of, or from none.
func TestALoginKeepsRightsThatAreNotSkeins(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	dsn := server.DSN(t)
	stock(t, dsn)
	login := before(t, server, dsn)
	pgtest.Exec(t, server.Admin(), `CREATE ROLE staff`, `GRANT staff TO `+login)
	s := open(t, dsn)
	reads(t, s)
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	var still, later bool
	if err := c.QueryRow(t.Context(), `SELECT pg_has_role('staff', 'USAGE'), current_setting('server_version_num')::int >= 160000`).Scan(&still, &later); err != nil || !still {
		t.Errorf("the login has the rights of staff: %v, %v, want that it keeps them", still, err)
	}
	if w := warnings(t, s); !later && (len(w) != 1 || !strings.Contains(w[0], "a login role of its own")) {
		t.Errorf("Examine warns of %q, want that the login sees all", w)
	}
}

func TestALoginForWhichRowSecurityDoesNotHoldIsNamed(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	u, err := url.Parse(server.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	admin, err := url.Parse(server.Admin())
	if err != nil {
		t.Fatal(err)
	}
	u.User = admin.User
	stock(t, u.String())
	s := open(t, u.String())
	reads(t, s)
	if w := warnings(t, s); !slices.ContainsFunc(w, func(w string) bool { return strings.Contains(w, "row security does not apply to it") }) {
		t.Errorf("Examine warns of %q, want of the superuser", w)
	}
}
