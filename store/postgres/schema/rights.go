package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein/store/postgres/sqlstate"
)

// rightsFile is the part of the schema that grants rights to the roles.
const rightsFile = "rights.sql"

// rightsHold asks whether the database has the rights of rightsFile: a dump may have
// only the tables, or may have been restored before the roles existed.
const rightsHold = `SELECT
	(SELECT bool_and(pg_get_userbyid(p.proowner) = 'skein_all' AND has_function_privilege('skein_user', p.oid, 'EXECUTE') AND has_function_privilege('skein_all', p.oid, 'EXECUTE')
		AND NOT has_function_privilege('public', p.oid, 'EXECUTE'))
		FROM pg_proc p WHERE p.proname IN ('find', 'edited', 'named', 'journal_edge', 'theirs', 'adopt') AND p.pronamespace = 'public'::regnamespace)
	AND (SELECT bool_and(has_table_privilege('skein_user', c.oid, 'INSERT') AND c.relrowsecurity AND c.relforcerowsecurity
		AND (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname IN ('own', 'everybodys')) = 2)
		FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relname IN ('heads', 'leases', 'journal', 'sessions', 'names', 'events', 'bases', 'rewound_ranges', 'reparented', 'purge_queue',
			'scrubs', 'charges', 'usage', 'blobs', 'blob_refs', 'files', 'records', 'tombstones', 'found', 'shares'))
	AND has_table_privilege('skein_all', 'users', 'INSERT') AND has_table_privilege('skein_all', 'logins', 'INSERT') AND has_table_privilege('skein_all', 'audit', 'INSERT')`

// restoreRights gives the roles their rights, if a copy of a database has lost them.
func restoreRights(ctx context.Context, pg *pgx.Conn, l *loginRole) error {
	var hold bool
	if err := pg.QueryRow(ctx, rightsHold).Scan(&hold); err != nil || hold {
		return err
	}
	err := alone(ctx, pg, func(t pgx.Tx) error {
		if err := t.QueryRow(ctx, rightsHold).Scan(&hold); err != nil || hold {
			return err
		}
		if err := l.become(ctx, t); err != nil {
			return err
		}
		return giveRights(ctx, t)
	})
	if sqlstate.Of(err) == sqlstate.NoPermission {
		err = fmt.Errorf("%w\nopen the database once as the role that owns the tables", err)
	}
	return err
}

// giveRights runs rightsFile in a transaction that changes the schema.
func giveRights(ctx context.Context, t pgx.Tx) error {
	text, err := schemaFS.ReadFile(rightsFile)
	if err != nil {
		return err
	}
	if _, err = t.Exec(ctx, string(text), pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("the rights of skein_user and skein_all: %w", err)
	}
	return nil
}

// alone runs f in a transaction that changes the schema, one program at a time. It
// waits for its turn as long as ctx allows, whatever timeouts the server sets, and
// then sees what the program before it did. After a deadlock with a program that
// writes, it runs f again.
func alone(ctx context.Context, pg *pgx.Conn, f func(pgx.Tx) error) (err error) {
	for range 10 {
		if err = tryAlone(ctx, pg, f); sqlstate.Of(err) != sqlstate.Deadlock {
			break
		}
	}
	return err
}

// tryAlone is one try of alone.
func tryAlone(ctx context.Context, pg *pgx.Conn, f func(pgx.Tx) error) (err error) {
	t, err := pg.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return err
	}
	defer func() {
		if rerr := t.Rollback(context.WithoutCancel(ctx)); !errors.Is(rerr, pgx.ErrTxClosed) {
			err = errors.Join(err, rerr)
		}
	}()
	if _, err := t.Exec(ctx, `SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '60s', true)`); err != nil {
		return err
	}
	if _, err := t.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrateLock)); err != nil {
		return err
	}
	if err := f(t); err != nil {
		return err
	}
	return t.Commit(ctx)
}

// Warnings reports which other roles can read the database, or can make functions
// that skein's statements would call, and whether row security applies to skein's own.
// Roles belong to the whole cluster: a role that is a member of skein's roles for
// another database is a member here too, if it may connect. The error is the server's.
func Warnings(ctx context.Context, pg *pgx.Conn) (all []string, err error) {
	var members, bypass []string
	var strange bool
	var database string
	err = pg.QueryRow(ctx, `SELECT current_database(), has_schema_privilege('public', 'public', 'CREATE'), ARRAY(
		SELECT rolname::text FROM pg_roles r WHERE rolcanlogin AND NOT rolsuper AND rolname <> session_user AND r.oid <> (SELECT datdba FROM pg_database WHERE datname = current_database())
		AND EXISTS (SELECT FROM pg_roles o WHERE o.rolname IN ('skein_owner', 'skein_user', 'skein_all') AND pg_has_role(r.oid, o.oid, 'MEMBER')) AND has_database_privilege('public', current_database(), 'CONNECT') ORDER BY rolname),
		ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname IN ('skein_user', 'skein_all') AND (rolbypassrls OR rolsuper) ORDER BY rolname)`).Scan(&database, &strange, &members, &bypass)
	if err != nil {
		return nil, err
	}
	database = pgx.Identifier{database}.Sanitize()
	if len(members) > 0 {
		all = append(all, fmt.Sprintf("%s can read everything in this database, as members of skein_owner, skein_user or skein_all, because every role can connect; run REVOKE CONNECT ON DATABASE %s FROM PUBLIC, and GRANT CONNECT to the roles that need it",
			strings.Join(members, ", "), database))
	}
	if strange {
		all = append(all, "every role that can connect can create functions in the schema public, which skein's statements may then call: give the schema to the owner of the database (ALTER SCHEMA public OWNER TO …), and run REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	}
	login, err := loginWarning(ctx, pg)
	if err != nil {
		return all, err
	}
	if login != "" {
		all = append(all, login)
	}
	for _, role := range bypass {
		all = append(all, fmt.Sprintf("row security does not apply to %[1]s, so only skein's own conditions keep users apart: ALTER ROLE %[1]s NOSUPERUSER NOBYPASSRLS", role))
	}
	return all, nil
}

// loginWarning reports what the connection's role can see before it has taken another
// role, as in psql, or in skein if a statement forgets to set it; "" for nothing.
func loginWarning(ctx context.Context, pg *pgx.Conn) (string, error) {
	l, err := loginOf(ctx, pg, false)
	if err != nil || l.apart() {
		return "", err
	}
	var why string
	switch {
	case l.super:
		why = "row security does not apply to it: give skein a login role of its own: " + ownLogin(l.server)
	case len(l.held) > 0 && l.member && l.server < 160000:
		why = "it inherits the rights of all roles that it is a member of, and not all of these are skein's: give skein a login role of its own: " + ownLogin(l.server)
	case len(l.grants()) > 0:
		why = l.advice()
	default:
		why = "it owns the tables; the next program that opens the database gives them to skein_owner"
	}
	return fmt.Sprintf("%s, the role of this address, sees all users' rows by default: %s", pgx.Identifier{l.name}.Sanitize(), why), nil
}

// ownLogin returns the statements that make a role to log in as.
func ownLogin(server int) string {
	if server >= 160000 {
		return "CREATE ROLE … LOGIN PASSWORD '…'; GRANT skein_owner, skein_user, skein_all TO … WITH INHERIT FALSE;"
	}
	return "CREATE ROLE … LOGIN NOINHERIT PASSWORD '…'; GRANT skein_owner, skein_user, skein_all TO …;"
}
