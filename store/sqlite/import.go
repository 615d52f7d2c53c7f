package sqlite

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// putImport writes the source file and the records of a batch for session h,
// nil if it has none.
func (t *call) putImport(p *packed, h *columns.Head) error {
	if p.Import == nil {
		return nil
	}
	user := t.s.owner()
	if h != nil {
		user = h.User
	}
	n, err := putFile(t.Tx, &p.Import.File, user)
	if err != nil {
		return err
	}
	have, err := recordCount(t.Tx.Conn, n)
	if err != nil {
		return err
	}
	first, err := ledger.FirstRecord(p.Import, have)
	if err != nil {
		return err
	}
	total := len(p.Import.Records)
	if first < have && (total > 0 || p.Import.Forget) {
		if err := t.cutRecords(n, first, first+total, p.Import.Forget); err != nil {
			return err
		}
	}
	for i := range p.blocks {
		size, err := t.putBlock(n, p, &p.blocks[i])
		if err != nil {
			return err
		}
		if h != nil {
			h.Bytes += size
		}
	}
	return nil
}

// putFile writes the row of a source file and returns its number.
func putFile(t *txn.Tx, f *skein.SourceFile, user skein.User) (n int64, err error) {
	state := f.State
	if state == nil {
		state = []byte{}
	}
	if _, _, err := t.Exec(`INSERT INTO files (user_id, format, path, session, id, copy_of, size, mtime, inode, offset, records, damaged, head, state)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (path, format, user_id) DO UPDATE SET session = excluded.session, id = excluded.id, copy_of = excluded.copy_of, size = excluded.size,
		mtime = excluded.mtime, inode = excluded.inode, offset = excluded.offset, records = excluded.records,
		damaged = excluded.damaged, head = excluded.head, state = excluded.state`,
		string(user), f.Format, f.Path, string(f.Session), f.ID, string(f.CopyOf), f.Size, f.Mtime, int64(f.Inode), f.Offset, f.Records, f.Damaged, string(f.Head), state); err != nil {
		return 0, err
	}
	_, err = t.One(`SELECT n FROM files WHERE path = ? AND format = ? AND user_id = ?`, []any{f.Path, f.Format, string(user)}, &n)
	return n, err
}
