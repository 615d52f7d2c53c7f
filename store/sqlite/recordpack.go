package sqlite

import (
	"fmt"

	"github.com/skein-dev/skein"
)

// How much of a file is in one block.
const (
	blockBytes = 256 << 10 // of the file; a longer record has its own block
	tailBytes  = 16 << 10  // as stored; a shorter last block is extended with what follows

	// tailRecords is the number of records from which a last block is not
	// extended: blank lines take hardly any bytes, and each extension packs the
	// stored records again.
	tailRecords = 1024
)

// A packedBlock is a run of consecutive records of a batch.
type packedBlock struct {
	records []rawRecord
	events  []int // numbers in the batch of the events that the pieces refer to
	form    byte
	body    []byte
}

// packRecords returns the records of a batch with these events, in blocks.
func (s *view) packRecords(im *skein.Import, events []packedEvent) (blocks []packedBlock, err error) {
	if len(im.Records) == 0 { // as with skein's own logs
		return nil, nil
	}
	for _, r := range im.Records {
		if r.N >= recordsPerFile {
			return nil, fmt.Errorf("%w import of %s: record %d: a file has at most %d", skein.ErrInvalid, im.File.Path, r.N, recordsPerFile)
		}
	}
	texts := refTable{}
	for i := range events {
		if events[i].Facts.Amended == nil {
			texts.add(i, events[i].quoted)
		}
	}
	for _, rs := range chunks(im.Records) {
		blocks = append(blocks, s.pack.newBlock(rs, texts))
	}
	return blocks, nil
}

// chunks divides records into runs of one block each.
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
	places := map[int]int{} // number in the batch → number in the block
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
