package interop

import (
	"fmt"
	"hash/maphash"
	"strings"

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
	case st.damaged:
		return nil, st.seq
	case st.kind == e.Kind && e.Kind == skein.KindAmended:
		return t.again(th, e, st.content), st.seq
	case st.kind == e.Kind && (structural(e.Kind) || st.content == content && !st.withdrawn || st.given == content && !st.gone):
		return nil, st.seq
	case st.kind == e.Kind && sets(e) && st.seq > th.base:
		e.ClientID += skein.ClientID("~" + shortHash(fmt.Sprint(st.amends)+string(e.Payload)))
		st.content, st.withdrawn = content, false
		st.settled()
		st.amends++
		return []skein.Event{e}, 0
	case st.kind == e.Kind && st.seq > th.base:
		st.content, st.withdrawn, st.anew = content, false, true
		st.settled()
		return []skein.Event{amendment(e, st, skein.Amended{Seq: st.seq, Payload: e.Payload})}, st.seq
	}
	if !st.withdrawn && !structural(st.kind) && st.seq > th.base {
		st.withdrawn, st.gone = true, true
		add = append(add, amendment(e, st, skein.Amended{Seq: st.seq, Withdrawn: true}))
	}
	e.ClientID += skein.ClientID("~" + shortHash(string(e.Payload)))
	if st := th.stands[e.ClientID]; st != nil {
		return add, st.seq
	}
	return append(add, e), 0
}

// again makes an amendment that the session has already once more, if what it
// amends was amended in this reading by a record before it, or if it says
// something else now, or of an event that has come anew.
func (t *target) again(th *thread, e skein.Event, was uint64) []skein.Event {
	a, err := skein.Decode[skein.Amended](e)
	if err != nil || a.Seq == 0 {
		return nil
	}
	st := th.bySeq[a.Seq]
	if st == nil || !st.anew {
		if maphash.Bytes(t.seed, e.Payload) == was {
			return nil
		}
		e.ClientID += skein.ClientID("~" + shortHash(string(e.Payload)))
		if th.stands[e.ClientID] != nil {
			return nil
		}
		if st != nil {
			st.anew = true
			st.amend(a, t.seed)
		}
		return []skein.Event{e}
	}
	out := amendment(e, st, a)
	out.ClientID += againMark
	st.amend(a, t.seed)
	return []skein.Event{out}
}

// againMark stands behind the client ID of an amendment that is made again.
const againMark = "/again"

// isRecords reports whether an amendment with this client ID says what the
// amended event's own record gives.
func isRecords(id skein.ClientID) bool {
	return strings.HasPrefix(string(id), "amended/") && !strings.HasSuffix(string(id), againMark)
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
