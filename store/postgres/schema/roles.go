package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/sqlstate"
)

// The roles: row security shows RoleUser one user's rows, and RoleAll all rows.
// roleOwner owns the tables; only transactions that change the schema take it.
const (
	RoleUser  = "skein_user"
	RoleAll   = "skein_all"
	roleOwner = "skein_owner"
)

// A loginRole is the role of the address and its rights. A connection must not see
// rows before it has taken a role: so the login role should own nothing, and inherit
// nothing from the roles that it may take.
type loginRole struct {
	name     string
	server   int  // version of PostgreSQL
	super    bool // row security does not hold for it
	creates  bool // it may make roles
	inherits bool // up to version 15: from all roles that it is a member of
	member   bool // of roles other than skein's, whose rights it may need
	standby  bool // the server is read-only
	steps    bool // there are steps of the schema to run

	absent []string // those of skein's roles that do not exist
	barred []string // those that it may not take
	held   []string // those whose rights it has without taking them
	sees   bool     // skein_owner sees the rows of all users, as steps of the schema must
	owns   []string // what it owns that skein_owner should own
}

// toTake is the privilege that a role needs to take another one. From version 16 on,
// the creator of a role is a member of it and may grant it, but not take it.
const toTake = `CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END`

// loginOf reads the connection's role and its rights.
func loginOf(ctx context.Context, pg *pgx.Conn, steps bool) (l loginRole, err error) {
	l.steps = steps
	err = pg.QueryRow(ctx, `SELECT rolname::text, current_setting('server_version_num')::int, rolsuper OR rolbypassrls, rolsuper OR rolcreaterole, rolinherit, pg_is_in_recovery(),
		EXISTS (SELECT FROM pg_auth_members m WHERE m.member = r.oid AND pg_get_userbyid(m.roleid) <> ALL ($1)),
		ARRAY(SELECT x FROM unnest($1::text[]) x WHERE to_regrole(x) IS NULL),
		ARRAY(SELECT x FROM unnest($1::text[]) x WHERE NOT coalesce(pg_has_role(current_user, to_regrole(x)::oid, `+toTake+`), false)),
		ARRAY(SELECT x FROM unnest($1::text[]) x WHERE pg_has_role(current_user, to_regrole(x)::oid, 'USAGE')),
		coalesce(pg_has_role(to_regrole('skein_owner')::oid, to_regrole('skein_all')::oid, 'USAGE'), false)
		FROM pg_roles r WHERE rolname = current_user`, []string{roleOwner, RoleUser, RoleAll}).
		Scan(&l.name, &l.server, &l.super, &l.creates, &l.inherits, &l.standby, &l.member, &l.absent, &l.barred, &l.held, &l.sees)
	if err == nil {
		l.owns, err = owned(ctx, pg)
	}
	return l, err
}

// may reports whether l may take a role.
func (l *loginRole) may(role string) bool { return !slices.Contains(l.barred, role) }

// works reports whether l can do everything that a store does, except make tables.
func (l *loginRole) works() bool { return l.may(RoleUser) && l.may(RoleAll) }

// apart reports whether a connection sees nothing before it has taken a role.
func (l *loginRole) apart() bool { return !l.super && len(l.held) == 0 && len(l.owns) == 0 }

// grants returns the statements that let l take the roles that it needs and set it
// apart. A role that may make roles has to run them.
func (l *loginRole) grants() (all []string) {
	owner := l.steps || len(l.owns) > 0
	var give []string
	for _, role := range []string{roleOwner, RoleUser, RoleAll} {
		if role == roleOwner && !owner {
			continue
		}
		if slices.Contains(l.absent, role) {
			all = append(all, "CREATE ROLE "+role+" NOLOGIN")
		}
		if !l.super && (!l.may(role) || l.server >= 160000 && slices.Contains(l.held, role)) {
			give = append(give, role)
		}
	}
	if owner && !l.sees {
		all = append(all, "GRANT skein_all TO skein_owner")
	}
	name, how := pgx.Identifier{l.name}.Sanitize(), ""
	switch {
	case l.server >= 160000:
		how = " WITH INHERIT FALSE"
	case l.inherits && !l.super && !l.member:
		all = append(all, "ALTER ROLE "+name+" NOINHERIT")
	}
	if len(give) > 0 {
		all = append(all, "GRANT "+strings.Join(give, ", ")+" TO "+name+how)
	}
	return all
}

// advice says who has to run the grants.
func (l *loginRole) advice() string {
	return "as a role that may create roles, run: " + strings.Join(l.grants(), "; ") + ";"
}

// settle lets the connection's role take the roles that it needs, and sets it apart,
// if the role may do so. It returns an error only if the role cannot do its work
// otherwise.
func settle(ctx context.Context, pg *pgx.Conn, steps bool) (l loginRole, err error) {
	if l, err = loginOf(ctx, pg, steps); err != nil || l.standby || len(l.grants()) == 0 {
		return l, err
	}
	able := l.works() && (!steps || l.may(roleOwner) && l.sees || l.super || slices.Contains(l.held, RoleAll))
	if able && !l.creates {
		return l, nil // Examine says what is missing
	}
	for range 10 { // roles belong to the cluster: another database's program may do so at the same time
		err = nil // another may have done all of it
		for _, sql := range l.grants() {
			if _, err = pg.Exec(ctx, sql); err != nil {
				break
			}
		}
		if c := sqlstate.Of(err); c != "" && c != sqlstate.Unique && c != sqlstate.Duplicate && c != sqlstate.Internal {
			break
		}
		var looked error
		if l, looked = loginOf(ctx, pg, steps); looked != nil || err == nil {
			return l, looked
		}
	}
	if able && sqlstate.Of(err) == sqlstate.NoPermission {
		return l, nil
	}
	return l, fmt.Errorf("%w\n%s", err, l.advice())
}

// mayBe returns an error if the address's role may not take skein_user and skein_all.
func (l *loginRole) mayBe() error {
	if l.works() {
		return nil
	}
	return fmt.Errorf("%w role %q: it is not a member of skein_user and skein_all\n%s", skein.ErrInvalid, l.name, l.advice())
}
