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
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/host"
)

// paths are where a store's files are: the database and the two that SQLite
// keeps beside it. If one of them is removed or replaced, SQLite is left with a
// file that no name leads to: it continues writing to it and reports success.
// So the store checks, before it reads and around each commit, whether the
// names still lead to the files that it has open. It looks only at the names:
// opening the database would drop SQLite's locks.
type paths struct {
	names [3]string // of the database as the store was named, of -wal, of -shm
	lost  atomic.Bool

	mu    sync.RWMutex
	ids   [3]host.FileID // the files' IDs when the store was opened
	alone bool           // the database is read as if nobody else wrote to it

	content sync.Mutex
	store   []byte // ID of the store in the file; nil if it is not compared
	looked  stamp  // of the database when it was last compared
	seen    bool   // the database itself had the ID then, as opposed to the log
	other   error  // the result of that comparison
}

// newPaths returns the paths of the database at path. settle looks at the files.
func newPaths(path string) *paths {
	real, err := filepath.EvalSymlinks(path) // the log is beside the target of a symbolic link
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
		if p.ids[i], err = host.Identify(p.names[i]); err != nil {
			return err
		}
	}
	return nil
}

// readAlone sets whether the database is read as if nobody else wrote to it.
func (p *paths) readAlone(alone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alone = alone
}

// errLogCame says that somebody writes to a database that is read as if nobody
// did.
var errLogCame = fmt.Errorf("%w: another program has written to it since it was opened read-only; open it again", skein.ErrReplaced)

// check returns an error if a file is not the one that settle saw.
func (p *paths) check() error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.alone {
		if st, err := os.Stat(p.names[1]); err == nil && st.Size() > 0 {
			return errLogCame
		}
	}
	for i, name := range p.names {
		if p.ids[i] == (host.FileID{}) {
			continue
		}
		id, err := host.Identify(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w: %s was removed while it was open", skein.ErrReplaced, filepath.Base(name))
		case err != nil:
			return err
		case id != p.ids[i]:
			return fmt.Errorf("%w: %s is no longer the file that was opened", skein.ErrReplaced, filepath.Base(name))
		}
	}
	return nil
}

// inPlace checks the paths and the store's ID and schema. The first failure
// sends a notice and wakes the watchers, who would otherwise wait in vain.
func (c *core) inPlace() error {
	err := c.paths.check()
	if errors.Is(err, errLogCame) { // the disk was full at first: now it is read as others write it
		_ = c.reopen(context.Background()) //nolint:errcheck // what it could not mend is looked at again
		err = c.paths.check()
	}
	if err == nil {
		err = cmp.Or(c.paths.sameStore(), c.steps.same(c.schema.Load()))
	}
	if lost := err != nil; c.paths.lost.Load() != lost && c.paths.lost.CompareAndSwap(!lost, lost) && lost {
		if c.notice != nil {
			c.notice(fmt.Sprintf("%s: %v; nothing is stored or read until the file is back or the program is restarted", c.path, err))
		}
		c.wakers.WakeAll()
	}
	return err
}

// sameStore returns an error if another store was copied over the database,
// which then has the same name and inode. After each write to the database,
// which only a checkpoint does, it looks for the store's ID in the database
// itself, ignoring the log. It opens the database through SQLite, which knows
// the locks of its own connections.
func (p *paths) sameStore() error {
	p.content.Lock()
	defer p.content.Unlock()
	now := stampOf(p.names[0])
	if p.store == nil || now == p.looked {
		return p.other
	}
	id, err := storeIn(p.names[0])
	copied := fmt.Errorf("%w: another file was copied over %s", skein.ErrReplaced, filepath.Base(p.names[0]))
	code := engine.Code(err) & 0xff
	switch {
	case err == nil && bytes.Equal(id, p.store):
		p.looked, p.seen, p.other = now, true, nil
	case err == nil, code == engine.CodeNotADB, p.seen && code == engine.CodeError: // no such table
		p.looked, p.other = now, copied
	case code == engine.CodeError: // all of it is in the log
		p.looked, p.other = now, nil
	}
	return p.other // after any other error, it is being written to, and the next call looks again
}

