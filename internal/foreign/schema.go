package foreign

import (
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A Table is an ordinary table of a database.
type Table struct {
	Name    string
	Columns []string // the stored ones, in order
	rowid   string   // a name for the rowid; "" if there is none
	key     []string // of a table without rowid: the columns of its primary key
}

// Has reports whether the table has all these columns.
func (t Table) Has(columns ...string) bool {
	for _, c := range columns {
		if !slices.Contains(t.Columns, c) {
			return false
		}
	}
	return true
}

// A schemaRow is a row of the schema.
type schemaRow struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Table string `json:"table"`
	SQL   string `json:"sql"`
}

// A schema is everything that a database has besides rows.
type schema struct {
	Settings pragmas
	Objects  []schemaRow
}

// pragmas are the settings of the file, as its PRAGMAs return them.
type pragmas struct {
	PageSize      int64  `json:"page_size"`
	Encoding      string `json:"encoding"`
	AutoVacuum    int64  `json:"auto_vacuum"`
	UserVersion   int64  `json:"user_version"`
	ApplicationID int64  `json:"application_id"`
	Journal       string `json:"journal"`
}

// maxObjects is how many tables, indexes, triggers and views are read.
const maxObjects = 2000

// Tables returns the ordinary tables, in the order of the schema.
func (db *DB) Tables() []Table { return db.tables }

// Table returns the ordinary table with this name, and false if there is none.
func (db *DB) Table(name string) (Table, bool) {
	i := slices.IndexFunc(db.tables, func(t Table) bool { return t.Name == name })
	if i < 0 {
		return Table{}, false
	}
	return db.tables[i], true
}

func (db *DB) readSchema() error {
	if err := db.readSettings(); err != nil {
		return err
	}
	if err := db.readObjects(); err != nil {
		return err
	}
	for _, o := range db.frame.Objects {
		if o.Type != "table" || virtual().MatchString(o.SQL) || !ordinary().MatchString(o.SQL) && o.Name != "sqlite_sequence" || db.shadow(o.Name) {
			continue
		}
		t, err := db.describe(o)
		if err != nil {
			db.harm("table %s: %v", o.Name, err)
			continue
		}
		db.tables = append(db.tables, t)
	}
	return nil
}

var (
	ordinary = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)^\s*CREATE\s+TABLE\b`) })
	virtual  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)^\s*CREATE\s+VIRTUAL\s+TABLE\b`) })
	fullText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)^\s*CREATE\s+VIRTUAL\s+TABLE\b.*\bUSING\s+fts[345]\b`)
	})
	content = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)\bcontent\s*=\s*["'` + "`" + `\[]?(\w+)`) })
	rowless = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)\bWITHOUT\s+ROWID\b[^)]*$`) })
)

// shadow reports whether a table belongs to a virtual table.
func (db *DB) shadow(name string) bool {
	return slices.ContainsFunc(db.frame.Objects, func(o schemaRow) bool {
		return o.Type == "table" && virtual().MatchString(o.SQL) && strings.HasPrefix(strings.ToLower(name), strings.ToLower(o.Name)+"_")
	})
}

func (db *DB) readSettings() error {
	s := &db.frame.Settings
	for _, p := range []struct {
		name string
		to   any
	}{
		{"page_size", &s.PageSize},
		{"encoding", &s.Encoding},
		{"auto_vacuum", &s.AutoVacuum},
		{"user_version", &s.UserVersion},
		{"application_id", &s.ApplicationID},
		{"journal_mode", &s.Journal},
	} {
		if err := db.conn.QueryRowContext(db.ctx, "PRAGMA "+p.name).Scan(p.to); err != nil {
			return err
		}
	}
	return nil
}

func (db *DB) readObjects() (err error) {
	rows, err := db.conn.QueryContext(db.ctx, `SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid LIMIT ?`, maxObjects)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var o schemaRow
		var text sql.NullString
		if err := rows.Scan(&o.Type, &o.Name, &o.Table, &text); err != nil {
			return err
		}
		o.SQL = text.String
		db.frame.Objects = append(db.frame.Objects, o)
	}
	return rows.Err()
}

// describe reads which columns a table has.
func (db *DB) describe(o schemaRow) (t Table, err error) {
	t.Name = o.Name
	rows, err := db.conn.QueryContext(db.ctx, `SELECT name, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid`, o.Name)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	keys := map[int]string{}
	for rows.Next() {
		var name string
		var pk, hidden int
		if err := rows.Scan(&name, &pk, &hidden); err != nil {
			return t, err
		}
		if hidden != 0 {
			continue // computed, not stored
		}
		if t.Columns = append(t.Columns, name); pk > 0 {
			keys[pk] = name
		}
	}
	if err := rows.Err(); err != nil {
		return t, err
	}
	if len(t.Columns) == 0 {
		return t, fmt.Errorf("no columns")
	}
	if rowless().MatchString(o.SQL) {
		for i := 1; i <= len(keys); i++ {
			t.key = append(t.key, keys[i])
		}
		return t, nil
	}
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !slices.ContainsFunc(t.Columns, func(c string) bool { return strings.EqualFold(c, name) }) {
			t.rowid = name
			return t, nil
		}
	}
	return t, fmt.Errorf("its columns hide the rowid")
}
