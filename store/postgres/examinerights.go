package postgres

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein/store/inspect"
)

// rights reports which other roles can read the database, or can make functions that
// skein's statements would call. Roles belong to the whole cluster: a role that is a
// member of skein's roles for another database is a member here too, if it may
// connect.
func (ex *exam) rights(area string) error {
	var members, bypass []string
	var strange bool
	var database string
	err := ex.s.pool.QueryRow(ex.ctx, `SELECT current_database(), has_schema_privilege('public', 'public', 'CREATE'), ARRAY(
		SELECT rolname::text FROM pg_roles r WHERE rolcanlogin AND NOT rolsuper AND rolname <> session_user AND r.oid <> (SELECT datdba FROM pg_database WHERE datname = current_database())
		AND EXISTS (SELECT FROM pg_roles o WHERE o.rolname IN ('skein_owner', 'skein_user', 'skein_all') AND pg_has_role(r.oid, o.oid, 'MEMBER')) AND has_database_privilege('public', current_database(), 'CONNECT') ORDER BY rolname),
		ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname IN ('skein_user', 'skein_all') AND (rolbypassrls OR rolsuper) ORDER BY rolname)`).Scan(&database, &strange, &members, &bypass)
	if err != nil {
		return err
	}
	database = pgx.Identifier{database}.Sanitize()
	if len(members) > 0 {
		ex.Find(inspect.Finding{Area: area, Level: inspect.Warning, Text: fmt.Sprintf("%s can read everything in this database, as members of skein_owner, skein_user or skein_all, because every role can connect; run REVOKE CONNECT ON DATABASE %s FROM PUBLIC, and GRANT CONNECT to the roles that need it",
			strings.Join(members, ", "), database)})
	}
	if strange {
		ex.Find(inspect.Finding{Area: area, Level: inspect.Warning, Text: "every role that can connect can create functions in the schema public, which skein's statements may then call: give the schema to the owner of the database (ALTER SCHEMA public OWNER TO …), and run REVOKE CREATE ON SCHEMA public FROM PUBLIC"})
	}
	if err := ex.login(area); err != nil {
		return err
	}
	for _, role := range bypass {
		ex.Find(inspect.Finding{Area: area, Level: inspect.Warning, Text: fmt.Sprintf("row security does not apply to %[1]s, so only skein's own conditions keep users apart: ALTER ROLE %[1]s NOSUPERUSER NOBYPASSRLS", role)})
	}
	ex.Fine(area, "no other role can read the database or create functions in it")
	return nil
}

// login reports what the address's role can see on a connection that has not taken a
// role, such as psql's, or skein's own if a statement forgets to set it.
func (ex *exam) login(area string) error {
	pg, err := ex.s.acquire(ex.ctx)
	if err != nil {
		return err
	}
	defer pg.Release()
	l, err := loginOf(ex.ctx, pg.Conn(), false)
	if err != nil || l.apart() {
		return err
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
	ex.Find(inspect.Finding{Area: area, Level: inspect.Warning, Text: fmt.Sprintf("%s, the role of this address, sees all users' rows by default: %s", pgx.Identifier{l.name}.Sanitize(), why)})
	return nil
}

// ownLogin returns the statements that make a role to log in as.
func ownLogin(server int) string {
	if server >= 160000 {
		return "CREATE ROLE … LOGIN PASSWORD '…'; GRANT skein_owner, skein_user, skein_all TO … WITH INHERIT FALSE;"
	}
	return "CREATE ROLE … LOGIN NOINHERIT PASSWORD '…'; GRANT skein_owner, skein_user, skein_all TO …;"
}