// compare remembers the ID of the store that c has open, for later comparisons.
func (p *paths) compare(c *engine.Conn) error {
	p.content.Lock()
	defer p.content.Unlock()
	_, err := c.One(`SELECT id FROM store`, nil, &p.store)
	return engine.Classify(err)
}

// storeIn returns the ID of the store in a database without its log; nil if all
// of it is in the log.
func storeIn(path string) (id []byte, err error) {
	d, err := engine.Driver()
	if err != nil {
		return nil, err
	}
	c, err := engine.Connect(d, engine.DSN(path, engine.Immutable))
	if err != nil {
		return nil, err
	}
	_, err = c.One(`SELECT id FROM store`, nil, &id)
	return id, errors.Join(err, c.Close())
}

// dial opens a connection to the file, which must be the one that the store has
// opened: closing the last connection to another file would apply the log beside it.
func (c *core) dial(mode string, pragmas ...string) (*engine.Conn, error) {
	if err := c.paths.check(); err != nil {
		return nil, err
	}
	d, err := engine.Driver()
	if err != nil {
		return nil, err
	}
	conn, err := engine.Connect(d, engine.DSN(c.path, mode), pragmas...)
	if err != nil {
		return nil, err
	}
	if err := c.paths.check(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// The file NAME-pair says, as "log 131 of 130 on 2049, store 5ea1…", which log
// SQLite wrote for which database, by their inodes, their device and the store's
// ID. A log that a killed process left is applied to whatever file is beside it
// then, and destroys that file if it is another one; the log itself does not say
// which database it belongs to. Files that were copied or restored together have
// other inodes, which the note does not mention.
const (
	pairSuffix = "-pair"
	pairFormat = "log %d of %d on %d, store %x\n"
)

// ownLog returns an error if the log is not the database's.
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
	isLog, err := host.Identify(log)
	if err != nil {
		return err
	}
	isFile, err := host.Identify(db)
	if err == nil && isLog == (host.FileID{Device: device, Inode: itsLog}) && (isFile != (host.FileID{Device: device, Inode: itsFile}) || another(db, store)) {
		err = fmt.Errorf("%w: %s is the write-ahead log of the file that was here before, and would destroy this one: move %[2]s, %s and %s to another folder, "+
			"or put the former file back; if the log does belong to this file, remove %[4]s", skein.ErrReplaced, log, filepath.Base(p.names[2]), p.pair())
	}
	return err
}

// another reports whether a database, without its log, is another store.
func another(db string, store []byte) bool {
	id, err := storeIn(db)
	return err == nil && !bytes.Equal(id, store) || engine.Code(err)&0xff == engine.CodeNotADB
}

func (p *paths) pair() string { return p.real() + pairSuffix }

// real returns the path of the database with symbolic links resolved.
func (p *paths) real() string { return strings.TrimSuffix(p.names[1], "-wal") }

// writePair records which database the log belongs to. If the disk has no room
// for that, nothing is recorded.
func (p *paths) writePair() {
	log, db := p.ids[1], p.ids[0]
	if log.Inode == 0 {
		return // Windows does not let anybody remove an open file
	}
	text := fmt.Sprintf(pairFormat, log.Inode, db.Inode, db.Device, p.store)
	if was, err := os.ReadFile(p.pair()); err == nil && string(was) == text {
		return
	}
	if os.WriteFile(p.pair(), []byte(text), 0o600) != nil {
		_ = os.Remove(p.pair()) //nolint:errcheck // half a note says nothing
	}
}

// dropPair removes the note once the last connection has removed the log.
func (p *paths) dropPair() {
	if _, err := os.Stat(p.names[1]); errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(p.pair()) //nolint:errcheck // it says nothing of a log that is made later
	}
}
