package reconcile

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// A Session is what is stored of a source's session, by client ID, to be compared
// with what the source says now. A nil *Session has nothing stored.
type Session struct {
	seed    maphash.Seed
	base    skein.Seq // the events up to here are its parent's
	byID    map[skein.ClientID]*stored
	bySeq   map[skein.Seq]*stored
	damaged map[skein.Seq]skein.Kind // events that cannot be read, and their kinds if known
	again   bool                     // while events are added that are said again, see ShownID
}

// A stored is the event that is stored under a client ID.
type stored struct {
	seq       skein.Seq
	kind      skein.Kind
	content   uint64 // hash of the payload, as amended
	withdrawn bool
	amends    int // how often it was amended

	// What its record gave, before the amendments by other records of the source and by
	// other writers: content and withdrawn include those.
	given   uint64
	removed bool // the record was removed

	renewed   bool // it was amended in this reading: amendments by later records must be repeated
	damaged   bool // its content is not known; it stays as it is
	takenBack bool // see TakeBack
}

// NewSession returns a Session without events. Those up to base will be its
// parent's, which are never amended.
func NewSession(base skein.Seq) *Session {
	return &Session{
		seed: maphash.MakeSeed(), base: base, damaged: map[skein.Seq]skein.Kind{},
		byID: map[skein.ClientID]*stored{}, bySeq: map[skein.Seq]*stored{},
	}
}

// Add adds a stored event. Events come in the order of their seqs.
func (s *Session) Add(e skein.Event) {
	if e.Kind == skein.KindAmended {
		if a, err := skein.Decode[skein.Amended](e); err == nil && s.bySeq[a.Seq] != nil {
			st := s.bySeq[a.Seq]
			s.amend(st, a)
			if ByRecord(e.ClientID) {
				st.keep()
			}
		}
	}
	if e.ClientID == "" || e.IsPlaceholder() {
		return
	}
	st := &stored{seq: e.Seq, kind: e.Kind, content: s.hash(e)}
	st.keep()
	s.byID[e.ClientID], s.bySeq[e.Seq] = st, st
	if s.saidAgain(e) {
		return
	}
	if of := s.byID[WithoutMark(e.ClientID)]; of != st && of != nil && of.kind == e.Kind && (sets(e) || of.seq <= s.base && e.Seq > s.base) { // it stands for what is inherited
		of.seq, of.content, of.withdrawn = e.Seq, st.content, false
		of.keep()
		of.amends++
		s.bySeq[e.Seq] = of
	}
}

// saidAgain lets an event that is said again, see [ShownID], stand for the first one.
func (s *Session) saidAgain(e skein.Event) bool {
	of := s.byID[WithoutMark(e.ClientID)]
	if s.again = IsShown(e.ClientID) || s.again && of != nil && of.seq < e.Seq && of.kind == e.Kind; !s.again || IsShown(e.ClientID) {
		return s.again
	}
	of.seq, s.bySeq[e.Seq] = e.Seq, of
	return true
}

// AddDamaged notes an event that cannot be read: its client ID is not known yet.
func (s *Session) AddDamaged(seq skein.Seq, kind skein.Kind) { s.damaged[seq] = kind }

// Damaged reports whether some event cannot be read.
func (s *Session) Damaged() bool { return s != nil && len(s.damaged) > 0 }

// Locate says that the event at seq has this client ID: if the event is damaged, it is
// then known to be stored.
func (s *Session) Locate(id skein.ClientID, seq skein.Seq) {
	if kind, is := s.damaged[seq]; is && s.byID[id] == nil {
		s.byID[id] = &stored{seq: seq, kind: kind, damaged: true}
	}
}

// TakeBack notes that the session goes back to an event of its parent: what it shows
// after that is said anew if its source says it.
func (s *Session) TakeBack(to skein.Seq) {
	for _, st := range s.byID {
		st.takenBack = st.seq > to && st.seq <= s.base && Talks(st.kind)
	}
}

// Forget forgets the event with a client ID.
func (s *Session) Forget(id skein.ClientID) { delete(s.byID, id) }

