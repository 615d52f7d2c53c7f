package files

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/pagefile"
)

// A numbered is a table whose rows keep their numbers for good. An append writes
// to all of them, and with a row goes the whole page it is on.
type numbered struct {
	columns int                // stored in each row
	what    func([]any) string // what the values of a row say that never changes
	row     string             // the query for the same of the row with a number
}

var numberedTables = []numbered{
	{
		24, func(v []any) string { return fmt.Sprintf("%v %v %v %v", v[1], v[2], v[4], v[13]) },
		`SELECT session || ' ' || seq || ' ' || at || ' ' || coalesce(sum, '<nil>') FROM events WHERE id = ?`,
	},
	{
		21, func(v []any) string { return fmt.Sprint(v[1]) },
		`SELECT id FROM sessions WHERE n = ?`,
	},
}

// markSQL writes the mark of a log: a row of SQLite's own table of row numbers, which
// names the store and counts its logs. It is in the log, so it goes wherever the log
// goes, and a checkpoint takes it to the file.
const (
	markOf   = `log of `
	markSQL  = `UPDATE sqlite_sequence SET name = '` + markOf + `' || (SELECT lower(hex(id)) FROM store), seq = seq + 1 WHERE name LIKE '` + markOf + `%'`
	firstSQL = `INSERT INTO sqlite_sequence (name, seq) SELECT '` + markOf + `' || lower(hex(id)), 1 FROM store`
	nameSQL  = `UPDATE sqlite_sequence SET name = '` + markOf + `' || (SELECT lower(hex(id)) FROM store), seq = 0 WHERE name LIKE '` + markOf + `%'`
)

// MarkLog marks the log if SQLite has begun one since the last mark of this process.
// It is called in each transaction that writes, before anything else, and kept once
// that is committed. SQLite begins a log with a commit, so the second transaction of
// a log marks it, or the first one of a process. The error is the driver's.
func (p *Paths) MarkLog(c *engine.Conn) (kept func(), err error) {
	head := p.logHead()
	if p.marked != nil && bytes.Equal(head, p.marked) {
		return func() {}, nil
	}
	_, n, err := c.Exec(markSQL)
	if err == nil && n == 0 {
		_, _, err = c.Exec(firstSQL)
	}
	return func() { p.marked = head }, err
}

// logHead returns the random numbers that SQLite gives each log when it begins; they
// are empty, but not nil, if there is no log. The file stays open: opening it for each
// transaction takes a tenth of an append.
func (p *Paths) logHead() []byte {
	if p.log == nil {
		f, err := os.Open(p.Names[1]) // SQLite locks the other two files, not this one
		if err != nil {
			return []byte{}
		}
		p.log = f
	}
	salts := make([]byte, 8)
	if _, err := p.log.ReadAt(salts, 16); err != nil {
		return []byte{}
	}
	return salts
}

// Release closes the file that MarkLog keeps open. It is called before the last
// connection is closed, which removes the log. The error is that of the system.
func (p *Paths) Release() error {
	if p.log == nil {
		return nil
	}
	return p.log.Close()
}

// Rename gives the database that c has open another ID. A log that it is written
// to with belongs to whatever has this ID. The error is the driver's.
func Rename(c *engine.Conn, id []byte) error {
	_, _, err := c.Exec(`UPDATE store SET id = ?`, id)
	if err == nil {
		_, _, err = c.Exec(nameSQL)
	}
	return err
}

// ownLog returns an error if the log was not written for the database. The error
// wraps [skein.ErrReplaced].
func (p *Paths) ownLog() error {
	if marked, err := p.marks(); marked || err != nil {
		return err
	}
	return p.ownRows()
}

