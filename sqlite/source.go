package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"iter"

	"github.com/skein-dev/skein"
)

// recordsPerFile is how far apart in records.n the files are.
const recordsPerFile = 1 << 32

const maxState = 1 << 20

// How much of a file is in one block.
const (
	blockBytes = 256 << 10 // of the file; a longer record has a block of its own
	tailBytes  = 16 << 10  // stored; a shorter last block takes in what follows
)

// A packedBlock is some records of a batch that follow each other.
type packedBlock struct {
	records []rawRecord
	events  []int // numbers in the batch of the events that the pieces refer to
	form    byte
	body    []byte
}

// packRecords returns the records of a batch with these events in blocks.
func (s *Store) packRecords(im *skein.Import, events []packedEvent) (blocks []packedBlock, err error) {
	f := &im.File
	switch {
	case f.Format == "" || f.Path == "":
		return nil, fmt.Errorf("%w import: format %q, path %q", skein.ErrInvalid, f.Format, f.Path)
	case len(f.State) > maxState:
		return nil, fmt.Errorf("%w import of %s: state of %d bytes, at most %d are allowed", skein.ErrInvalid, f.Path, len(f.State), maxState)
	}
	for i, r := range im.Records {
		if r.N < 0 || r.N >= recordsPerFile || r.N != im.Records[0].N+i {
			return nil, fmt.Errorf("%w import of %s: record %d at place %d", skein.ErrInvalid, f.Path, r.N, i)
		}
	}
	texts := refTable{}
	for i := range events {
		if events[i].f.Amended == nil {
			texts.add(i, &events[i].f)
		}
	}
	for _, rs := range chunks(im.Records) {
		blocks = append(blocks, s.pack.newBlock(rs, texts))
	}
	return blocks, nil
}

// chunks cuts records into those of one block each.
func chunks(rs []skein.Record) (all [][]skein.Record) {
	from, size := 0, 0
	for i, r := range rs {
		if size += len(r.Raw); size > blockBytes && i > from {
			all = append(all, rs[from:i])
			from, size = i, len(r.Raw)
		}
	}
	if from < len(rs) {
		all = append(all, rs[from:])
	}
	return all
}

func (p *packer) newBlock(rs []skein.Record, texts refTable) (b packedBlock) {
	places := map[int]int{} // number in the batch → in the block
	for _, r := range rs {
		x := texts.split(r)
		for i := range x.pieces[:len(x.pieces)-1] {
			q := &x.pieces[i]
			at, ok := places[q.event]
			if !ok {
				at = len(places)
				places[q.event] = at
				b.events = append(b.events, q.event)
			}
			q.event = at
		}
		b.records = append(b.records, x)
	}
	b.form, b.body = p.packBlock(b.records)
	return b
}

// putImport writes the file and the records of a batch for session h; nil for
// none.
func (t *call) putImport(p *packed, h *head) error {
	if p.Import == nil {
		return nil
	}
	user := t.s.owner()
	if h != nil {
		user = h.User
	}
	n, err := t.putFile(&p.Import.File, user)
	if err != nil {
		return err
	}
	first, total := 0, 0
	if r := p.Import.Records; len(r) > 0 {
		first, total = r[0].N, len(r)
	}
	have, err := t.recordCount(n)
	if err != nil {
		return err
	}
	if first > have {
		return fmt.Errorf("%w import of %s: record %d follows %d records", skein.ErrInvalid, p.Import.File.Path, first, have)
	}
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
			h.bytes += size
		}
	}
	return nil
}

// putFile writes the row of a source file and returns its number.
func (t *tx) putFile(f *skein.SourceFile, user skein.User) (n int64, err error) {
	state := f.State
	if state == nil {
		state = []byte{}
	}
	if _, _, err := t.exec(`INSERT INTO files (user_id, format, path, session, id, copy_of, size, mtime, inode, offset, records, damaged, head, state)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (path, format, user_id) DO UPDATE SET session = excluded.session, id = excluded.id, copy_of = excluded.copy_of, size = excluded.size,
		mtime = excluded.mtime, inode = excluded.inode, offset = excluded.offset, records = excluded.records,
		damaged = excluded.damaged, head = excluded.head, state = excluded.state`,
		string(user), f.Format, f.Path, string(f.Session), f.ID, string(f.CopyOf), f.Size, f.Mtime, int64(f.Inode), f.Offset, f.Records, f.Damaged, string(f.Head), state); err != nil {
		return 0, err
	}
	_, err = t.one(`SELECT n FROM files WHERE path = ? AND format = ? AND user_id = ?`, []any{f.Path, f.Format, string(user)}, &n)
	return n, err
}

