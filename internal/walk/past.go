package walk

import (
	"errors"

	"github.com/skein-dev/skein"
)

// A PastLog is what [Past] needs from a store.
type PastLog interface {
	// Back is as in [SaidLog].
	Back(seg Segment, at skein.Seq, n int, f func(Said) bool) error

	// Settings returns the created and changed events of segs, in the order of segs
	// and, in each segment, of its events. A damaged one has no payload.
	Settings(segs Segments) ([]skein.Event, error)
}

// Past computes the settings of a session after the last event of segs, whose last
// said event is at said: only Project, Cwd, Agent and Model of Shown. It is needed
// only for a fork that does not begin at its parent's end, because the parent's row
// has the current settings. It skips what is damaged. Errors are the log's.
func Past(l PastLog, segs Segments, said skein.Seq) (x skein.Shown, err error) {
	settings, err := l.Settings(segs.Oldest())
	if err != nil {
		return x, err
	}
	modelAt := skein.Seq(0) // where the model was set last
	for _, e := range settings {
		if f, err := skein.FactsOf(e); err == nil && x.Set(f) {
			modelAt = e.Seq
		}
	}
	m, err := answeredBy(l, segs, said, modelAt)
	if m != "" {
		x.Model = m
	}
	if errors.Is(err, skein.ErrCorrupt) || errors.Is(err, skein.ErrInvalid) {
		err = nil
	}
	return x, err
}

// answeredBy returns the model of the newest answer after a seq, going backward from
// the said event at said; "" if there is none.
func answeredBy(l PastLog, segs Segments, said, after skein.Seq) (model string, err error) {
	for n := 8; said > after && model == "" && err == nil; n = min(2*n, maxBack) {
		seg := segs.Of(said)
		seg.From = max(seg.From, after)
		var bad error
		said, err = back(l, seg, said, n, func(x Said) bool {
			if x.Kind != skein.KindSaid { // its message was deleted by hand
				return true
			}
			var m skein.Message
			if m, bad = skein.Decode[skein.Message](x.Event); bad == nil && m.Role == skein.RoleAssistant && !m.Synthetic {
				model = m.Model
			}
			return bad == nil && model == ""
		})
		if err == nil {
			err = bad
		}
	}
	return model, err
}