// marks compares the log's marks with the database, which has the mark of the log
// before, or that of this log as far as it was checkpointed. An older copy of the
// database has an earlier mark. marked is false if the log has no mark, or if the
// database cannot be compared. The error wraps [skein.ErrReplaced].
func (p *Paths) marks() (marked bool, err error) {
	log, err := os.ReadFile(p.Names[1])
	if err != nil {
		return false, err
	}
	least, names := int64(math.MaxInt64), map[string]bool{}
	pages := pagefile.OfLog(log)
	for n, b := range pagefile.AllLogged(log) {
		if b[0] != pagefile.TableLeaf || !bytes.Contains(b, []byte(markOf)) {
			continue
		}
		cells, _ := pages.Cells(n, b)
		for _, c := range cells {
			if id, count, ok := markIn(c.Values); ok {
				least, names[id] = min(least, count), true
			}
		}
	}
	if len(names) == 0 {
		return false, nil
	}
	d, err := engine.Driver()
	if err != nil {
		return false, err
	}
	c, err := engine.Connect(d, engine.DSN(p.Names[0], engine.Immutable))
	if err != nil {
		return false, nil //nolint:nilerr // whoever opens it says what is wrong
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	var id string
	if _, err := c.One(`SELECT lower(hex(id)) FROM store`, nil, &id); err != nil || id == "" {
		return false, nil //nolint:nilerr // all that counts is in the log, or the database is damaged
	}
	var count int64
	switch found, err := c.One(`SELECT seq FROM sqlite_sequence WHERE name LIKE '`+markOf+`%'`, nil, &count); {
	case !names[id]:
		return true, p.others()
	case err == nil && found && count < least-1:
		return true, fmt.Errorf("%w: %s is an older copy of the store that %s was written for, which would destroy it: "+
			"move the log to another folder, or put the newer file back", skein.ErrReplaced, p.Names[0], p.Names[1])
	}
	return true, nil
}

// markIn returns what a row says if it is a mark: a store's ID and how many logs it had.
func markIn(row []any) (id string, count int64, ok bool) {
	if len(row) != 2 {
		return "", 0, false
	}
	name, _ := row[0].(string)
	count, ok = row[1].(int64)
	id, isMark := strings.CutPrefix(name, markOf)
	return id, count, ok && isMark && len(id) == 32
}

// others returns the error of a log that is another store's.
func (p *Paths) others() error {
	return fmt.Errorf("%w: %s is the write-ahead log of another store, and would destroy this one: move it to another folder, or put it back beside its own file", skein.ErrReplaced, p.Names[1])
}

// ownRows is [Paths.marks] for a log without a mark, which an earlier version or a single
// transaction left: it returns an error if most events and sessions in the log have the
// numbers of others in the database, or there is a gap between the last session there
// and the first in the log. A log with neither, which no append leaves, tells nothing. The database is read through SQLite, which knows the locks of its own
// connections. The error wraps [skein.ErrReplaced].
func (p *Paths) ownRows() (err error) {
	log, err := os.ReadFile(p.Names[1])
	if err != nil {
		return err
	}
	d, err := engine.Driver()
	if err != nil {
		return err
	}
	c, err := engine.Connect(d, engine.DSN(p.Names[0], engine.Immutable))
	if err != nil {
		return nil //nolint:nilerr // whoever opens it says what is wrong
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	var last int64
	if _, err := c.One(`SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'sessions'`, nil, &last); err != nil || last == 0 {
		return nil //nolint:nilerr // all that counts is in the log
	}
	same, others, gap := 0, 0, false
	for _, t := range numberedTables {
		rows := t.logged(log)
		for n, what := range rows {
			var here string
			switch found, err := c.One(t.row, []any{n}, &here); {
			case err != nil:
				return nil //nolint:nilerr // the database is damaged
			case found && here == what:
				same++
			case found:
				others++
			}
		}
		gap = len(rows) > 0 && slices.Min(slices.Collect(maps.Keys(rows))) > last+1 // the last table is that of sessions
	}
	if others > 0 && others >= same || gap && same == 0 {
		return p.others()
	}
	return nil
}

// logged returns what the rows of the table in a log say, by their numbers.
func (t numbered) logged(log []byte) map[int64]string {
	all := map[int64]string{}
	pages := pagefile.OfLog(log)
	for _, n := range pages.Logged() {
		b := pages.Page(n)
		if n == 1 || b == nil || b[0] != pagefile.TableLeaf {
			continue
		}
		cells, _ := pages.Cells(n, b)
		for _, c := range cells {
			if len(c.Values) == t.columns && c.Values[0] == nil {
				all[c.Rowid] = t.what(c.Values)
			}
		}
	}
	return all
}
