package files

import (
	"bytes"
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

// Paths are where a store's files are: the database and the two that SQLite
// keeps beside it. If one of them is removed or replaced, SQLite is left with a
// file that no name leads to: it continues writing to it and reports success.
// So the store checks, before it reads and around each commit, whether the
// names still lead to the files that it has open. It looks only at the names:
// opening the database would drop SQLite's locks.
type Paths struct {
	Names [3]string // of the database as the store was named, of -wal, of -shm
	Lost  atomic.Bool

	mu    sync.RWMutex
	ids   [3]host.FileID // the files' IDs when the store was opened
	alone bool           // the database is read as if nobody else wrote to it

	log    *os.File // for the writer alone, as is marked; nil until it is needed
	marked []byte   // head of the log that MarkLog marked last

	content sync.Mutex
	Store   []byte // ID of the store in the file; nil if it is not compared
	looked  Stamp  // of the database when it was last compared
	seen    bool   // the database itself had the ID then, as opposed to the log
	other   error  // the result of that comparison
}

// New returns the paths of the database at path. Settle looks at the files.
func New(path string) *Paths {
	real, err := filepath.EvalSymlinks(path) // the log is beside the target of a symbolic link
	if err != nil {
		real = path
	}
	return &Paths{Names: [3]string{path, real + "-wal", real + "-shm"}}
}

// Settle remembers the first n files. A connection must hold them open, so that
// SQLite itself does not remove them. The error is that of the system.
func (p *Paths) Settle(n int) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range n {
		if p.ids[i], err = host.Identify(p.Names[i]); err != nil {
			return err
		}
	}
	return nil
}

// ReadAlone says that the database is read as if nobody else wrote to it.
func (p *Paths) ReadAlone() { p.setAlone(true) }

// ReadWithOthers says that others may write to the database.
func (p *Paths) ReadWithOthers() { p.setAlone(false) }

func (p *Paths) setAlone(alone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alone = alone
}

// ErrLogCame says that somebody writes to a database that is read as if nobody
// did.
var ErrLogCame = fmt.Errorf("%w: another program has written to it since it was opened read-only; open it again", skein.ErrReplaced)

// Check returns an error if a file is not the one that Settle saw: it wraps
// [skein.ErrReplaced].
func (p *Paths) Check() error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.alone {
		if st, err := os.Stat(p.Names[1]); err == nil && st.Size() > 0 {
			return ErrLogCame
		}
	}
	for i, name := range p.Names {
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

// SameStore returns an error if another store was copied over the database,
// which then has the same name and inode. After each write to the database,
// which only a checkpoint does, it looks for the store's ID in the database
// itself, ignoring the log. It opens the database through SQLite, which knows
// the locks of its own connections. The error wraps [skein.ErrReplaced].
func (p *Paths) SameStore() error {
	p.content.Lock()
	defer p.content.Unlock()
	now := StampOf(p.Names[0])
	if p.Store == nil || now == p.looked {
		return p.other
	}
	id, err := storeIn(p.Names[0])
	copied := fmt.Errorf("%w: another file was copied over %s", skein.ErrReplaced, filepath.Base(p.Names[0]))
	code := engine.Code(err) & 0xff
	switch {
	case err == nil && bytes.Equal(id, p.Store):
		p.looked, p.seen, p.other = now, true, nil
	case err == nil, code == engine.CodeNotADB, p.seen && code == engine.CodeError: // no such table
		p.looked, p.other = now, copied
	case code == engine.CodeError: // all of it is in the log
		p.looked, p.other = now, nil
	}
	return p.other // after any other error, it is being written to, and the next call looks again
}

// Compare remembers the ID of the store that c has open, for later comparisons.
// The error is one that [engine.Classify] returns.
func (p *Paths) Compare(c *engine.Conn) error {
	p.content.Lock()
	defer p.content.Unlock()
	_, err := c.One(`SELECT id FROM store`, nil, &p.Store)
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

// The file NAME-pair says, as "log 131 of 130 on 2049, store 5ea1…", which log
// SQLite wrote for which database, by their inodes, their device and the store's
// ID. A log that a killed process left is applied to whatever file is beside it
// then, and destroys that file if it is another one; the log itself does not say
// which database it belongs to. Files that were copied or restored together have
// other inodes, which the note does not mention; the mark in the log (see [Paths.MarkLog])
// was copied too.
const (
	PairSuffix = "-pair"
	pairFormat = "log %d of %d on %d, store %x\n"
)

// OwnLog returns an error if the log is not the database's, or if the database is not
// there and its log is: somebody moved or removed it, and a program may have it open.
// The error wraps [skein.ErrReplaced].
func (p *Paths) OwnLog() error {
	db, log := p.Names[0], p.Names[1]
	if _, err := os.Stat(db); errors.Is(err, fs.ErrNotExist) {
		for _, left := range p.Names[1:] {
			if _, err := os.Stat(left); err == nil {
				return fmt.Errorf("%w: %s is gone, but %s is still there", skein.ErrReplaced, db, filepath.Base(left))
			}
		}
		return nil
	}
	st, err := os.Stat(log)
	if errors.Is(err, fs.ErrNotExist) || err == nil && st.Size() == 0 {
		return nil
	}
	var itsLog, itsFile, device uint64
	var store []byte
	note, err := os.ReadFile(p.pair())
	if err == nil {
		_, err = fmt.Sscanf(string(note), pairFormat, &itsLog, &itsFile, &device, &store)
	}
	if err != nil {
		return p.ownLog() //nolint:nilerr // the note says nothing of it
	}
	isLog, err := host.Identify(log)
	if err != nil {
		return err
	}
	if isLog != (host.FileID{Device: device, Inode: itsLog}) {
		return p.ownLog()
	}
	isFile, err := host.Identify(db)
	if err != nil {
		return err
	}
	if isFile != (host.FileID{Device: device, Inode: itsFile}) || another(db, store) {
		return fmt.Errorf("%w: %s is the write-ahead log of the file that was here before, and would destroy this one: move %[2]s, %s and %s to another folder, "+
			"or put the former file back; if the log does belong to this file, remove %[4]s", skein.ErrReplaced, log, filepath.Base(p.Names[2]), p.pair())
	}
	_, err = p.marks() // cp keeps a file's inode
	return err
}

// another reports whether a database, without its log, is another store.
func another(db string, store []byte) bool {
	id, err := storeIn(db)
	return err == nil && !bytes.Equal(id, store) || engine.Code(err)&0xff == engine.CodeNotADB
}

func (p *Paths) pair() string { return p.Real() + PairSuffix }

// Real returns the path of the database with symbolic links resolved.
func (p *Paths) Real() string { return strings.TrimSuffix(p.Names[1], "-wal") }

// WritePair records which database the log belongs to. If the disk has no room
// for that, nothing is recorded.
func (p *Paths) WritePair() {
	log, db := p.ids[1], p.ids[0]
	if log.Inode == 0 {
		return // Windows does not let anybody remove an open file
	}
	text := fmt.Sprintf(pairFormat, log.Inode, db.Inode, db.Device, p.Store)
	if was, err := os.ReadFile(p.pair()); err == nil && string(was) == text {
		return
	}
	if os.WriteFile(p.pair(), []byte(text), 0o600) != nil {
		_ = os.Remove(p.pair()) //nolint:errcheck // half a note says nothing
	}
}

// DropPair removes the note once the last connection has removed the log.
func (p *Paths) DropPair() {
	if _, err := os.Stat(p.Names[1]); errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(p.pair()) //nolint:errcheck // it says nothing of a log that is made later
	}
}
