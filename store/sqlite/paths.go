package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/skein-dev/skein"
)

// paths are where a store's files are: the database and the two that SQLite
// keeps beside it. Whoever removes one of them, or puts another in its place,
// leaves SQLite with files that no name leads to any more: it goes on writing
// to them and says that all is well. So the store looks, before it reads and
// around each commit, whether the names still lead to what it has open. It
// asks the names only: to open the database would drop SQLite's locks.
type paths struct {
	names [3]string // of the database as the store was named, of -wal, of -shm
	lost  atomic.Bool

	mu    sync.RWMutex
	ids   [3]fileID // what they were when the store was opened
	alone bool      // the database is read as if nobody wrote to it

	content sync.Mutex
	store   []byte // ID of the store in the file; nil if it is not compared
	looked  stamp  // of the database when it was compared last
	seen    bool   // the database itself had it then, rather than the log
	other   error  // what came of that
}

// newPaths returns where the database at path is. Its files are looked at by
// settle.
func newPaths(path string) *paths {
	real, err := filepath.EvalSymlinks(path) // the log is beside what a symbolic link leads to
	if err != nil {
		real = path
	}
	return &paths{names: [3]string{path, real + "-wal", real + "-shm"}}
}

// settle remembers the first n files. A connection must hold them open, so that
// SQLite itself does not remove them.
func (p *paths) settle(n int) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range n {
		if p.ids[i], err = identify(p.names[i]); err != nil {
			return err
		}
	}
	return nil
}

// readAlone says whether the database is read as if nobody wrote to it.
func (p *paths) readAlone(alone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alone = alone
}

// errLogCame says that somebody writes to a database that is read as if nobody
// did.
var errLogCame = fmt.Errorf("%w: somebody has written to it since it was opened for reading only; open it again", skein.ErrReplaced)

// check reports that a file is not the one that settle saw.
func (p *paths) check() error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.alone {
		if st, err := os.Stat(p.names[1]); err == nil && st.Size() > 0 {
			return errLogCame
		}
	}
	for i, name := range p.names {
		if p.ids[i] == (fileID{}) {
			continue
		}
		id, err := identify(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w: %s was removed while it was open", skein.ErrReplaced, filepath.Base(name))
		case err != nil:
			return err
		case id != p.ids[i]:
			return fmt.Errorf("%w: %s is another file than the one that was opened", skein.ErrReplaced, filepath.Base(name))
		}
	}
	return nil
}

// inPlace is check of the paths. The first one that fails tells people, and
// wakes the watchers, who would wait in vain.
func (c *core) inPlace() error {
	err := c.paths.check()
	if errors.Is(err, errLogCame) { // as the disk was full: now it is read as others write it
		_ = c.reopen(context.Background()) //nolint:errcheck // what it could not mend is looked at again
		err = c.paths.check()
	}
	if err == nil {
		err = cmp.Or(c.paths.sameStore(), c.steps.same(c.schema.Load()))
	}
	if lost := err != nil; c.paths.lost.Load() != lost && c.paths.lost.CompareAndSwap(!lost, lost) && lost {
		if c.notice != nil {
			c.notice(fmt.Sprintf("%s: %v; nothing is stored or read until it is back or the program is started again", c.path, err))
		}
		c.wakers.wakeAll()
	}
	return err
}

// sameStore reports that another store was copied over the database: it has the
// name and the inode of the one that was opened. Whenever the database was
// written to, which only moving the log does, it looks for the store's ID in the
// database itself, past the log. That opens it through SQLite, which knows which
// locks its own connections have.
func (p *paths) sameStore() error {
	p.content.Lock()
	defer p.content.Unlock()
	now := stampOf(p.names[0])
	if p.store == nil || now == p.looked {
		return p.other
	}
	id, err := storeIn(p.names[0])
	copied := fmt.Errorf("%w: another file was copied over %s", skein.ErrReplaced, filepath.Base(p.names[0]))
	code := resultCode(err) & 0xff
	switch {
	case err == nil && bytes.Equal(id, p.store):
		p.looked, p.seen, p.other = now, true, nil
	case err == nil, code == codeNotADB, p.seen && code == codeError: // no such table
		p.looked, p.other = now, copied
	case code == codeError: // all of it is in the log
		p.looked, p.other = now, nil
	}
	return p.other // of any other error: it is just being written to, and the next call looks again
}

