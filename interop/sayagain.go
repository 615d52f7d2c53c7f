package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/reconcile"
)

// sayAgain lets a fork show a change of a message that it has from its parent, whose
// events it cannot amend: it goes back to before the message, says it as it is now, and
// says again what came after it. It does nothing if the fork does not show the message,
// or shows it so already.
func (t *target) sayAgain(ctx context.Context, th *fileSession, change skein.Event) error {
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
	t.w.state.Withdrew = true // what comes next is compared with what was said again
	return th.load(ctx, t.store)
}