// Seq returns the seq of the event with a client ID; 0 if there is no such event.
func (s *Session) Seq(id skein.ClientID) skein.Seq {
	if st := s.find(id); st != nil {
		return st.seq
	}
	return 0
}

// Like returns the seq of the first event that says the same as e, under any client
// ID; 0 if there is no such event.
func (s *Session) Like(e skein.Event) (at skein.Seq) {
	content := s.hash(e)
	for _, st := range s.byID {
		if st.kind == e.Kind && st.content == content && !st.withdrawn && (at == 0 || st.seq < at) {
			at = st.seq
		}
	}
	return at
}

// Inherits reports whether the session shows e of its parent, as a record gave
// it.
func (s *Session) Inherits(e skein.Event) bool {
	st := s.find(e.ClientID)
	return st != nil && st.seq <= s.base && st.kind == e.Kind && st.given == s.hash(e)
}

// Named returns the client ID under which the session has an event of this kind
// from the record with this key: id, or, if the record made a different number of
// events then, one that no other event of the record uses. If another event has
// taken id, it returns one that is free. It adds the returned ID to used.
func (s *Session) Named(key, id skein.ClientID, kind skein.Kind, used map[skein.ClientID]bool) skein.ClientID {
	for _, c := range append([]skein.ClientID{id}, Candidates(key)...) {
		if st := s.find(c); st != nil && st.kind == kind && !used[c] {
			used[c] = true
			return c
		}
	}
	if used[id] {
		id += skein.ClientID(Mark(string(id) + string(kind)))
	}
	used[id] = true
	return id
}

// A Diff is what is needed for a session to have an event that its source says
// now. The zero value is never returned.
type Diff struct {
	Withdraw []skein.Event // withdraws another kind of event of the same record
	Amend    []skein.Event // amends what is stored
	Append   []skein.Event // the event
	SameAs   skein.Seq     // where it is stored; 0 if Append will store it
}

// Diff compares an event, with its client ID, with what is stored. From then on the
// session counts as having the result.
func (s *Session) Diff(e skein.Event) Diff {
	st := s.find(e.ClientID)
	if st == nil {
		return Diff{Append: []skein.Event{e}}
	}
	content, own := s.hash(e), st.seq > s.base
	switch {
	case st.takenBack:
	case st.damaged:
		return Diff{SameAs: st.seq}
	case st.kind == e.Kind && e.Kind == skein.KindAmended:
		return Diff{Append: s.diffAmendment(e, st.content), SameAs: st.seq}
	case st.kind == e.Kind && (structural(e.Kind) || st.content == content && !st.withdrawn || st.given == content && !st.removed):
		return Diff{SameAs: st.seq}
	case st.kind == e.Kind && sets(e) && own:
		e.ClientID += skein.ClientID(Mark(fmt.Sprint(st.amends) + string(e.Payload)))
		st.content, st.withdrawn = content, false
		st.keep()
		st.amends++
		return Diff{Append: []skein.Event{e}}
	case st.kind == e.Kind && own:
		st.content, st.withdrawn, st.renewed = content, false, true
		st.keep()
		return Diff{Amend: []skein.Event{amendment(e, st, skein.Amended{Seq: st.seq, Payload: e.Payload})}, SameAs: st.seq}
	}
	var d Diff
	if s.withdrawable(st) {
		d.Withdraw = s.withdraw([]*stored{st}, e)
	}
	e.ClientID += skein.ClientID(Mark(string(e.Payload)))
	if d.SameAs = s.Seq(e.ClientID); d.SameAs == 0 {
		d.Append = []skein.Event{e}
	}
	return d
}

// diffAmendment repeats a stored amendment if an earlier record amended the same
// event in this reading, if it says something else now, or if its event was
// appended anew. was is the hash of what it said.
func (s *Session) diffAmendment(e skein.Event, was uint64) []skein.Event {
	a, err := skein.Decode[skein.Amended](e)
	if err != nil || a.Seq == 0 {
		return nil
	}
	st := s.bySeq[a.Seq]
	if st != nil && st.renewed {
		out := amendment(e, st, a)
		out.ClientID += repeatedMark
		s.amend(st, a)
		return []skein.Event{out}
	}
	if s.hash(e) == was {
		return nil
	}
	e.ClientID += skein.ClientID(Mark(string(e.Payload)))
	if s.find(e.ClientID) != nil {
		return nil
	}
	if st != nil {
		st.renewed = true
		s.amend(st, a)
	}
	return []skein.Event{e}
}

