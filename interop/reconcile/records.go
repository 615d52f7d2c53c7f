package reconcile

import (
	"fmt"
	"hash/maphash"

	"github.com/skein-dev/skein"
)

// Records compares the current records of a source with those that are stored from
// it: first each stored one is added ([Records.Stored]), then each that the source
// has ([Records.Now]).
type Records struct {
	Prefix    int         // how many at the beginning are the same
	Removed   RemovedKeys // after Close: those that no longer exist
	Shrunk    RemovedKeys // after Close: those that make fewer events now
	Unread    bool        // what is removed or shrunk may be in the part that cannot be read
	WasUnread bool        // the previous comparison said so

	seed    maphash.Seed
	stored  []storedRecord
	damaged map[uint64]bool   // by hash: stored ones that could not be read either
	now     map[HashedKey]int // how many events each makes
	changed bool              // the prefix has ended
}

type storedRecord struct {
	raw    uint64
	all    uint64         // of everything but its position
	key    skein.ClientID // "" if it made no events of its own
	events int
}

// NewRecords returns a comparison without records.
func NewRecords() *Records {
	return &Records{seed: maphash.MakeSeed(), damaged: map[uint64]bool{}, now: map[HashedKey]int{}}
}

// Stored adds the next stored record.
func (d *Records) Stored(r skein.Record) {
	st := storedRecord{raw: maphash.Bytes(d.seed, r.Raw), all: d.hash(r)}
	if r.Events > 0 && !r.Copy {
		st.key, st.events = r.Key, r.Events
	}
	if r.Damage != "" {
		d.damaged[st.raw] = true
	}
	d.stored = append(d.stored, st)
}

// Len returns how many records are stored.
func (d *Records) Len() int { return len(d.stored) }

// Now adds the next record that the source has. A torn one, where the source ends in
// the middle of the record, comes without Damage.
func (d *Records) Now(r skein.Record) {
	raw := maphash.Bytes(d.seed, r.Raw)
	if d.changed = d.changed || r.N >= len(d.stored) || raw != d.stored[r.N].raw; !d.changed {
		d.Prefix = r.N + 1
	}
	if r.Damage != "" && (d.WasUnread || !d.damaged[raw]) {
		d.Unread = true
	}
	if r.Events > 0 {
		d.now[HashKey(r.Key)] = r.Events
	}
}

// Close computes Removed and Shrunk. earlier is the results of comparisons whose
// reading was stopped.
func (d *Records) Close(earlier ...RemovedKeys) {
	miss := func(key HashedKey, was int) {
		switch is := d.now[key]; {
		case is == 0:
			d.Removed.add(key, was)
		case is < was:
			d.Shrunk.add(key, was)
		}
	}
	for _, r := range earlier {
		for key, n := range r.Counts() {
			miss(key, n)
		}
	}
	for _, st := range d.stored[d.Prefix:] {
		if st.key != "" {
			miss(HashKey(st.key), st.events)
		}
	}
	d.now, d.damaged = nil, nil
}

// Has reports whether a record is stored at its position with the same content.
func (d *Records) Has(r skein.Record) bool {
	return d != nil && r.N < len(d.stored) && d.stored[r.N].all == d.hash(r)
}

// hash returns a hash of everything that is stored of a record but its position.
func (d *Records) hash(r skein.Record) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	h.Write(r.Raw)
	fmt.Fprintf(&h, "\x00%s\x00%d\x00%t\x00%s", r.Key, r.Events, r.Copy, r.Damage)
	return h.Sum64()
}
