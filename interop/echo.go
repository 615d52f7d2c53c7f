package interop

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/skein-dev/skein"
)

// echoes is the records of a source that were made from events that the session has,
// so they make no events. For each, it has 8 bytes of the SHA-256 of its bytes and,
// as a varint relative to the one before, the seq of the last event that the records
// up to it cover.
type echoes []byte

// maxEchoes is how long a list may be, in bytes.
const maxEchoes = 600 << 10

type recordHash [8]byte

func hashRecord(raw []byte) recordHash {
	sum := sha256.Sum256(raw)
	return recordHash(sum[:])
}

// each calls f with the entries of the list, in order.
func (t echoes) each(f func(recordHash, skein.Seq)) {
	var seq int64
	for len(t) > len(recordHash{}) {
		h := recordHash(t)
		d, n := binary.Varint(t[len(h):])
		if n <= 0 {
			return
		}
		seq += d
		t = t[len(h)+n:]
		f(h, skein.Seq(seq))
	}
}

// last returns the last event that some record covers.
func (t echoes) last() (last skein.Seq) {
	t.each(func(_ recordHash, s skein.Seq) { last = max(last, s) })
	return last
}

// only returns the list without the records that no longer exist: of several equal
// ones, only as many of the last as here says are left.
func (t echoes) only(here map[recordHash]int) echoes {
	count := map[recordHash]int{}
	t.each(func(h recordHash, _ skein.Seq) { count[h]++ })
	var b echoBuilder
	t.each(func(h recordHash, s skein.Seq) {
		if count[h] <= here[h] || h == noRecord && count[h] == 1 {
			b.add(h, s)
		}
		count[h]--
	})
	return b.list
}

// noRecord is the hash of an echo without a record: what was written was a removal.
var noRecord = recordHash{}

// upTo returns a list that covers the events up to last.
func (t echoes) upTo(last skein.Seq) echoes {
	if t.last() >= last {
		return t
	}
	b := echoBuilder{list: t}
	t.each(func(_ recordHash, s skein.Seq) { b.seq = s })
	b.add(noRecord, last)
	return b.list
}

// index returns, by the hash of a record, the events that its copies cover, in order.
func (t echoes) index() map[recordHash][]skein.Seq {
	if len(t) == 0 {
		return nil
	}
	m := map[recordHash][]skein.Seq{}
	t.each(func(h recordHash, s skein.Seq) { m[h] = append(m[h], s) })
	return m
}

// identity identifies a line in its source, whatever else it says: in a folder, by the
// file and the position in it; in a database, by the table and how many of its rows
// came before; otherwise by how many lines did.
func identity(line []byte, count map[string]int) string {
	var in struct {
		File, Folder, Table string
		Line                *int
		Schema              *struct{ Name string }
	}
	_ = json.Unmarshal(line, &in) // anything else is an ordinary line
	switch {
	case in.File != "" && in.Line != nil:
		return fmt.Sprintf("file %s %d", in.File, *in.Line)
	case in.File != "":
		return "file " + in.File
	case in.Folder != "":
		return "folder " + in.Folder
	case in.Schema != nil:
		return "schema " + in.Schema.Name
	}
	count[in.Table]++
	return fmt.Sprintf("row %s %d", in.Table, count[in.Table])
}

// echoBuilder appends to a list without searching for its end each time.
type echoBuilder struct {
	list echoes
	seq  skein.Seq
}

func (b *echoBuilder) add(h recordHash, seq skein.Seq) {
	if len(b.list) > maxEchoes {
		return
	}
	b.list = binary.AppendVarint(append(b.list, h[:]...), int64(seq-b.seq))
	b.seq = seq
}
