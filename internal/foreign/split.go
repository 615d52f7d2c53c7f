package foreign

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strconv"
)

// A Part is a table that is split, and how to split it.
type Part struct {
	Table string
	Key   string           // column with the key of a row; "" for a table without keys
	KeyOf func(Row) string // returns the key if no single column has it; nil for Key
	Order string           // column that rows are ordered by, before the rowid; "" for the rowid alone

	// Place returns the place of a row in its piece: rows are sorted by it,
	// and rows with the same place stay in order. nil is "" for all.
	Place func(Row) string

	// Empty says that the rows are not read: only the frame has the table.
	Empty bool
}

// Split reads tables and returns their rows by key. The rows of each piece are in the
// order of parts, and within a part in that of the table; pieces come in the order in
// which their keys were found. Tables that do not exist are left out. Each table is
// read once, from its beginning; its indexes, which may be damaged, are not used. The
// rows and their keys are in temporary files: Split keeps about a hundred bytes per
// key in memory, and nothing per row.
//
// Errors are ctx's, those of writing to temporary files, of a column that the table
// does not have, of many times more rows than the file has room for, and of more than
// maxPieces keys.
func (db *DB) Split(ctx context.Context, parts ...Part) (_ *Pieces, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(db.ctx, stop)()
	s, err := db.newSplitter()
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		t, ok := db.Table(p.Table)
		if !ok || p.Empty {
			continue
		}
		if p.Key != "" && !t.Has(p.Key) {
			return nil, fmt.Errorf("table %s has no column %s", p.Table, p.Key)
		}
		if err := db.Rows(ctx, p.Table, p.Order, func(r Row) error { return s.add(p.keyOf(r), p.placeOf(r), r) }); err != nil {
			return nil, err
		}
	}
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	_, err = db.conn.ExecContext(ctx, "PRAGMA shrink_memory") // most callers run no further statements
	return s.pieces, err
}

// maxGrowth is how many times as long as the database all lines may be: rows that
// share pages, which SQLite never writes, could be endless.
const maxGrowth = 64

// maxPieces is the most keys that Split accepts.
const maxPieces = 1_000_000

// A splitter is one call of Split.
type splitter struct {
	most   int64
	hash   hash.Hash
	sum    [sha256.Size]byte
	pieces *Pieces
	last   rowRun // the rows that were added last, not written yet
	place  string
	row    [entryLen]byte
	spans  int64 // how many entries are written

	lines, keys, rows, places *bufio.Writer
	at, keysAt, placesAt      int64
}

func (db *DB) newSplitter() (*splitter, error) {
	info, err := os.Stat(filepath.Join(db.dir, copyName))
	if err != nil {
		return nil, err
	}
	if err := db.pieces.close(); err != nil {
		return nil, err
	}
	db.pieces = newPieces()
	s := &splitter{most: maxGrowth*info.Size() + MaxValue, hash: sha256.New(), pieces: db.pieces}
	for _, f := range []struct {
		name string
		file **os.File
		out  **bufio.Writer
	}{
		{"lines", &s.pieces.lines, &s.lines},
		{"keys", &s.pieces.keys, &s.keys},
		{"rows", &s.pieces.rows, &s.rows},
		{"places", &s.pieces.places, &s.places},
		{"index", &s.pieces.index, nil},
	} {
		if *f.file, err = os.OpenFile(filepath.Join(db.dir, f.name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
			return nil, err
		}
		if f.out != nil {
			*f.out = bufio.NewWriterSize(*f.file, 1<<18)
		}
	}
	return s, nil
}

// keyOf returns the key of a row.
func (p Part) keyOf(r Row) string {
	if p.KeyOf != nil && r.Damage == "" {
		return p.KeyOf(r)
	}
	switch v := r.Get(p.Key).(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return ""
}

// placeOf returns the place of a row in its piece.
func (p Part) placeOf(r Row) string {
	if p.Place == nil || r.Damage != "" {
		return ""
	}
	return p.Place(r)
}

func (s *splitter) add(key, place string, r Row) error {
	number, err := s.piece(key)
	if err != nil {
		return fmt.Errorf("table %s: %w", r.Table, err)
	}
	line := r.Line()
	n := int64(line.Len())
	if s.at+n > s.most {
		return fmt.Errorf("table %s: more than %d bytes of rows for its file", r.Table, s.most)
	}
	p := s.pieces.at(number)
	p.size += n
	s.hash.Reset()
	s.hash.Write(p.stamp[:])
	for piece := range line.All() {
		s.hash.Write(piece)
		if _, err := s.lines.Write(piece); err != nil {
			return err
		}
	}
	copy(p.stamp[:], s.hash.Sum(s.sum[:0]))
	s.at += n
	if s.last.n > 0 && s.last.piece == number && s.place == place {
		s.last.n += n
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.last, s.place = rowRun{piece: number, at: s.at - n, n: n}, place
	return nil
}

// piece returns the number of the piece with a key.
func (s *splitter) piece(key string) (uint32, error) {
	ps := s.pieces
	number, ok := ps.numbers[ps.hash(key)]
	if ok {
		return number, nil
	}
	if ps.n >= maxPieces {
		return 0, fmt.Errorf("there are rows of more than %d sessions, and no more are told apart: read copies of it, each with some of them deleted", maxPieces)
	}
	number = ps.add(key, storedPiece{keyAt: s.keysAt, keyLen: int64(len(key))})
	s.keysAt += int64(len(key))
	_, err := s.keys.WriteString(key)
	return number, err
}

// flush writes the last entry. Adjacent rows share an entry, unless sorting may
// separate them.
func (s *splitter) flush() error {
	if s.last.n == 0 {
		return nil
	}
	if s.place != "" {
		s.last.place, s.last.long = s.placesAt, int64(len(s.place))
		s.placesAt += s.last.long
		if _, err := s.places.WriteString(s.place); err != nil {
			return err
		}
	}
	s.pieces.at(s.last.piece).spans++
	s.spans++
	_, err := s.rows.Write(s.last.append(s.row[:0]))
	s.last = rowRun{}
	return err
}

// end writes what is left, and groups the entries by piece.
func (s *splitter) end(ctx context.Context) error {
	if err := s.flush(); err != nil {
		return err
	}
	for _, w := range []*bufio.Writer{s.lines, s.keys, s.rows, s.places} {
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return s.pieces.group(ctx, s.spans)
}