// Find implements [skein.Store].
func (s *Store) Find(ctx context.Context, keys []skein.ClientID) (found map[skein.ClientID]skein.Place, err error) {
	defer skein.Wrapf(&err, "sqlite: find %d client IDs", len(keys))
	found = map[skein.ClientID]skein.Place{}
	err = s.read(ctx, func(c *conn) error {
		for _, k := range keys {
			var id string
			var seq int64
			ok, err := c.one(`SELECT s.id, e.seq FROM events e INDEXED BY events_by_client JOIN sessions s ON s.n = e.session
				WHERE e.client = ?1 AND e.imported = 1 AND (?2 = '' OR s.user_id = ?2) ORDER BY e.id LIMIT 1`,
				[]any{string(k), string(s.user)}, &id, &seq)
			if err != nil {
				return err
			}
			if ok {
				found[k] = skein.Place{Session: skein.SessionID(id), Seq: skein.Seq(seq)}
			}
		}
		return nil
	})
	return found, err
}

const selectFile = `SELECT f.format, f.path, f.session, f.id, f.copy_of, f.size, f.mtime, f.inode, f.offset, f.records, f.damaged, f.head, f.state, f.n, f.user_id FROM files f `

func scanFile(row []driver.Value) (f skein.SourceFile, n int64, err error) {
	var session, copyOf, head, user string
	var inode, records, damaged int64
	err = scan(row, []any{&f.Format, &f.Path, &session, &f.ID, &copyOf, &f.Size, &f.Mtime, &inode, &f.Offset, &records, &damaged, &head, &f.State, &n, &user})
	f.Session, f.CopyOf, f.Head = skein.SessionID(session), skein.SessionID(copyOf), skein.Hash(head)
	f.Inode, f.Records, f.Damaged = uint64(inode), int(records), int(damaged)
	if len(f.State) == 0 {
		f.State = nil
	}
	return f, n, err
}

// file returns what is known of a file, and its number.
func (s *Store) file(c *conn, format, path string) (f skein.SourceFile, n int64, err error) {
	found := false
	err = c.query(selectFile+`WHERE f.path = ?1 AND f.format = ?2 AND (?3 = '' OR f.user_id = ?3) ORDER BY f.user_id LIMIT 1`,
		[]any{path, format, string(s.user)}, func(row []driver.Value) error {
			found = true
			f, n, err = scanFile(row)
			return err
		})
	if err == nil && !found {
		err = fmt.Errorf("file %s of format %q %w", path, format, skein.ErrNotFound)
	}
	return f, n, err
}

// File implements [skein.Store].
func (s *Store) File(ctx context.Context, format, path string) (f skein.SourceFile, err error) {
	defer skein.Wrapf(&err, "sqlite: file %s", path)
	err = s.read(ctx, func(c *conn) error {
		f, _, err = s.file(c, format, path)
		return err
	})
	return f, err
}

// Files implements [skein.Store].
func (s *Store) Files(ctx context.Context, format string) iter.Seq2[skein.SourceFile, error] {
	return func(yield func(skein.SourceFile, error) bool) {
		last := []any{"", "", ""} // path, format, user
		for {
			page, err := s.filePage(ctx, format, last)
			if err != nil {
				skein.Wrapf(&err, "sqlite: files of format %q", format)
				yield(skein.SourceFile{}, err)
				return
			}
			for _, f := range page {
				if !yield(f, nil) {
					return
				}
			}
			if len(page) == 0 {
				return
			}
		}
	}
}

// filePage returns the next files after last, and moves it.
func (s *Store) filePage(ctx context.Context, format string, last []any) (page []skein.SourceFile, err error) {
	err = s.read(ctx, func(c *conn) error {
		return c.query(selectFile+`WHERE (f.path, f.format, f.user_id) > (?1, ?2, ?3) AND (?4 = '' OR f.format = ?4) AND (?5 = '' OR f.user_id = ?5)
			ORDER BY f.path, f.format, f.user_id LIMIT 256`, append(last, format, string(s.user)), func(row []driver.Value) error {
			f, _, err := scanFile(row)
			page = append(page, f)
			last[0], last[1], last[2] = f.Path, f.Format, row[len(row)-1]
			return err
		})
	})
	return page, err
}

// Records implements [skein.Store].
func (s *Store) Records(ctx context.Context, format, path string, from int) iter.Seq2[skein.Record, error] {
	return func(yield func(skein.Record, error) bool) {
		for next := max(0, from); ; {
			page, err := s.recordPage(ctx, format, path, next)
			if err != nil {
				skein.Wrapf(&err, "sqlite: records of %s", path)
				yield(skein.Record{}, err)
				return
			}
			for _, r := range page {
				if !yield(r, nil) {
					return
				}
			}
			if len(page) == 0 {
				return
			}
			next = page[len(page)-1].N + 1
		}
	}
}

// recordPage returns the records from number n on that one block has; none at
// the end.
func (s *Store) recordPage(ctx context.Context, format, path string, from int) (page []skein.Record, err error) {
	err = s.read(ctx, func(c *conn) error {
		_, n, err := s.file(c, format, path)
		if err != nil {
			return err
		}
		first, stored, err := c.block(n, from)
		if err != nil || stored == nil {
			return err
		}
		all, err := s.pack.records(c, first, stored)
		page = all[min(len(all), max(0, from-first)):]
		return err
	})
	return page, err
}
