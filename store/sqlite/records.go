package sqlite

import (
	"bytes"
	"cmp"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// recordCount returns how many records of file n are stored.
func recordCount(c *engine.Conn, n int64) (int, error) {
	var end int64
	found, err := c.One(`SELECT n + count FROM records WHERE n >= ? AND n < ? ORDER BY n DESC LIMIT 1`, []any{n * columns.RecordsPerFile, (n + 1) * columns.RecordsPerFile}, &end)
	if err != nil || !found {
		return 0, err
	}
	return int(end - n*columns.RecordsPerFile), nil
}

// blockOf returns the block of file n that has a record, with the number of its
// first record and how many it has; nil if there is no such block.
func blockOf(c *engine.Conn, n int64, record int) (first, records int, stored []byte, err error) {
	var at, count int64
	_, err = c.One(`SELECT n, count, raw FROM records WHERE n >= ? AND n <= ? ORDER BY n DESC LIMIT 1`,
		[]any{n * columns.RecordsPerFile, n*columns.RecordsPerFile + int64(record)}, &at, &count, &stored)
	first = int(at - n*columns.RecordsPerFile)
	if err != nil || stored == nil || record >= first+int(count) {
		return 0, 0, nil, err
	}
	return first, int(count), stored, nil
}

// legible returns the complete records of a block; first is the number of the first
// one. Those that are damaged are not complete: bad has their errors. In place of the
// files that instead knows, they have what it returns. The error is about the whole
// block.
func legible(p *pack.Packer, c *engine.Conn, first int, stored []byte, instead func(skein.Hash) ([]byte, bool)) (rs []skein.Record, bad []error, err error) {
	raw, ids, err := p.Open(stored)
	if err != nil {
		return nil, nil, err
	}
	return legibleOf(p, c, first, raw, ids, instead)
}

// legibleOf is legible for a block that was opened: its records, and the events that
// they refer to.
func legibleOf(p *pack.Packer, c *engine.Conn, first int, raw []pack.Record, ids []int64, instead func(skein.Hash) ([]byte, bool)) (rs []skein.Record, bad []error, err error) {
	texts, hurt := make([]string, len(ids)), make([]error, len(ids))
	for i, id := range ids {
		err := c.Query(columns.SelectEvent+`WHERE e.id = ?`, []any{id}, func(row []driver.Value) error {
			texts[i], _ = row[columns.TextColumn].(string) // NULL is ""
			_, _, err := columns.ScanEvent(p, row)
			if one := (*skein.DamagedError)(nil); errors.As(err, &one) {
				hurt[i], err = err, nil
			}
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	files := func(n int, hash []byte) ([]byte, error) {
		if data, ok := instead(skein.Hash(hex.EncodeToString(hash))); ok {
			return data, nil
		}
		return fileOf(p, c, ids[n], hash)
	}
	rs, bad = make([]skein.Record, len(raw)), make([]error, len(raw))
	for i := range raw {
		raw[i].N = first + i
		for _, q := range raw[i].Pieces[:len(raw[i].Pieces)-1] {
			bad[i] = cmp.Or(bad[i], hurt[q.Event])
		}
		if bad[i] == nil {
			rs[i], bad[i] = raw[i].Whole(texts, files)
			if bad[i] != nil && !errors.Is(bad[i], skein.ErrCorrupt) {
				return nil, nil, bad[i]
			}
		}
	}
	return rs, bad, nil
}

// noChange knows no file.
func noChange(skein.Hash) ([]byte, bool) { return nil, false }

// fileOf returns the content of a blob that an event refers to; nil if the event was
// deleted in the shell, which leaves a note in its place, or nothing. The error wraps
// [skein.ErrCorrupt] if the blob is damaged, or it or the reference to it is missing.
func fileOf(p *pack.Packer, c *engine.Conn, event int64, hash []byte) ([]byte, error) {
	var form int64
	var data []byte
	found, err := c.One(`SELECT coalesce(b.form, -1), b.data
		FROM events e LEFT JOIN blob_refs r ON r.event = e.id AND r.hash = ?2 LEFT JOIN blobs b ON b.hash = r.hash
		WHERE e.id = ?1 AND e.kind <> 'noted'`, []any{event, hash}, &form, &data)
	if err != nil || !found {
		return nil, err
	}
	h := skein.Hash(hex.EncodeToString(hash))
	if form < 0 {
		return nil, fmt.Errorf("blob %s, or the reference to it, is missing: %w", h, skein.ErrCorrupt)
	}
	return p.UnpackBlob(h, int(form), data)
}

// firstBad returns an error about the first run of bad records from number i of
// a block on; first is the number of the block's first record. It returns nil
// if none are bad.
func firstBad(bad []error, first, i int) error {
	for i < len(bad) && bad[i] == nil {
		i++
	}
	if i >= len(bad) {
		return nil
	}
	end := i
	for end+1 < len(bad) && bad[end+1] != nil {
		end++
	}
	return &skein.DamagedRecordsError{First: first + i, Last: first + end, Err: bad[i]}
}

// putBlock stores a block of a batch after the stored records of file n, and
// returns how many bytes that takes.
func (t *call) putBlock(n int64, p *packed, b *pack.PackedBlock) (size int64, err error) {
	ids := make([]int64, len(b.Events))
	for i, e := range b.Events {
		if ids[i] = p.events[e].id; ids[i] == 0 {
			return t.putPlain(n, p, b)
		}
	}
	first, is := b.Records[0].N, *b // b is not changed: the job may be run again
	size = int64(len(b.Body))
	if first > 0 && b.Extends() {
		tail, had, err := t.tail(n, first)
		if err != nil {
			return 0, err
		}
		if tail != nil {
			first = tail[0].N
			is, ids = t.s.pack.Join(tail, had.ids, b.Records, ids)
			size = int64(len(is.Body) - had.size)
		}
	}
	return size, setBlock(t.Tx, n*columns.RecordsPerFile+int64(first), is, ids)
}

// putPlain stores a block without references, because one of its events no
// longer has text.
func (t *call) putPlain(n int64, p *packed, b *pack.PackedBlock) (int64, error) {
	texts := make([]string, len(b.Events))
	for i, e := range b.Events {
		texts[i] = p.events[e].Facts.Text
	}
	files := func(_ int, hash []byte) ([]byte, error) {
		n := slices.IndexFunc(p.blobs, func(b pack.Blob) bool { return bytes.Equal(b.Hash, hash) })
		return p.Blobs[n].Data, nil
	}
	rs := make([]skein.Record, len(b.Records))
	for i := range b.Records {
		var err error
		if rs[i], err = b.Records[i].Whole(texts, files); err != nil {
			return 0, err
		}
	}
	plain := t.s.pack.OneBlock(rs, nil)
	return int64(len(plain.Body)), setBlock(t.Tx, n*columns.RecordsPerFile+int64(rs[0].N), plain, nil)
}

// setBlock writes a block whose pieces refer to the events ids.
func setBlock(t *txn.Tx, at int64, b pack.PackedBlock, ids []int64) error {
	return setStored(t, at, len(b.Records), pack.Seal(b.Form, ids, b.Body))
}

// setStored writes a block of count records as it is stored.
func setStored(t *txn.Tx, at int64, count int, raw []byte) error {
	_, _, err := t.Exec(`INSERT INTO records (n, count, raw) VALUES (?, ?, ?) ON CONFLICT (n) DO UPDATE SET count = excluded.count, raw = excluded.raw`, at, count, raw)
	return err
}

// blockInfo is what a block contains besides its records.
type blockInfo struct {
	ids  []int64
	size int
}

// tail returns the records of the last block of file n, if it is short, ends
// right before record and can be read.
func (t *call) tail(n int64, record int) (rs []pack.Record, had blockInfo, err error) {
	first, count, raw, err := blockOf(t.Tx.Conn, n, record-1)
	if err != nil || !pack.Extensible(raw, count) {
		return nil, had, err
	}
	had.size = len(raw)
	rs, had.ids, err = t.s.pack.Open(raw)
	if errors.Is(err, skein.ErrCorrupt) || err == nil && !pack.Short(rs) {
		return nil, had, nil // then a new block is begun
	}
	for i := range rs {
		rs[i].N = first + i
	}
	return rs, had, err
}

// cutRecords removes the records from first up to but not including end from
// file n and, if forget is set, all that follow them. What remains of their
// blocks is stored without references, but what is damaged stays as it is.
func (t *call) cutRecords(n int64, first, end int, forget bool) error {
	type block struct {
		at, count int64
		raw       []byte
	}
	var blocks []block
	err := t.Query(`SELECT n, count, raw FROM records WHERE n + count > ?1 AND n < ?2 AND n >= ?3 ORDER BY n`,
		[]any{n*columns.RecordsPerFile + int64(first), (n + 1) * columns.RecordsPerFile, n * columns.RecordsPerFile}, func(row []driver.Value) error {
			var b block
			err := engine.Scan(row, []any{&b.at, &b.count, &b.raw})
			if int(b.at-n*columns.RecordsPerFile) < end || forget {
				blocks = append(blocks, b)
			}
			return err
		})
	if err != nil {
		return err
	}
	for _, b := range blocks {
		if _, _, err := t.Exec(`DELETE FROM records WHERE n = ?`, b.at); err != nil {
			return err
		}
		at := int(b.at - n*columns.RecordsPerFile)
		if at >= first && (forget || at+int(b.count) <= end) {
			continue // nothing remains of it
		}
		raw, all, lost := t.s.pack.Open(b.raw)
		count, rs, bad := int(b.count), []skein.Record(nil), []error(nil)
		if lost == nil {
			if rs, bad, err = legibleOf(t.s.pack, t.Conn, at, raw, all, noChange); err != nil {
				return fmt.Errorf("records from %d on: %w", at, err)
			}
			count = len(rs)
		}
		keep := [][2]int{{0, max(0, first-at)}}
		if !forget {
			keep = append(keep, [2]int{min(count, max(0, end-at)), count})
		}
		for _, k := range keep {
			if k[0] == k[1] {
				continue
			}
			if lost != nil { // what remains goes on being damaged
				if err := setStored(t.Tx, b.at+int64(k[0]), k[1]-k[0], b.raw); err != nil {
					return err
				}
				continue
			}
			part, ids := t.s.pack.OneBlock(rs[k[0]:k[1]], nil), []int64(nil)
			if bad := bad[k[0]:k[1]]; firstBad(bad, 0, 0) != nil {
				keepBad(t.s.pack, &part, bad, raw[k[0]:k[1]])
				ids = all
			}
			if err := setBlock(t.Tx, b.at+int64(k[0]), part, ids); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepBad puts the damaged records into b in their stored form, raw. They refer to the
// events of the block that they were in.
func keepBad(p *pack.Packer, b *pack.PackedBlock, bad []error, raw []pack.Record) {
	for i, r := range raw {
		if bad[i] != nil {
			b.Records[i] = r
		}
	}
	b.Form, b.Body = p.Encode(b.Records)
}
