package schema

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/sqlstate"
)

//go:embed *.sql
var schemaFS embed.FS

const (
	// minServer is the first version of PostgreSQL that has pg_current_xact_id.
	minServer = 130000
	// migrateLock is the advisory lock for migrating.
	migrateLock = 0x736b65696e01
)

// Steps make the tables: the first makes them in an empty
// database, and each of the others changes what the one before it left. The number of
// steps is the version of the tables.
type Steps []string

// Version returns the version of the tables that s makes.
func (s Steps) Version() int { return len(s) }

// All returns the schema of this version: the files beside this one, in order. The
// error is that of reading them.
func All() (s Steps, err error) {
	names, err := fs.Glob(schemaFS, "0*.sql")
	for _, name := range names {
		text, rerr := schemaFS.ReadFile(name)
		err = errors.Join(err, rerr)
		s = append(s, string(text))
	}
	return s, err
}

// Migrate brings the database to the version of s, in one transaction. Of several programs
// that start at once, one does it and calls begins; the others wait.
//
// The error wraps [skein.ErrNewer] if a later version made the tables, which are left
// untouched, and [skein.ErrInvalid] if the tables or the connection's role cannot be used.
func (s Steps) Migrate(ctx context.Context, pg *pgx.Conn, begins func()) error {
	v, err := s.found(ctx, pg)
	if err != nil {
		return err
	}
	l, err := settle(ctx, pg, v < s.Version())
	if err != nil {
		return err
	}
	if v < s.Version() {
		if err := s.take(ctx, pg, &l, begins); err != nil {
			return err
		}
	}
	if err := l.mayBe(); err != nil {
		return err
	}
	if err := l.handOver(ctx, pg); err != nil {
		return err
	}
	return restoreRights(ctx, pg, &l)
}

