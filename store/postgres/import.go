package postgres

import (
	"crypto/sha256"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
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
	blocks []recordBlock
	first  int
	tail   bool // it only appends to what is stored
}

// putImport drafts the file and the records of a batch for session d, which may be
// nil.
func (w *work) putImport(p *packed, d *draft) error {
	if p.Import == nil {
		return nil
	}
	user := w.s.owner()
	if d != nil {
		user = d.User
	}
	f, err := w.file(fileKey{user, p.Import.File.Format, p.Import.File.Path})
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
			d.grew += int64(len(b.raw))
		}
	}
	return nil
}

// file returns the draft of a source file. Nobody else can write to the file: the
// group holds its lock.
func (w *work) file(k fileKey) (*fileDraft, error) {
	if f := w.files[k]; f != nil {
		return f, nil
	}
	f := &fileDraft{}
	hash := sha256.Sum256([]byte(k.path))
	_, err := w.tx.one(`SELECT f.n, coalesce((SELECT r.number + r.count FROM records r WHERE r.user_id = f.user_id AND r.file = f.n ORDER BY r.number DESC LIMIT 1), 0)
		FROM files f WHERE f.user_id = $1 AND f.format = $2 AND f.path_hash = $3`, []any{string(k.user), plain(k.format), hash[:]}, &f.n, &f.records)
	if err != nil {
		return nil, err
	}
	w.files[k] = f
	return f, nil
}

// writeFiles writes the drafts of source files.
func (w *work) writeFiles() error {
	for k, f := range w.files {
		for i := range f.writes {
			if err := w.writeFile(k, f, &f.writes[i]); err != nil {
				return err
			}
		}
		f.writes = nil
	}
	return nil
}

func (w *work) writeFile(k fileKey, f *fileDraft, x *fileWrite) error {
	state := x.im.File.State
	if state == nil {
		state = []byte{}
	}
	sf := &x.im.File
	if _, err := w.tx.one(`INSERT INTO files (user_id, format, path, session, id, copy_of, size, mtime, inode, "offset", records, damaged, head, state)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
		ON CONFLICT (user_id, format, path_hash) DO UPDATE SET session = excluded.session, id = excluded.id, copy_of = excluded.copy_of, size = excluded.size,
		mtime = excluded.mtime, inode = excluded.inode, "offset" = excluded."offset", records = excluded.records,
		damaged = excluded.damaged, head = excluded.head, state = excluded.state
		RETURNING n`, []any{
		string(k.user), plain(k.format), []byte(k.path), string(sf.Session), plain(sf.ID), string(sf.CopyOf), sf.Size, sf.Mtime, int64(sf.Inode),
		sf.Offset, sf.Records, sf.Damaged, string(sf.Head), state,
	}, &f.n); err != nil {
		return err
	}
	p := w.tx.pipe()
	blocks := x.blocks
	if !x.tail {
		var err error
		if blocks, err = w.splice(k.user, f.n, x); err != nil {
			return err
		}
		p = w.tx.pipe()
		p.exec(`DELETE FROM records WHERE user_id = $1 AND file = $2 AND number + count > $3 AND ($4 OR number < $5)`,
			string(k.user), f.n, x.first, x.im.Forget, x.first+len(x.im.Records))
	} else if len(blocks) > 0 && x.first > 0 {
		joined, from, err := w.join(k.user, f.n, x)
		if err != nil {
			return err
		}
		if joined != nil {
			blocks = joined
			p.exec(`DELETE FROM records WHERE user_id = $1 AND file = $2 AND number = $3`, string(k.user), f.n, from)
		}
	}
	for _, b := range blocks {
		p.exec(`INSERT INTO records (user_id, file, number, count, raw) VALUES ($1, $2, $3, $4, $5)`, string(k.user), f.n, b.first, b.count, b.raw)
	}
	return p.run()
}

// splice returns the blocks that replace those in which x replaces a record.
func (w *work) splice(user skein.User, n int64, x *fileWrite) ([]recordBlock, error) {
	var before, behind []skein.Record
	end := x.first + len(x.im.Records)
	err := w.tx.query(`SELECT number, count, raw FROM records WHERE user_id = $1 AND file = $2 AND number + count > $3 AND ($4 OR number < $5) ORDER BY number`,
		[]any{string(user), n, x.first, x.im.Forget, end}, func(r row) error {
			rs, err := w.s.pack.scanBlock(r)
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
	return w.s.pack.blocks(append(all, behind...)), err
}

// join returns the blocks that replace the last one before x, if that is short and
// can be read, and the number of its first record.
func (w *work) join(user skein.User, n int64, x *fileWrite) (blocks []recordBlock, from int, err error) {
	err = w.tx.query(`SELECT number, count, raw FROM records WHERE user_id = $1 AND file = $2 AND number < $3 AND number + count = $3 AND octet_length(raw) < $4 ORDER BY number DESC LIMIT 1`,
		[]any{string(user), n, x.first, tailBytes}, func(r row) error {
			rs, err := w.s.pack.scanBlock(r)
			if errors.Is(err, skein.ErrCorrupt) {
				return nil // start a new block, which is readable
			}
			if err == nil {
				from = rs[0].N
				blocks = w.s.pack.blocks(append(rs, x.im.Records...))
			}
			return err
		})
	return blocks, from, err
}

// scanBlock reads a row of number, count and raw of records.
func (p *packer) scanBlock(r row) ([]skein.Record, error) {
	var first, count int
	var raw []byte
	if err := r.Scan(&first, &count, &raw); err != nil {
		return nil, err
	}
	return p.openBlock(first, count, raw)
}
