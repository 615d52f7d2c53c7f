package postgres

import (
	"crypto/sha256"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// A fileKey names a source file.
type fileKey struct {
	user         skein.User
	format, path string
}

// A fileDraft is a source file as a group of appends will leave it.
type fileDraft struct {
	n       int64 // files.n; 0 if it has no row
	records int   // how many are stored or drafted
	writes  []fileWrite
}

// A fileWrite is what one batch writes to a file.
type fileWrite struct {
	im     *skein.Import
	blocks []pack.WholeBlock
	first  int
	tail   bool // it only appends to what is stored
}

// The fileDrafts of a group are the source files that it writes.
type fileDrafts map[fileKey]*fileDraft

// putImport drafts the file and the records of a batch for session d, which may be
// nil.
func (w *work) putImport(p *packed, d *sessionDraft) error {
	if p.Import == nil {
		return nil
	}
	user := w.s.owner()
	if d != nil {
		user = d.User
	}
	f, err := w.files.at(w.tx, fileKey{user, p.Import.File.Format, p.Import.File.Path})
	if err != nil {
		return err
	}
	first, err := ledger.FirstRecord(p.Import, f.records)
	if err != nil {
		return err
	}
	total := len(p.Import.Records)
	f.writes = append(f.writes, fileWrite{im: p.Import, blocks: p.blocks, first: first, tail: first == f.records || total == 0 && !p.Import.Forget})
	f.records = max(f.records, first+total)
	if p.Import.Forget {
		f.records = first + total
	}
	if d != nil {
		for _, b := range p.blocks {
			d.grew += int64(len(b.Raw))
		}
	}
	return nil
}

// at returns the draft of a source file. Nobody else can write to the file: the group
// holds its lock.
func (all fileDrafts) at(t *tx, k fileKey) (*fileDraft, error) {
	if f := all[k]; f != nil {
		return f, nil
	}
	f := &fileDraft{}
	hash := sha256.Sum256([]byte(k.path))
	_, err := t.One(`SELECT f.n, coalesce((SELECT r.number + r.count FROM records r WHERE r.user_id = f.user_id AND r.file = f.n ORDER BY r.number DESC LIMIT 1), 0)
		FROM files f WHERE f.user_id = $1 AND f.format = $2 AND f.path_hash = $3`, []any{string(k.user), columns.Plain(k.format), hash[:]}, &f.n, &f.records)
	if err != nil {
		return nil, err
	}
	all[k] = f
	return f, nil
}

// write writes the drafts.
func (all fileDrafts) write(t *tx) error {
	for k, f := range all {
		for i := range f.writes {
			if err := f.write(t, k, &f.writes[i]); err != nil {
				return err
			}
		}
		f.writes = nil
	}
	return nil
}

// write writes what one batch writes to the file with this key.
func (f *fileDraft) write(t *tx, k fileKey, x *fileWrite) error {
	state := x.im.File.State
	if state == nil {
		state = []byte{}
	}
	sf := &x.im.File
	if _, err := t.One(`INSERT INTO files (user_id, format, path, session, id, copy_of, size, mtime, inode, "offset", records, damaged, head, state)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
		ON CONFLICT (user_id, format, path_hash) DO UPDATE SET session = excluded.session, id = excluded.id, copy_of = excluded.copy_of, size = excluded.size,
		mtime = excluded.mtime, inode = excluded.inode, "offset" = excluded."offset", records = excluded.records,
		damaged = excluded.damaged, head = excluded.head, state = excluded.state
		RETURNING n`, []any{
		string(k.user), columns.Plain(k.format), []byte(k.path), string(sf.Session), columns.Plain(sf.ID), string(sf.CopyOf), sf.Size, sf.Mtime, int64(sf.Inode),
		sf.Offset, sf.Records, sf.Damaged, string(sf.Head), state,
	}, &f.n); err != nil {
		return err
	}
	p := t.pipe()
	blocks := x.blocks
	if !x.tail {
		var err error
		if blocks, err = x.splice(t, k.user, f.n); err != nil {
			return err
		}
		p = t.pipe()
		p.Exec(`DELETE FROM records WHERE user_id = $1 AND file = $2 AND number + count > $3 AND ($4 OR number < $5)`,
			string(k.user), f.n, x.first, x.im.Forget, x.first+len(x.im.Records))
	} else if len(blocks) > 0 && x.first > 0 {
		joined, from, err := x.join(t, k.user, f.n)
		if err != nil {
			return err
		}
		if joined != nil {
			blocks = joined
			p.Exec(`DELETE FROM records WHERE user_id = $1 AND file = $2 AND number = $3`, string(k.user), f.n, from)
		}
	}
	for _, b := range blocks {
		p.Exec(`INSERT INTO records (user_id, file, number, count, raw) VALUES ($1, $2, $3, $4, $5)`, string(k.user), f.n, b.First, b.Count, b.Raw)
	}
	return p.Run()
}

// splice returns the blocks that replace those in which x replaces a record.
func (x *fileWrite) splice(t *tx, user skein.User, n int64) ([]pack.WholeBlock, error) {
	var before, behind []skein.Record
	end := x.first + len(x.im.Records)
	err := t.Query(`SELECT number, count, raw FROM records WHERE user_id = $1 AND file = $2 AND number + count > $3 AND ($4 OR number < $5) ORDER BY number`,
		[]any{string(user), n, x.first, x.im.Forget, end}, func(r wire.Row) error {
			rs, err := scanBlock(t.s.pack, r)
			for _, rec := range rs {
				switch {
				case rec.N < x.first:
					before = append(before, rec)
				case rec.N >= end && !x.im.Forget:
					behind = append(behind, rec)
				}
			}
			return err
		})
	all := append(before, x.im.Records...)
	return t.s.pack.WholeBlocks(append(all, behind...)), err
}

// join returns the blocks that replace the last one before x, if that is short and
// can be read, and the number of its first record.
func (x *fileWrite) join(t *tx, user skein.User, n int64) (blocks []pack.WholeBlock, from int, err error) {
	err = t.Query(`SELECT number, count, raw FROM records WHERE user_id = $1 AND file = $2 AND number < $3 AND number + count = $3 AND octet_length(raw) < $4 ORDER BY number DESC LIMIT 1`,
		[]any{string(user), n, x.first, pack.ShortBlock}, func(r wire.Row) error {
			rs, err := scanBlock(t.s.pack, r)
			if errors.Is(err, skein.ErrCorrupt) {
				return nil // start a new block, which is readable
			}
			if err == nil {
				from = rs[0].N
				blocks = t.s.pack.WholeBlocks(append(rs, x.im.Records...))
			}
			return err
		})
	return blocks, from, err
}

// scanBlock reads a row of number, count and raw of records.
func scanBlock(c *pack.Compressor, r wire.Row) ([]skein.Record, error) {
	var first, count int
	var raw []byte
	if err := r.Scan(&first, &count, &raw); err != nil {
		return nil, err
	}
	return c.OpenWhole(first, count, raw)
}
