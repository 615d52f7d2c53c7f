package interop

import (
	"fmt"
	"hash/maphash"

	"github.com/skein-dev/skein"
)

// settle says what is to be appended so that the session has e: e, or, where
// something else stands under its client ID, what amends that, or nothing. seq
// is where it stands already; 0 if it does not.
func (t *target) settle(th *thread, e skein.Event) (add []skein.Event, seq skein.Seq) {
	st := th.stands[e.ClientID]
	content := maphash.Bytes(t.seed, e.Payload)
	switch {
	case st == nil:
		return []skein.Event{e}, 0
	case st.kind == e.Kind && (structural(e.Kind) || st.content == content && !st.withdrawn):
		return nil, st.seq
	case st.kind == e.Kind && sets(e) && st.seq > th.base:
		e.ClientID += skein.ClientID("~" + shortHash(fmt.Sprint(st.amends)+string(e.Payload)))
		st.content, st.withdrawn = content, false
		st.amends++
		return []skein.Event{e}, 0
	case st.kind == e.Kind && st.seq > th.base:
		st.content, st.withdrawn = content, false
		return []skein.Event{amendment(e, st, skein.Amended{Seq: st.seq, Payload: e.Payload})}, st.seq
	}
	if !st.withdrawn && !structural(st.kind) && st.seq > th.base {
		st.withdrawn = true
		add = append(add, amendment(e, st, skein.Amended{Seq: st.seq, Withdrawn: true}))
	}
	e.ClientID += skein.ClientID("~" + shortHash(string(e.Payload)))
	if st := th.stands[e.ClientID]; st != nil {
		return add, st.seq
	}
	return append(add, e), 0
}

// sets reports whether an event sets what the session is or has used, so that
// the newest holds: where the record has changed it is set anew, for amending
// an old one would change nothing. Of a step with a request only what is more
// than before is counted.
func sets(e skein.Event) bool {
	if e.Kind == skein.KindStep {
		s, err := skein.Decode[skein.Step](e)
		return err == nil && s.Request != ""
	}
	return e.Kind == skein.KindTitled || e.Kind == skein.KindChanged
}

// amendment returns the event that amends st, with a client ID that this
// amendment alone has.
func amendment(e skein.Event, st *stand, a skein.Amended) skein.Event {
	out := skein.NewEvent(skein.KindAmended, e.Time, a)
	out.ClientID = skein.ClientID(fmt.Sprintf("amended/%d/%d", a.Seq, st.amends))
	st.amends++
	return out
}