// compare remembers the ID of the store that c has open, to be compared.
func (p *paths) compare(c *conn) error {
	p.content.Lock()
	defer p.content.Unlock()
	_, err := c.one(`SELECT id FROM store`, nil, &p.store)
	return err
}

// storeIn returns the ID of the store that a database has without its log; nil if
// all of it is in the log.
func storeIn(path string) (id []byte, err error) {
	d, err := sqlDriver()
	if err != nil {
		return nil, err
	}
	c, err := openConn(d, dsn(path, immutable))
	if err != nil {
		return nil, err
	}
	_, err = c.one(`SELECT id FROM store`, nil, &id)
	return id, errors.Join(err, c.close())
}

// dial opens a connection to the file, which must be the one that the store
// has opened: closing the last one to another file would apply the log that
// lies beside it.
func (c *core) dial(mode string, pragmas ...string) (*conn, error) {
	if err := c.paths.check(); err != nil {
		return nil, err
	}
	d, err := sqlDriver()
	if err != nil {
		return nil, err
	}
	conn, err := openConn(d, dsn(c.path, mode), pragmas...)
	if err != nil {
		return nil, err
	}
	if err := c.paths.check(); err != nil {
		return nil, errors.Join(err, conn.close())
	}
	return conn, nil
}

// The file NAME-pair says, as "log 131 of 130 on 2049, store 5ea1…", which log SQLite wrote
// for which database, by their inodes, their device and the store's ID. A log that a killed process left is applied
// to whatever file lies beside it then, and destroys it if that is another; the
// log itself does not say whose it is. What is copied or restored together has
// other inodes, of which the note says nothing.
const (
	pairSuffix = "-pair"
	pairFormat = "log %d of %d on %d, store %x\n"
)

// ownLog refuses a log that is not the database's.
func (p *paths) ownLog() error {
	db, log := p.names[0], p.names[1]
	st, err := os.Stat(log)
	if errors.Is(err, fs.ErrNotExist) || err == nil && st.Size() == 0 {
		return nil
	}
	note, err := os.ReadFile(p.pair())
	if err != nil {
		return nil //nolint:nilerr // nothing is known of it
	}
	var itsLog, itsFile, device uint64
	var store []byte
	if _, err := fmt.Sscanf(string(note), pairFormat, &itsLog, &itsFile, &device, &store); err != nil {
		return nil //nolint:nilerr // the same
	}
	isLog, err := identify(log)
	if err != nil {
		return err
	}
	isFile, err := identify(db)
	if err == nil && isLog == (fileID{device, itsLog}) && (isFile != (fileID{device, itsFile}) || another(db, store)) {
		err = fmt.Errorf("%w: %s is the log of the file that was here before, and would destroy this one: move %[2]s, %s and %s to another folder, "+
			"or put the former file back; if this is the file that the log belongs to after all, remove %[4]s", skein.ErrReplaced, log, filepath.Base(p.names[2]), p.pair())
	}
	return err
}

// another reports whether a database, without its log, is another store.
func another(db string, store []byte) bool {
	id, err := storeIn(db)
	return err == nil && !bytes.Equal(id, store) || resultCode(err)&0xff == codeNotADB
}

func (p *paths) pair() string { return p.real() + pairSuffix }

// real is the path of the database, past symbolic links.
func (p *paths) real() string { return strings.TrimSuffix(p.names[1], "-wal") }

// writePair writes down whose the log is. Where there is no room for that,
// nothing is written down.
func (p *paths) writePair() {
	log, db := p.ids[1], p.ids[0]
	if log.inode == 0 {
		return // Windows lets nobody remove what is open
	}
	text := fmt.Sprintf(pairFormat, log.inode, db.inode, db.device, p.store)
	if was, err := os.ReadFile(p.pair()); err == nil && string(was) == text {
		return
	}
	if os.WriteFile(p.pair(), []byte(text), 0o600) != nil {
		_ = os.Remove(p.pair()) //nolint:errcheck // half a note says nothing
	}
}

// dropPair removes the note when the last connection has removed the log.
func (p *paths) dropPair() {
	if _, err := os.Stat(p.names[1]); errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(p.pair()) //nolint:errcheck // it says nothing of a log that is made later
	}
}
