package agent

import (
	"context"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// ours is the prefix of the client IDs of events that a Thread made.
const ours = "turn-"

// leave stores that calls never ran because the turn ended with err, and
// returns err, or the Store's error.
func (w *sessionWriter) leave(ctx context.Context, calls []*skein.Call, err error) error {
	var marks []skein.Event
	for _, c := range calls {
		marks = append(marks, w.neverRan(c.ID))
	}
	if kerr := w.keep(ctx, nil, marks...); kerr != nil {
		return kerr
	}
	return err
}

// neverRan returns the event that marks a call as pending. If no later event
// follows for the call, it never ran.
func (w *sessionWriter) neverRan(call string) skein.Event {
	return skein.NewEvent(skein.KindTool, w.now(), skein.ToolState{Call: call, State: skein.Pending})
}

// unbegun returns such an event for every call that a dead program had not
// begun. A Thread stores that a call runs before running it, so a call without
// an event did nothing. That does not hold for imported answers, nor for those
// that a fork shows of its parent, where the call may have run since.
func (w *sessionWriter) unbegun(ctx context.Context) (marks []skein.Event, err error) {
	events, err := w.events(ctx)
	if err != nil {
		return nil, err
	}
	var waiting []string
	told := func(call string) {
		waiting = slices.DeleteFunc(waiting, func(id string) bool { return id == call })
	}
	for _, e := range events {
		switch {
		case e.Seq <= w.base:
		case e.Kind == skein.KindTool:
			s, err := skein.Decode[skein.ToolState](e)
			if err != nil {
				return nil, err
			}
			told(s.Call)
		case e.Kind == skein.KindSaid:
			m, err := skein.Decode[skein.Message](e)
			if err != nil {
				return nil, err
			}
			for _, p := range m.Parts {
				if p.Result != nil {
					told(p.Result.CallID)
				}
			}
			if strings.HasPrefix(string(e.ClientID), ours) {
				for _, c := range callsOf(&m) {
					waiting = append(waiting, c.ID)
				}
			}
		}
	}
	for _, call := range waiting {
		marks = append(marks, w.neverRan(call))
	}
	return marks, nil
}
