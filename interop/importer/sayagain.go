package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/reconcile"
	"github.com/skein-dev/skein/store/lenient"
)

// sayAgain lets a fork show a change of a message that it has from its parent, whose
// events it cannot amend: it goes back to before the message, says it as it is now, and
// says again what came after it. It does nothing if the fork does not show the message,
// or shows it so already.
func (t *Target) sayAgain(ctx context.Context, th *fileSession, change skein.Event) error {
	a, err := skein.Decode[skein.Amended](change)
	if err != nil || a.Seq == 0 || th.base == 0 {
		return nil //nolint:nilerr // it concerns no message
	}
	if err := t.flush(ctx); err != nil {
		return err
	}
	var all []skein.Event
	for e, err := range t.store.Events(ctx, th.id, 0) {
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	all, err = skein.Unrewound(all)
	if err != nil {
		return err
	}
	now := map[skein.Seq]json.RawMessage{} // of amended events; nil if withdrawn
	for _, e := range all {
		if was, err := skein.Decode[skein.Amended](e); e.Kind == skein.KindAmended && err == nil {
			now[was.Seq] = was.Payload
		}
	}
	at := slices.IndexFunc(all, func(e skein.Event) bool { return e.Seq == a.Seq })
	if at < 0 || all[at].Kind != skein.KindSaid {
		return nil
	}
	if is, amended := now[a.Seq]; bytes.Equal(is, a.Payload) && amended || !amended && bytes.Equal(all[at].Payload, a.Payload) {
		return nil
	}
	now[a.Seq] = a.Payload
	back := skein.NewEvent(skein.KindRewound, change.Time, skein.Rewound{To: a.Seq - 1})
	back.ClientID = change.ClientID
	th.events = append(th.events, waiting{back, -1, nowhere})
	for _, e := range all[at:] {
		if e.Kind != skein.KindSaid && e.Kind != skein.KindTool {
			continue
		}
		if is, amended := now[e.Seq]; amended {
			if len(is) == 0 { // it is withdrawn
				continue
			}
			e.Payload = is
		}
		index := slices.Index(th.seqs, e.Seq)
		if index >= 0 {
			th.seqs[index] = 0
		}
		e.ClientID = reconcile.Again(e.ClientID, change.ClientID)
		th.events = append(th.events, waiting{e, index, nowhere})
	}
	if err := t.flush(ctx); err != nil {
		return err
	}
	t.Job.State.Withdrew = true // what comes next is compared with what was said again
	return th.load(ctx, t.store)
}

// showAsRead lets a session show what its source says, after that was read whole and
// differs from what was read before: a rewind that is new, or is gone, takes back more
// or less in the session's order than in the source's. The session then goes back to the
// last message that both agree on, and says again what the source shows after it. What
// somebody else took back stays so. gone reports whether an event was made by a record
// that is no longer there.
func (t *Target) showAsRead(ctx context.Context, th *fileSession, gone func(skein.ClientID) bool) error {
	if !th.begun || th.dead {
		return nil
	}
	if err := t.flush(ctx); err != nil {
		return err
	}
	if err := th.load(ctx, t.store); err != nil {
		return err
	}
	said := newSaid(th, gone)
	for e, err := range lenient.Store(t.store, nil).Events(ctx, th.id, 0) {
		if err != nil {
			return err
		}
		if err := said.add(e); err != nil {
			return err
		}
	}
	want, have, err := said.shown()
	if err != nil || said.foreign || len(said.rewinds)+len(th.backs) == 0 || same(want, have) {
		return err
	}
	n := 0
	for n < min(len(want), len(have)) && want[n] == have[n] {
		n++
	}
	back := skein.NewEvent(skein.KindRewound, said.last.Time, skein.Rewound{To: said.last.Seq})
	if n < len(have) {
		back.Payload = skein.MustJSON(skein.Rewound{To: have[n] - 1})
	}
	back.ClientID = reconcile.ShownID(said.last.Seq)
	th.events = append(th.events, waiting{back, -1, nowhere})
	for _, seq := range want[n:] {
		e := said.events[seq]
		e.ClientID = reconcile.Again(e.ClientID, back.ClientID)
		th.events = append(th.events, waiting{e, slices.Index(th.seqs, seq), nowhere})
	}
	return t.flush(ctx)
}

// same reports whether two lists have the same seqs, in whatever order.
func same(a, b []skein.Seq) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// saidOf is what a session has of a source, to be compared with what the source shows.
type saidOf struct {
	th      *fileSession
	ids     map[skein.ClientID]bool // of the source's events, and the keys of its records
	gone    func(skein.ClientID) bool
	events  map[skein.Seq]skein.Event // messages and tool states, as amended; not those withdrawn
	rewinds []skein.Event
	foreign bool        // somebody else took something back since the source was last shown as it is
	last    skein.Event // of the session
}

func newSaid(th *fileSession, gone func(skein.ClientID) bool) *saidOf {
	s := &saidOf{th: th, gone: gone, ids: map[skein.ClientID]bool{}, events: map[skein.Seq]skein.Event{}}
	for _, id := range th.keys {
		s.ids[id] = true
		if key, _, part := reconcile.PartOf(id); part {
			s.ids[key] = true
		}
	}
	return s
}

func (s *saidOf) add(e skein.Event) error {
	s.last = e
	switch e.Kind {
	case skein.KindRewound:
		s.rewinds = append(s.rewinds, e)
		s.foreign = !reconcile.IsShown(e.ClientID) && (s.foreign || !s.made(reconcile.WithoutMark(e.ClientID)))
	case skein.KindSaid, skein.KindTool:
		s.events[e.Seq] = e
	case skein.KindAmended:
		a, err := skein.Decode[skein.Amended](e)
		was, ok := s.events[a.Seq]
		if err != nil || !ok {
			return err
		}
		if delete(s.events, a.Seq); !a.Withdrawn {
			was.Payload = a.Payload
			s.events[a.Seq] = was
		}
	}
	return nil
}

// made reports whether the source makes an event with this client ID, or made it.
func (s *saidOf) made(id skein.ClientID) bool {
	key, _, part := reconcile.PartOf(id)
	return s.ids[id] || part && s.ids[key] || s.gone(id)
}

// shown returns the messages and tool states that the source shows, in its order, and
// those of the source that the session shows.
func (s *saidOf) shown() (want, have []skein.Seq, err error) {
	var backs []skein.Event
	for _, r := range s.th.backs {
		e := skein.NewEvent(skein.KindRewound, 0, skein.Rewound{To: skein.Seq(r.to)})
		e.Seq = skein.Seq(r.at)
		backs = append(backs, e)
	}
	spans, err := skein.OnLine(backs, skein.Seq(len(s.th.keys)))
	if err != nil {
		return nil, nil, err
	}
	now, err := skein.OnLine(s.rewinds, s.last.Seq)
	if err != nil {
		return nil, nil, err
	}
	wanted := map[skein.Seq]bool{}
	for i, id := range s.th.keys {
		seq := s.th.seqs[i]
		if seq == 0 {
			seq = s.th.stored.Seq(id)
		}
		if _, said := s.events[seq]; !said {
			continue
		}
		if reconcile.OnLine(spans, skein.Seq(i+1)) && !wanted[seq] { // several records can be one event
			want, wanted[seq] = append(want, seq), true
		}
		if reconcile.OnLine(now, seq) {
			have = append(have, seq)
		}
	}
	slices.Sort(have)
	return want, slices.Compact(have), nil
}
