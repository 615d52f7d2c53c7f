package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
)

// rolesSQL is for people to run where the address's role may not.
const rolesSQL = `CREATE ROLE skein_user NOLOGIN; CREATE ROLE skein_all NOLOGIN; GRANT skein_user, skein_all TO %s;`

// toTake is what a role needs to take another one. From version 16 on, who made
// a role is its member and may give it, but not take it.
const toTake = `CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END`

// makeRoles makes the two roles, and makes the address's role a member of them.
// Roles are the cluster's: another database's skein may do so at once.
func makeRoles(ctx context.Context, pg *pgx.Conn) error {
	var err error
	for range 10 {
		if _, err = pg.Exec(ctx, `DO $$
DECLARE r text;
BEGIN
	FOREACH r IN ARRAY ARRAY['skein_user', 'skein_all'] LOOP
		IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = r) THEN
			BEGIN
				EXECUTE format('CREATE ROLE %I NOLOGIN', r);
			EXCEPTION WHEN duplicate_object OR unique_violation THEN
				NULL; -- another program has
			END;
		END IF;
		IF NOT pg_has_role(current_user, r, `+toTake+`) THEN
			EXECUTE format('GRANT %I TO %I', r, current_user);
		END IF;
	END LOOP;
END $$`); code(err) != codeUnique && code(err) != codeInternal {
			break // else two have granted at once
		}
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w\nlet somebody who may make roles run: "+rolesSQL, err, pgx.Identifier{pg.Config().User}.Sanitize())
}

// rolesThere reports whether the cluster has the two roles. One that a database
// was brought to from another may not.
func rolesThere(ctx context.Context, pg *pgx.Conn) (all bool, err error) {
	err = pg.QueryRow(ctx, `SELECT count(*) = 2 FROM pg_roles WHERE rolname IN ('skein_user', 'skein_all')`).Scan(&all)
	return all, err
}

// mayBe reports an error if the address's role may not take the two roles.
func mayBe(ctx context.Context, pg *pgx.Conn) error {
	var may bool
	err := pg.QueryRow(ctx, `SELECT count(*) = 2 AND bool_and(pg_has_role(current_user, oid, `+toTake+`)) FROM pg_roles WHERE rolname IN ('skein_user', 'skein_all')`).Scan(&may)
	if err != nil {
		return err
	}
	if !may {
		return fmt.Errorf("%w role %q: it is no member of skein_user and skein_all\nlet somebody who may make roles run: "+rolesSQL,
			skein.ErrInvalid, pg.Config().User, pgx.Identifier{pg.Config().User}.Sanitize())
	}
	return nil
}
