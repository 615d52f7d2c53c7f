package postgres

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
)

// rights says who else may read the database, or have its statements call what
// is his. The two roles are the cluster's: who is a member for another database
// is one here too, if he may connect.
func (ex *exam) rights(area string) error {
	var members, bypass []string
	var strange bool
	var database string
	err := ex.s.pool.QueryRow(ex.ctx, `SELECT current_database(), has_schema_privilege('public', 'public', 'CREATE'), ARRAY(
		SELECT rolname::text FROM pg_roles r WHERE rolcanlogin AND NOT rolsuper AND rolname <> session_user AND r.oid <> (SELECT datdba FROM pg_database WHERE datname = current_database())
		AND (pg_has_role(r.oid, 'skein_all', 'MEMBER') OR pg_has_role(r.oid, 'skein_user', 'MEMBER')) AND has_database_privilege('public', current_database(), 'CONNECT') ORDER BY rolname),
		ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname IN ('skein_user', 'skein_all') AND (rolbypassrls OR rolsuper) ORDER BY rolname)`).Scan(&database, &strange, &members, &bypass)
	if err != nil {
		return err
	}
	database = pgx.Identifier{database}.Sanitize()
	if len(members) > 0 {
		ex.Find(skein.Finding{Area: area, Level: skein.Warning, Text: fmt.Sprintf("%s can read everything here: members of skein_user or skein_all, who may connect, as everybody may; REVOKE CONNECT ON DATABASE %s FROM PUBLIC, and GRANT CONNECT to who needs it",
			strings.Join(members, ", "), database)})
	}
	if strange {
		ex.Find(skein.Finding{Area: area, Level: skein.Warning, Text: "every role that may connect can make functions in the schema public, which skein's statements may then call: let it be owned by who owns the database (ALTER SCHEMA public OWNER TO …), and REVOKE CREATE ON SCHEMA public FROM PUBLIC"})
	}
	for _, role := range bypass {
		ex.Find(skein.Finding{Area: area, Level: skein.Warning, Text: fmt.Sprintf("row security does not hold for %[1]s, so nothing but skein's own conditions keeps users apart: ALTER ROLE %[1]s NOSUPERUSER NOBYPASSRLS", role)})
	}
	ex.Fine(area, "nobody else can read it or make functions in it")
	return nil
}
