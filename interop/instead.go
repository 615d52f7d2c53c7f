package interop

import (
	"hash/maphash"

	"github.com/skein-dev/skein"
)

// instead takes an item of a record that stands in place of others which its
// program has removed. What these made is not withdrawn. It returns the event,
// which covers them if it is a compaction, and where the session has it already,
// if it is a message; 0 if it has not.
func (t *target) instead(th *thread, id skein.ClientID, e skein.Event) (skein.Event, skein.Seq) {
	if th.stands == nil || th.stands[id] != nil {
		return e, 0
	}
	t.spare(th)
	switch e.Kind {
	case skein.KindCompacted:
		if c, err := skein.Decode[skein.Compacted](e); err == nil {
			c.To = max(c.To, th.spared)
			e.Payload = skein.MustJSON(c)
		}
	case skein.KindSaid:
		return e, th.equal(e.Kind, maphash.Bytes(t.seed, e.Payload))
	}
	return e, 0
}

// spare notes the last event of the records that are gone, and keeps these from
// being withdrawn.
func (t *target) spare(th *thread) {
	if len(t.w.state.Gone)+len(t.w.state.Fewer) == 0 {
		return
	}
	counts := t.w.state.Gone.counts()
	for id, st := range th.stands {
		if made(counts, id) {
			th.spared = max(th.spared, st.seq)
		}
	}
	t.w.state.Gone, t.w.state.Fewer = nil, nil
}

// equal returns where an event with this kind and content stands, the first if
// there are several; 0 if there is none.
func (t *thread) equal(kind skein.Kind, content uint64) (at skein.Seq) {
	for _, st := range t.stands {
		if st.kind == kind && st.content == content && !st.withdrawn && (at == 0 || st.seq < at) {
			at = st.seq
		}
	}
	return at
}
