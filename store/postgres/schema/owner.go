package schema

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein/store/postgres/sqlstate"
)

// ours selects, in ALTER's notation, the tables (with partitions), sequences, and
// functions of the schema that belong to a role whose rights the connection's role
// has, and that skein_owner should own.
const ours = `WITH RECURSIVE t AS (
		SELECT c.oid FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'S') AND c.relname IN ('skein_version', 'numbers', 'fences',
			'heads', 'leases', 'journal', 'sessions', 'names', 'events', 'bases', 'rewound_ranges', 'reparented', 'purge_queue', 'scrubs', 'charges', 'usage',
			'blobs', 'blob_refs', 'files', 'records', 'tombstones', 'found', 'indexed', 'users', 'tokens', 'logins', 'audit', 'shares')
		UNION SELECT i.inhrelid FROM pg_inherits i JOIN t ON t.oid = i.inhparent)
	SELECT 'TABLE ' || c.oid::regclass FROM pg_class c JOIN t ON t.oid = c.oid WHERE c.relowner IS DISTINCT FROM to_regrole('skein_owner') AND pg_has_role(c.relowner, 'USAGE')
	UNION ALL SELECT 'FUNCTION ' || p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
		AND p.proname IN ('must_be', 'other_schema', 'timeline', 'find', 'edited', 'named', 'journal_edge', 'theirs', 'adopt')
		AND p.proowner IS DISTINCT FROM to_regrole('skein_owner') AND p.proowner IS DISTINCT FROM to_regrole('skein_all') AND pg_has_role(p.proowner, 'USAGE')
	ORDER BY 1`

// owned returns the result of ours.
func owned(ctx context.Context, q interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
},
) ([]string, error) {
	rows, err := q.Query(ctx, ours)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// makeRoom lets skein_owner make tables in the schema public, and lend that right to
// skein_all. A role that inherits no rights does this as the schema's owner,
// and keeps its own rights on the schema, which it may need for more than skein.
const makeRoom = `DO $$
DECLARE
	login text := current_user;
	was text := current_setting('role');
	owner oid := (SELECT nspowner FROM pg_namespace WHERE nspname = 'public');
BEGIN
	IF has_schema_privilege('skein_owner', 'public', 'CREATE WITH GRANT OPTION') THEN
		RETURN;
	END IF;
	IF NOT pg_has_role(owner, 'USAGE') AND pg_has_role(owner, 'MEMBER') THEN
		PERFORM set_config('role', pg_get_userbyid(owner), true);
	END IF;
	GRANT USAGE, CREATE ON SCHEMA public TO skein_owner WITH GRANT OPTION;
	EXECUTE format('GRANT USAGE, CREATE ON SCHEMA public TO %I', login);
	PERFORM set_config('role', was, true);
END $$`

// become sets the role to skein_owner for the rest of a transaction that changes the
// schema, and gives skein_owner what the login owns. A login that may not take that
// role continues as itself.
func (l *loginRole) become(ctx context.Context, t pgx.Tx) error {
	if !l.may(roleOwner) || !l.sees {
		return nil
	}
	if _, err := t.Exec(ctx, makeRoom); err != nil {
		return err
	}
	all, err := owned(ctx, t)
	if err != nil {
		return err
	}
	for _, what := range all {
		if _, err := t.Exec(ctx, `ALTER `+what+` OWNER TO skein_owner`); err != nil {
			return err
		}
	}
	l.owns = nil
	return l.take(ctx, t)
}

// take sets the transaction's role to skein_owner, if the login may take it.
func (l *loginRole) take(ctx context.Context, t pgx.Tx) error {
	if !l.may(roleOwner) || !l.sees {
		return nil
	}
	_, err := t.Exec(ctx, `SET LOCAL ROLE skein_owner`)
	return err
}

// handOver gives skein_owner what the login owns. If others use a table for too long,
// the next start tries again, and Examine reports it meanwhile.
func (l *loginRole) handOver(ctx context.Context, pg *pgx.Conn) error {
	if len(l.owns) == 0 || l.standby || !l.may(roleOwner) || !l.sees {
		return nil
	}
	err := alone(ctx, pg, func(t pgx.Tx) error {
		if _, err := t.Exec(ctx, `SELECT set_config('lock_timeout', '3s', true)`); err != nil {
			return err
		}
		if err := l.become(ctx, t); err != nil {
			return err
		}
		return giveRights(ctx, t)
	})
	switch sqlstate.Of(err) {
	case sqlstate.LockTime, sqlstate.Deadlock, sqlstate.NoPermission:
		return nil
	}
	return err
}