// CheckServer returns an error wrapping [skein.ErrInvalid] if skein cannot use the
// server or the database, and else the isolation of the transactions that do not say
// what they need.
func CheckServer(ctx context.Context, pg *pgx.Conn) (isolation string, err error) {
	var num int
	var name, encoding, schema, security string
	err = pg.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_version'), current_setting('server_encoding'), current_setting('default_transaction_isolation'),
		coalesce(current_schema(), ''), current_setting('row_security')`).Scan(&num, &name, &encoding, &isolation, &schema, &security)
	switch {
	case err != nil:
	case num < minServer:
		err = fmt.Errorf("%w server: PostgreSQL is %s, 13 or later is needed", skein.ErrInvalid, name)
	case encoding != "UTF8":
		err = fmt.Errorf("%w database: its encoding is %s: create one with ENCODING 'UTF8' TEMPLATE template0", skein.ErrInvalid, encoding)
	case schema != "public":
		err = fmt.Errorf("%w database: this address looks for tables in schema %q first, skein's are in public: add search_path=public to it", skein.ErrInvalid, schema)
	case security != "on":
		err = fmt.Errorf("%w database: row_security is %s: ALTER DATABASE … SET row_security = on", skein.ErrInvalid, security)
	}
	return isolation, err
}

// errDevelopment says what to do with the tables of an unreleased build.
var errDevelopment = fmt.Errorf("%w database: a development build of skein, from before the first release, created its tables, and no release can read them\n"+
	"export its sessions with that build (skein export NAME --to skein -o FILE), and import them with this one into another database (skein import FILE)", skein.ErrInvalid)

// found returns the version of the database's tables, 0 if it has no tables.
//
// The error wraps [skein.ErrNewer] if the version is greater than that of s, and
// [skein.ErrInvalid] if an unreleased build made the tables.
func (s Steps) found(ctx context.Context, pg *pgx.Conn) (v int, err error) {
	var there, development bool
	// Read the catalog: to_regclass may answer from a cache that dates from before this
	// program waited for another one, which made the tables.
	err = pg.QueryRow(ctx, `SELECT count(*) FILTER (WHERE relname = 'skein_version') > 0, count(*) FILTER (WHERE relname <> 'skein_version') > 0
		FROM pg_catalog.pg_class WHERE relnamespace = 'public'::regnamespace AND relname IN ('skein_version', 'skein_schema', 'skein_meta')`).Scan(&there, &development)
	switch {
	case err != nil:
		return 0, err
	case development:
		return 0, errDevelopment
	case !there:
		return 0, nil
	}
	var program string
	err = pg.QueryRow(ctx, `SELECT version, program FROM skein_version`).Scan(&v, &program)
	if err == nil && v > s.Version() {
		err = fmt.Errorf("%w: its tables have version %d (of %s), this program knows %d", skein.ErrNewer, v, program, s.Version())
	}
	return v, err
}

// OtherError converts the error of the function other_schema: another program has
// brought the tables to another version since this one opened them, so this one must
// not write to them.
func OtherError(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return err
	}
	this, err := All()
	if err != nil {
		return err
	}
	if v, nerr := strconv.Atoi(e.Detail); nerr == nil && v < this.Version() {
		return fmt.Errorf("%w: its tables have version %d, they had %d when they were opened; open it again", skein.ErrReplaced, v, this.Version())
	}
	return fmt.Errorf("%w: a newer skein has brought its tables to version %s while this program, which knows %d, had them open: end this program and start the newer one", skein.ErrNewer, e.Detail, this.Version())
}

// extensions makes the extensions that the schema uses if they are available. The
// login role owns them: it may make some extensions in its database.
const extensions = `DO $$
DECLARE x text;
BEGIN
	FOREACH x IN ARRAY ARRAY['btree_gin', 'pg_trgm'] LOOP
		BEGIN
			EXECUTE 'CREATE EXTENSION IF NOT EXISTS ' || x;
		EXCEPTION WHEN undefined_file OR feature_not_supported OR insufficient_privilege THEN
			NULL; -- the schema does without
		END;
	END LOOP;
END $$`

// take runs the steps of s that the database lacks, unless another program has done so
// meanwhile; begins is called only if it has not. The steps run as skein_owner, which
// sees the rows of all users.
func (s Steps) take(ctx context.Context, pg *pgx.Conn, l *loginRole, begins func()) error {
	begins = sync.OnceFunc(begins)
	err := alone(ctx, pg, func(t pgx.Tx) error {
		v, err := s.found(ctx, pg)
		if err != nil || v == s.Version() {
			return err
		}
		begins()
		if v == 0 {
			if _, err := t.Exec(ctx, extensions); err != nil {
				return err
			}
		}
		if err := l.become(ctx, t); err != nil {
			return err
		}
		if v > 0 { // from now on, no program of the former version can write
			if _, err := t.Exec(ctx, `LOCK TABLE skein_version IN ACCESS EXCLUSIVE MODE`); err != nil {
				return err
			}
		}
		for ; v < s.Version(); v++ {
			if _, err := t.Exec(ctx, s[v], pgx.QueryExecModeSimpleProtocol); err != nil {
				return fmt.Errorf("schema %d: %w", v+1, err)
			}
			if err := l.take(ctx, t); err != nil { // a step may have changed the role
				return err
			}
		}
		if err := giveRights(ctx, t); err != nil {
			return err
		}
		_, err = t.Exec(ctx, `INSERT INTO skein_version (one, version, program) VALUES (1, $1, 'skein') ON CONFLICT (one) DO UPDATE SET version = excluded.version, program = excluded.program`, v)
		return err
	})
	if sqlstate.Of(err) == sqlstate.NoPermission {
		err = fmt.Errorf("%w\n%s", err, whoShouldOwn(ctx, pg))
	}
	return err
}

// whoShouldOwn says what to do if the role may not make the tables. In databases
// made by PostgreSQL 13 and 14, the database owner does not own the schema.
func whoShouldOwn(ctx context.Context, pg *pgx.Conn) string {
	database, user := pgx.Identifier{pg.Config().Database}.Sanitize(), pgx.Identifier{pg.Config().User}.Sanitize()
	var owns bool
	err := pg.QueryRow(ctx, `SELECT pg_has_role(datdba, 'MEMBER') FROM pg_database WHERE datname = current_database()`).Scan(&owns)
	if err == nil && owns {
		return "make the role of the address the owner of the schema, too: ALTER SCHEMA public OWNER TO " + user
	}
	return fmt.Sprintf("make the role of the address the owner of the database: ALTER DATABASE %s OWNER TO %s", database, user)
}
