package interoptest

import (
	"bytes"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver of the databases of cases
)

// databaseEvils returns what is done to databases.
func databaseEvils() (all []evil) {
	for _, s := range []struct{ name, each, then string }{
		{"views in place of tables", `ALTER TABLE %[1]s RENAME TO %[2]s; CREATE VIEW %[1]s AS SELECT * FROM %[2]s`, ""},
		{"views without end in place of tables", `DROP TABLE %[1]s; CREATE VIEW %[1]s AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n`, ""},
		{"views beside tables", "", `CREATE VIEW "more" AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n`},
		{"triggers", `CREATE TRIGGER %[3]s AFTER UPDATE ON %[1]s BEGIN DELETE FROM %[1]s; END`, ""},
		{"full-text tables in place of tables", `DROP TABLE %[1]s; CREATE VIRTUAL TABLE %[1]s USING fts5(id, session_id, content, role, data, type, created_at)`, ""},
		{"tables without columns that are known", `ALTER TABLE %[1]s RENAME TO %[2]s; CREATE TABLE %[1]s (id, x)`, ""},
		{"tables without rows", `DELETE FROM %[1]s`, ""},
		{"no tables", `DROP TABLE %[1]s`, `CREATE TABLE other (x)`},
	} {
		all = append(all, evil{s.name, func(t *testing.T, data []byte) ([]byte, bool) {
			return changed(t, data, func(db *sql.DB, tables []string) {
				for i, table := range tables {
					if s.each != "" { // what cannot be done to one table is done to others
						_, _ = db.ExecContext(t.Context(), fmt.Sprintf(s.each, quoted(table), quoted(table+" was"), quoted(fmt.Sprint("evil ", i))))
					}
				}
				if s.then != "" {
					_, _ = db.ExecContext(t.Context(), s.then)
				}
			})
		}})
	}
	for name, value := range map[string]string{
		"bytes in every column": `X'ff00fe'`, "null in every column": `NULL`, "numbers in every column": `9223372036854775807`,
		"infinity in every column": `9e999`, "words in every column": `'../../a' || char(0) || char(10)`, "broken UTF-8 in every column": `CAST(X'c328ff' AS TEXT)`,
	} {
		all = append(all, evil{name, func(t *testing.T, data []byte) ([]byte, bool) {
			return eachColumn(t, data, func(string) string { return value })
		}})
	}
	for name, value := range map[string]string{"IDs that climb, in columns": `'../../../' || %s || '/..'`, "IDs of 10 KB, in columns": `%s || hex(zeroblob(5000))`} {
		all = append(all, evil{name, func(t *testing.T, data []byte) ([]byte, bool) {
			return eachColumn(t, data, func(c string) string {
				if !strings.HasSuffix(strings.ToLower(c), "id") {
					return ""
				}
				return fmt.Sprintf(value, quoted(c))
			})
		}})
	}
	for i := range 12 {
		all = append(all, evil{fmt.Sprint("damaged pages ", i), func(_ *testing.T, data []byte) ([]byte, bool) {
			if !isSQLite(data) || len(data) < (i+1)*4096 {
				return nil, false
			}
			bad := bytes.Clone(data)
			for at := i * 4096; at < len(bad); at += 12 * 4096 {
				start := at
				if at == 0 {
					start = 100 // its own head
				}
				copy(bad[start:min(at+4096, len(bad))], bytes.Repeat([]byte{0xa5, 0x0d, 0x00, 0x7f}, 1024))
			}
			return bad, true
		}})
	}
	return all
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// changed returns a database after change.
func changed(t *testing.T, data []byte, change func(db *sql.DB, tables []string)) ([]byte, bool) {
	t.Helper()
	if !isSQLite(data) {
		return nil, false
	}
	at := filepath.Join(t.TempDir(), "changed.db")
	write(t, at, data)
	db, err := sql.Open("sqlite", at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "PRAGMA journal_mode = DELETE"); err != nil {
		t.Fatal(err)
	}
	change(db, names(t, db, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return differs(data, read(t, at))
}

func names(t *testing.T, db *sql.DB, query string, args ...any) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		all = append(all, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// eachColumn sets every column to a value, an expression; "" leaves it. If a rule of
// the table forbids that, the column stays unchanged.
func eachColumn(t *testing.T, data []byte, value func(column string) string) ([]byte, bool) {
	t.Helper()
	return changed(t, data, func(db *sql.DB, tables []string) {
		for _, table := range tables {
			for _, c := range names(t, db, `SELECT name FROM pragma_table_info(?)`, table) {
				if v := value(c); v != "" {
					_, _ = db.ExecContext(t.Context(), "UPDATE OR IGNORE "+quoted(table)+" SET "+quoted(c)+" = "+v)
				}
			}
		}
	})
}

// eachText changes every text in a database that may hold JSON.
func eachText(t *testing.T, data []byte, change func([]byte) []byte) ([]byte, bool) {
	t.Helper()
	return changed(t, data, func(db *sql.DB, tables []string) {
		for _, table := range tables {
			for _, c := range names(t, db, `SELECT name FROM pragma_table_info(?)`, table) {
				column := quoted(c)
				for _, was := range names(t, db, "SELECT DISTINCT CAST("+column+" AS TEXT) FROM "+quoted(table)+" WHERE typeof("+column+") IN ('text', 'blob') AND instr(CAST("+column+" AS TEXT), '{')") {
					_, _ = db.ExecContext(t.Context(), "UPDATE OR IGNORE "+quoted(table)+" SET "+column+" = ? WHERE CAST("+column+" AS TEXT) = ?", string(change([]byte(was))), was)
				}
			}
		}
	})
}
