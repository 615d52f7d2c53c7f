package sqlite

import (
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/textindex"
)

// A packed is a batch as it will be written, with everything computed that does
// not need the database.
type packed struct {
	skein.Batch
	events []packedEvent
	blobs  []pack.Blob
	blocks []pack.PackedBlock
	late   bool // events after the first are packed when they are written
}

// lateFrom is the size of a batch's payloads, in bytes, from which its events
// are packed one by one as they are written, although others wait meanwhile: a
// packed batch takes several times its own size in memory.
const lateFrom = 32 << 20

// packsLate reports whether the events of b are packed when they are written: not if
// only one of them is long, because its payload is released once it is packed.
func packsLate(b *skein.Batch) bool {
	size, longest := 0, 0
	for i := range b.Events {
		n := len(b.Events[i].Payload)
		size, longest = size+n, max(longest, n)
	}
	return b.Import == nil && size-longest > lateFrom // records refer to the texts of all events
}

// release drops the payload of a long event that is packed: [packed.restore] returns
// it.
func (p *packed) release(i int) {
	if !p.late && len(p.events[i].Payload) >= columns.LargeFrom {
		p.events[i].Payload, p.Events[i].Payload = nil, nil
	}
}

// restore makes the payload of an event again if it was released: a group commit may
// write its batches more than once.
func (p *packed) restore(i int, k *pack.Packer) (err error) {
	if e := &p.events[i]; e.Payload == nil {
		e.Payload, err = k.Unpack(e.payload, e.now.Text)
	}
	return err
}

// A packedEvent is an event with the values of its row.
type packedEvent struct {
	ledger.Event
	id      int64        // events.id, once it is stored; 0 if its text cannot be referred to
	now     *skein.Facts // what the row says, see [ledger.Now]; for an amendment, known only when it is written
	text    any          // string, or nil if there is none
	extra   any
	items   any // string, or nil
	payload []byte
	quoted  *pack.Quotes //  of the text, until the records of the batch are packed
}

func (s *view) packBatch(b skein.Batch) (p packed, err error) {
	p.Batch = b
	if err := ledger.Check(&b); err != nil {
		return p, err
	}
	p.Events = slices.Clone(b.Events)
	p.late = packsLate(&b)
	p.events = make([]packedEvent, len(b.Events))
	for i, e := range b.Events {
		if p.late && i > 0 {
			p.events[i] = packedEvent{Event: ledger.Unread(e)}
			continue
		}
		if err = s.packEvent(&p.events[i], e); err != nil {
			return p, err
		}
		if b.Import == nil {
			p.events[i].quoted = nil
		}
	}
	for _, blob := range b.Blobs {
		pb, err := s.pack.Blob(blob)
		if err != nil {
			return p, err
		}
		p.blobs = append(p.blobs, pb)
	}
	if b.Import != nil {
		p.blocks, err = s.packRecords(&p)
		for i := range p.events {
			p.events[i].quoted = nil
		}
	}
	return p, err
}

func (s *view) packEvent(p *packedEvent, e skein.Event) (err error) {
	if p.Event, err = ledger.View(s.user).Read(e); err == nil && p.Facts.Amended == nil {
		s.packText(p, &p.Facts)
	}
	return err
}

// packText sets the row's values from the facts of the event or, if it amends
// another, from the facts that are now live in that one's place.
func (s *view) packText(p *packedEvent, f *skein.Facts) {
	p.now = f
	if f.Text != "" {
		p.text, p.extra = f.Text, textindex.Extra(f)
	}
	p.items = itemsOf(f.Message, f)
	p.quoted = pack.Quote(f.Text, f.Spans)
	p.payload = s.pack.Pack(p.Payload, p.quoted)
}

// packRecords returns the records of a batch whose events and blobs are packed, in blocks.
func (s *view) packRecords(p *packed) ([]pack.PackedBlock, error) {
	im := p.Import
	if len(im.Records) == 0 { // as with skein's own logs
		return nil, nil
	}
	for _, r := range im.Records {
		if r.N >= columns.RecordsPerFile {
			return nil, fmt.Errorf("%w import of %s: record %d: a file has at most %d", skein.ErrInvalid, im.File.Path, r.N, columns.RecordsPerFile)
		}
	}
	texts := &pack.Texts{}
	for i := range p.events {
		e := &p.events[i]
		if e.Facts.Amended != nil {
			continue
		}
		texts.Add(i, e.quoted)
		for _, h := range e.Facts.Blobs {
			if n := slices.IndexFunc(p.Blobs, func(b skein.Blob) bool { return b.Hash == h }); n >= 0 {
				texts.AddFile(i, p.blobs[n].Hash, p.Blobs[n].Data)
			}
		}
	}
	return s.pack.Blocks(im.Records, texts), nil
}
