package interop

import (
	"context"
	"fmt"
	"hash/maphash"

	"github.com/skein-dev/skein"
)

// begin plans how to read a file: what was stored of it is given to the reader
// once more, and checked by its sum, before what is new. It returns w.
func (w *work) begin() *work {
	w.state = decodeState(w.known.State)
	w.stream = newStream(w.format, w.file())
	w.old, w.verify = w.state.Records, w.state.Records
	return w
}

// rewritten plans how to read a file whose beginning has changed: what it has
// in common with what was stored stays, what came after that is stored anew,
// and the keys are noted that are not in it any more, or make fewer events. These
// were removed if the file was read whole; what cannot be read was not.
//
// Errors are the store's, or those of reading the file.
func rewritten(ctx context.Context, s skein.Store, w *work) (*work, error) {
	next := &work{format: w.format, now: w.now, known: w.known, patient: w.patient, forget: true, unit: w.unit, name: w.name}
	next.state = state{Rewriting: true, Withdrew: w.state.Withdrew, Sessions: w.state.Sessions, Apart: w.state.Apart, Told: w.state.Told, Seq: w.state.Seq, Intent: w.state.Intent, Yields: w.state.Yields}
	seed := maphash.MakeSeed()
	type stored struct {
		raw    uint64
		all    uint64         // of all but its place
		key    skein.ClientID // "" if it made no events of its own
		events int
	}
	var was []stored
	bad := map[uint64]bool{} // the damaged ones among them
	for r, err := range skein.SourcesOf(s).Records(ctx, w.format.Name, w.known.Path, 0) {
		if err != nil {
			return nil, err
		}
		st := stored{raw: maphash.Bytes(seed, r.Raw), all: hashAll(seed, r)}
		if r.Events > 0 && !r.Copy {
			st.key, st.events = r.Key, r.Events
		}
		if r.Damage != "" {
			bad[st.raw] = true
		}
		was = append(was, st)
	}
	if w.unit != nil {
		next.forget, next.seed, next.state.Tail = false, seed, len(was)
		for _, st := range was {
			next.was = append(next.was, st.all)
		}
	}
	next.stream = newStream(w.format, next.file())
	claims, here, same := newClaimer(), map[goneHash]int{}, true
	err := next.read(ctx, func(r read) error {
		if same = same && r.rec.N < len(was) && maphash.Bytes(seed, r.rec.Raw) == was[r.rec.N].raw; same {
			next.old = r.rec.N + 1
		}
		if r.rec.Damage != "" && !r.torn && (w.state.Unread || !bad[maphash.Bytes(seed, r.rec.Raw)]) {
			next.state.Unread = true
		}
		if n := len(r.made.Items); n > 0 {
			key, _ := claims.claim(r)
			here[hashKey(key)] = n
		}
		return nil
	})
	next.state.Unread = next.state.Unread || w.unit != nil && len(w.unit.unit.Skips()) > 0
	for _, was := range []gone{w.state.Gone, w.state.Fewer} { // of a reading that was stopped
		for key, n := range was.counts() {
			next.state.miss(key, here[key], n)
		}
	}
	for _, st := range was[next.old:] {
		if st.key != "" {
			key := hashKey(st.key)
			next.state.miss(key, here[key], st.events)
		}
	}
	next.stream = newStream(w.format, next.file())
	return next, err
}

// hashAll returns a hash of all that is stored of a record, but for its place.
func hashAll(seed maphash.Seed, r skein.Record) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.Write(r.Raw)
	fmt.Fprintf(&h, "\x00%s\x00%d\x00%t\x00%s", r.Key, r.Events, r.Copy, r.Damage)
	return h.Sum64()
}
