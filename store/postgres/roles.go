package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
)

// roleOwner owns the tables. Only what changes them takes it.
const roleOwner = "skein_owner"

// A loginRole is what the role of the address is and may. A connection is to see no
// rows before it has taken a role: so its role owns nothing, and inherits nothing
// from those that it may take.
type loginRole struct {
	name     string
	server   int  // version of PostgreSQL
	super    bool // row security does not hold for it
	creates  bool // may make roles
	inherits bool // up to version 15: all that it is a member of
	member   bool // of other roles than skein's, whose rights it may need
	standby  bool // nothing can be changed here
	steps    bool // it has steps of the schema to make

	absent []string // of skein's roles: there is none
	barred []string // it may not take them
	held   []string // it has their rights without taking them
	sees   bool     // skein_owner sees everybody's rows, as steps of the schema must
	owns   []string // of what skein_owner should
}

// toTake is what a role needs to take another one. From version 16 on, who made
// a role is its member and may give it, but not take it.
const toTake = `CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END`

// loginOf looks what the connection's role is and may.
func loginOf(ctx context.Context, pg *pgx.Conn, steps bool) (l loginRole, err error) {
	l.steps = steps
	err = pg.QueryRow(ctx, `SELECT rolname::text, current_setting('server_version_num')::int, rolsuper OR rolbypassrls, rolsuper OR rolcreaterole, rolinherit, pg_is_in_recovery(),
		EXISTS (SELECT FROM pg_auth_members m WHERE m.member = r.oid AND pg_get_userbyid(m.roleid) <> ALL ($1)),
		ARRAY(SELECT x FROM unnest($1::text[]) x WHERE to_regrole(x) IS NULL),
		ARRAY(SELECT x FROM unnest($1::text[]) x WHERE NOT coalesce(pg_has_role(current_user, to_regrole(x)::oid, `+toTake+`), false)),
		ARRAY(SELECT x FROM unnest($1::text[]) x WHERE pg_has_role(current_user, to_regrole(x)::oid, 'USAGE')),
		coalesce(pg_has_role(to_regrole('skein_owner')::oid, to_regrole('skein_all')::oid, 'USAGE'), false)
		FROM pg_roles r WHERE rolname = current_user`, []string{roleOwner, roleUser, roleAll}).
		Scan(&l.name, &l.server, &l.super, &l.creates, &l.inherits, &l.standby, &l.member, &l.absent, &l.barred, &l.held, &l.sees)
	if err == nil {
		l.owns, err = owned(ctx, pg)
	}
	return l, err
}

// may reports whether l can take a role.
func (l *loginRole) may(role string) bool { return !slices.Contains(l.barred, role) }

// works reports whether l can do all that stores do but make tables.
func (l *loginRole) works() bool { return l.may(roleUser) && l.may(roleAll) }

// apart reports whether a connection sees nothing before it has taken a role.
func (l *loginRole) apart() bool { return !l.super && len(l.held) == 0 && len(l.owns) == 0 }

// grants returns the statements by which l may take what it needs and is set apart,
// for who may make roles.
func (l *loginRole) grants() (all []string) {
	owner := l.steps || len(l.owns) > 0
	var give []string
	for _, role := range []string{roleOwner, roleUser, roleAll} {
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

// advice says who is to run the grants.
func (l *loginRole) advice() string {
	return "let somebody who may make roles run: " + strings.Join(l.grants(), "; ") + ";"
}

// settle lets the connection's role take what it needs, and sets it apart, where it
// may. It is an error only if it can not do its work without.
func settle(ctx context.Context, pg *pgx.Conn, steps bool) (l loginRole, err error) {
	if l, err = loginOf(ctx, pg, steps); err != nil || l.standby || len(l.grants()) == 0 {
		return l, err
	}
	able := l.works() && (!steps || l.may(roleOwner) && l.sees || l.super || slices.Contains(l.held, roleAll))
	if able && !l.creates {
		return l, nil // Examine says what is missing
	}
	for range 10 { // roles are the cluster's: another database's program may do so at once
		err = nil // another may have done all of it
		for _, sql := range l.grants() {
			if _, err = pg.Exec(ctx, sql); err != nil {
				break
			}
		}
		if c := code(err); c != "" && c != codeUnique && c != codeDuplicate && c != codeInternal {
			break
		}
		var looked error
		if l, looked = loginOf(ctx, pg, steps); looked != nil || err == nil {
			return l, looked
		}
	}
	if able && code(err) == codeNoPermission {
		return l, nil
	}
	return l, fmt.Errorf("%w\n%s", err, l.advice())
}

// mayBe reports an error if the address's role may not take the roles of readers
// and writers.
func (l *loginRole) mayBe() error {
	if l.works() {
		return nil
	}
	return fmt.Errorf("%w role %q: it may not take skein_user and skein_all\n%s", skein.ErrInvalid, l.name, l.advice())
}