// WithdrawRemoved returns the withdrawals of the events of removed records.
func (s *Session) WithdrawRemoved(r RemovedKeys) []skein.Event {
	if s == nil {
		return nil
	}
	var lost []*stored
	counts := r.Counts()
	for id, st := range s.byID {
		if s.withdrawable(st) && made(counts, id) {
			lost = append(lost, st)
		}
	}
	return s.withdraw(lost, skein.Event{})
}

// WithdrawUnused returns the withdrawals for a record that made n events and makes
// fewer now: of those whose client ID is not in used.
func (s *Session) WithdrawUnused(key skein.ClientID, n int, used map[skein.ClientID]bool) []skein.Event {
	var lost []*stored
	for _, id := range ClientIDs(key, n) {
		if st := s.find(id); st != nil && !used[id] && !slices.Contains(lost, st) && s.withdrawable(st) {
			lost = append(lost, st)
		}
	}
	return s.withdraw(lost, skein.Event{})
}

// LastOf returns the last event of removed records; 0 if none is stored.
func (s *Session) LastOf(r RemovedKeys) (last skein.Seq) {
	counts := r.Counts()
	for id, st := range s.byID {
		if made(counts, id) {
			last = max(last, st.seq)
		}
	}
	return last
}

// withdraw returns the withdrawals of these events, in order, at the time of e.
func (s *Session) withdraw(lost []*stored, e skein.Event) (out []skein.Event) {
	slices.SortFunc(lost, func(a, b *stored) int { return cmp.Compare(a.seq, b.seq) })
	for _, st := range lost {
		st.withdrawn, st.removed = true, true
		out = append(out, amendment(e, st, skein.Amended{Seq: st.seq, Withdrawn: true}))
	}
	return out
}

func (s *Session) withdrawable(st *stored) bool {
	return !st.withdrawn && !st.damaged && st.seq > s.base && !structural(st.kind)
}

func (s *Session) find(id skein.ClientID) *stored {
	if s == nil {
		return nil
	}
	return s.byID[id]
}

func (s *Session) hash(e skein.Event) uint64 { return maphash.Bytes(s.seed, e.Payload) }

func (s *Session) amend(st *stored, a skein.Amended) {
	st.amends++
	if st.withdrawn = a.Withdrawn; !a.Withdrawn {
		st.content = maphash.Bytes(s.seed, a.Payload)
	}
}

// keep notes that the record gave what is stored now.
func (st *stored) keep() { st.given, st.removed = st.content, st.withdrawn }

// amendment returns the event that amends st, with a client ID that no other
// amendment has.
func amendment(e skein.Event, st *stored, a skein.Amended) skein.Event {
	out := skein.NewEvent(skein.KindAmended, e.Time, a)
	out.ClientID = skein.ClientID(fmt.Sprintf("%s%d/%d", amendedPrefix, a.Seq, st.amends))
	st.amends++
	return out
}

// ByRecord reports whether the amendment with this client ID reflects a change of the
// amended event's own record.
func ByRecord(id skein.ClientID) bool {
	return strings.HasPrefix(string(id), amendedPrefix) && !strings.HasSuffix(string(id), repeatedMark)
}

// structural events say how others relate; they are never amended.
func structural(k skein.Kind) bool {
	return k == skein.KindRewound || k == skein.KindCompacted || k == skein.KindCreated || k == skein.KindAmended
}

// sets reports whether an event sets a property or a total of the session, of
// which the newest counts: amending an old one would change nothing, so it is
// appended once more. For a step with a request, the difference is counted.
func sets(e skein.Event) bool {
	if e.Kind == skein.KindStep {
		s, err := skein.Decode[skein.Step](e)
		return err == nil && s.Request != ""
	}
	return e.Kind == skein.KindTitled || e.Kind == skein.KindChanged
}
