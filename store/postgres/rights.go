package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// rightsFile is the part of the schema that grants rights to the roles.
const rightsFile = "schema/rights.sql"

// rightsHold asks whether the database has the rights of rightsFile: a dump may have
// only the tables, or may have been restored before the roles existed.
const rightsHold = `SELECT
	(SELECT bool_and(pg_get_userbyid(p.proowner) = 'skein_all' AND has_function_privilege('skein_user', p.oid, 'EXECUTE') AND has_function_privilege('skein_all', p.oid, 'EXECUTE')
		AND NOT has_function_privilege('public', p.oid, 'EXECUTE'))
		FROM pg_proc p WHERE p.proname IN ('find', 'named', 'journal_edge', 'theirs', 'adopt') AND p.pronamespace = 'public'::regnamespace)
	AND (SELECT bool_and(has_table_privilege('skein_user', c.oid, 'INSERT') AND c.relrowsecurity AND c.relforcerowsecurity
		AND (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname IN ('own', 'everybodys')) = 2)
		FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relname IN ('heads', 'leases', 'journal', 'sessions', 'names', 'events', 'bases', 'rewound_ranges', 'reparented', 'purge_queue',
			'scrubs', 'charges', 'usage', 'blobs', 'blob_refs', 'files', 'records', 'tombstones', 'found'))
	AND has_table_privilege('skein_all', 'users', 'INSERT') AND has_table_privilege('skein_all', 'logins', 'INSERT')`

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
	if code(err) == codeNoPermission {
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
		if err = tryAlone(ctx, pg, f); code(err) != codeDeadlock {
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
