package records

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
)

// Echoes is the records of a source that were made from events that the session has,
// so they make no events. For each, it has 8 bytes of the SHA-256 of its bytes and,
// as a varint relative to the one before, the seq of the last event that the records
// up to it cover.
type Echoes []byte

// maxEchoes is how long a list may be, in bytes.
const maxEchoes = 600 << 10

// A RecordHash is the first 8 bytes of the SHA-256 of a record.
type RecordHash [8]byte

// HashRecord returns the hash of a record's bytes.
func HashRecord(raw []byte) RecordHash {
	sum := sha256.Sum256(raw)
	return RecordHash(sum[:])
}

// HashRope returns the hash of a record's bytes.
func HashRope(raw lines.Rope) RecordHash {
	h := sha256.New()
	hashText(h, raw)
	return RecordHash(h.Sum(nil))
}

// Each calls f with the entries of the list, in order.
func (t Echoes) Each(f func(RecordHash, skein.Seq)) {
	var seq int64
	for len(t) > len(RecordHash{}) {
		h := RecordHash(t)
		d, n := binary.Varint(t[len(h):])
		if n <= 0 {
			return
		}
		seq += d
		t = t[len(h)+n:]
		f(h, skein.Seq(seq))
	}
}

// Last returns the last event that some record covers.
func (t Echoes) Last() (last skein.Seq) {
	t.Each(func(_ RecordHash, s skein.Seq) { last = max(last, s) })
	return last
}

// only returns the list without the records that no longer exist: of several equal
// ones, only as many of the last as here says are left.
func (t Echoes) only(here map[RecordHash]int) Echoes {
	count := map[RecordHash]int{}
	t.Each(func(h RecordHash, _ skein.Seq) { count[h]++ })
	var b EchoBuilder
	t.Each(func(h RecordHash, s skein.Seq) {
		if count[h] <= here[h] || h == noRecord && count[h] == 1 {
			b.Add(h, s)
		}
		count[h]--
	})
	return b.List
}

// noRecord is the hash of an echo without a record: what was written was a removal.
var noRecord = RecordHash{}

// UpTo returns a list that covers the events up to last.
func (t Echoes) UpTo(last skein.Seq) Echoes {
	if t.Last() >= last {
		return t
	}
	b := t.Builder()
	b.Add(noRecord, last)
	return b.List
}

// Index returns, by the hash of a record, the events that its copies cover, in order.
func (t Echoes) Index() map[RecordHash][]skein.Seq {
	if len(t) == 0 {
		return nil
	}
	m := map[RecordHash][]skein.Seq{}
	t.Each(func(h RecordHash, s skein.Seq) { m[h] = append(m[h], s) })
	return m
}

// Identity identifies a line in its source, whatever else it says: in a folder, by the
// file and the position in it; in a database, by the table and how many of its rows
// came before; otherwise by how many lines did.
func Identity(line []byte, count map[string]int) string {
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

// Builder returns a builder of a longer list.
func (t Echoes) Builder() EchoBuilder {
	b := EchoBuilder{List: slices.Clip(t)}
	t.Each(func(_ RecordHash, s skein.Seq) { b.seq = s })
	return b
}

// EchoBuilder appends to a list without searching for its end each time.
type EchoBuilder struct {
	List Echoes
	seq  skein.Seq
}

// Add adds a record that covers the events up to seq, unless the list is too long.
func (b *EchoBuilder) Add(h RecordHash, seq skein.Seq) {
	if len(b.List) > maxEchoes {
		return
	}
	b.List = binary.AppendVarint(append(b.List, h[:]...), int64(seq-b.seq))
	b.seq = seq
}
