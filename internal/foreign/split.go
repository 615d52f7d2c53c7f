package foreign

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// A Part is a table that is split, and how.
type Part struct {
	Table string
	Key   string           // column that says whose a row is; "" for a table that is nobody's
	KeyOf func(Row) string // says it in place of Key, where one column does not; nil for Key
	Order string           // column that rows are in the order of, before the rowid; "" for the rowid alone

	// Place says where in its piece a row stands: those are sorted by it,
	// and where it is equal stay as they are. nil is "" for all.
	Place func(Row) string

	// Empty says that its rows are left where they are: only that there is
	// such a table is told, by the frame.
	Empty bool
}

// A Piece is the rows of one key.
type Piece struct {
	Key   string // "" for the rows that are nobody's
	Size  int64  // bytes of the lines
	Stamp string // hash of the lines

	spans  []span
	places []string // of spans, if they are to be sorted
	sum    hash.Hash
}

// A span is a run of bytes in the spool.
type span struct{ at, n int64 }

// Split reads tables and returns their rows by key, each piece's in the order
// of parts and in each of these in the table's; pieces come in the order in
// which their keys were met. Tables that are not there are left out. Each table is
// read once, from its beginning; its indexes, which may be damaged, are not
// used.
//
// Errors are ctx's, those of writing the lines to a temporary file, of a column
// that the table has not, of many times more rows than the file has room for, and
// of more than fits into maxHeld to tell which row is whose: some 98,000 keys, or
// rows whose keys take turns six million times.
func (db *DB) Split(ctx context.Context, parts ...Part) (_ []Piece, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(db.ctx, stop)()
	if db.spool, err = os.OpenFile(filepath.Join(db.dir, "lines"), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return nil, err
	}
	info, err := os.Stat(filepath.Join(db.dir, copyName))
	if err != nil {
		return nil, err
	}
	s := splitter{most: maxGrowth*info.Size() + MaxValue, out: bufio.NewWriterSize(db.spool, 1<<20), index: map[string]int{}}
	for _, p := range parts {
		t, ok := db.Table(p.Table)
		if !ok || p.Empty {
			continue
		}
		s.sorted = s.sorted || p.Place != nil
		if p.Key != "" && !t.Has(p.Key) {
			return nil, fmt.Errorf("table %s has no column %s", p.Table, p.Key)
		}
		if err := db.Rows(ctx, p.Table, p.Order, func(r Row) error { return s.add(p.keyOf(r), p.placeOf(r), r) }); err != nil {
			return nil, err
		}
	}
	if err := s.out.Flush(); err != nil {
		return nil, err
	}
	for i := range s.pieces {
		s.pieces[i].sort()
		s.pieces[i].Stamp = hex.EncodeToString(s.pieces[i].sum.Sum(nil)[:16])
	}
	return s.pieces, nil
}

// maxGrowth is how many times as long as its database all lines may be; rows
// that share pages, as none do that SQLite wrote, would have no end.
const maxGrowth = 64

// maxHeld is how many bytes the pieces may take in memory: each some heldBy of
// them, with what is made of it later, and its spans.
const (
	maxHeld = 96 << 20
	heldBy  = 1 << 10
	spanLen = 16
)

type splitter struct {
	most   int64
	held   int
	sorted bool // some row from now on may have a place
	out    *bufio.Writer
	at     int64
	line   []byte
	index  map[string]int
	pieces []Piece
}

// keyOf returns whose a row is.
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

// placeOf returns where in its piece a row stands.
func (p Part) placeOf(r Row) string {
	if p.Place == nil || r.Damage != "" {
		return ""
	}
	return p.Place(r)
}

// sort puts the rows of a piece where they stand.
func (p *Piece) sort() {
	if slices.IsSorted(p.places) {
		p.places = nil
		return
	}
	order := make([]int, len(p.spans))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.places[a], p.places[b]) })
	spans := make([]span, len(order))
	for i, at := range order {
		spans[i] = p.spans[at]
	}
	p.spans, p.places = spans, nil
}

func (s *splitter) add(key, place string, r Row) error {
	i, ok := s.index[key]
	if !ok {
		i = len(s.pieces)
		s.index[key] = i
		s.pieces = append(s.pieces, Piece{Key: key, sum: sha256.New()})
		s.held += heldBy + len(key)
	}
	p := &s.pieces[i]
	s.line = r.AppendLine(s.line[:0])
	n := int64(len(s.line))
	if s.at+n > s.most {
		return fmt.Errorf("table %s: more than %d bytes of rows for its file", r.Table, s.most)
	}
	spans := len(p.spans)
	p.span(span{s.at, n}, place, s.sorted)
	s.held += (len(p.spans) - spans) * spanLen
	if len(p.places) > 0 && len(p.spans) > spans {
		s.held += spanLen + len(place)
	}
	if s.held > maxHeld {
		return fmt.Errorf("table %s: there are rows of too many sessions (%d up to here), or rows too mixed, to be told apart in %d MB of memory", r.Table, len(s.pieces), maxHeld>>20)
	}
	p.Size += n
	s.at += n
	p.sum.Write(s.line)
	_, err := s.out.Write(s.line)
	return err
}

// span adds the bytes of a row. Rows that follow each other are one span, unless
// they may stand apart in the end.
func (p *Piece) span(sp span, place string, sorted bool) {
	for sorted && len(p.places) < len(p.spans) {
		p.places = append(p.places, "")
	}
	last := len(p.spans) - 1
	if last >= 0 && p.spans[last].at+p.spans[last].n == sp.at && (!sorted || p.places[last] == place) {
		p.spans[last].n += sp.n
		return
	}
	p.spans = append(p.spans, sp)
	if sorted {
		p.places = append(p.places, place)
	}
}

// Lines returns the lines of a piece that Split returned last. It can be read
// until the DB is closed.
func (db *DB) Lines(p Piece) io.Reader {
	spans := slices.Clone(p.spans)
	return &spanReader{from: db.spool, spans: spans}
}

type spanReader struct {
	from  io.ReaderAt
	spans []span
}

// Read implements [io.Reader]; errors are those of the temporary file.
func (s *spanReader) Read(b []byte) (int, error) {
	for len(s.spans) > 0 && s.spans[0].n == 0 {
		s.spans = s.spans[1:]
	}
	if len(s.spans) == 0 {
		return 0, io.EOF
	}
	sp := &s.spans[0]
	n, err := s.from.ReadAt(b[:min(int64(len(b)), sp.n)], sp.at)
	sp.at += int64(n)
	sp.n -= int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}
