package cli

import (
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

// told returns the messages again, and the progress that the events report besides
// them. It reads only the events for the part of the session that is shown.
func (o *showOptions) told(r reader, messages iter.Seq2[skein.Entry, error]) (iter.Seq2[skein.Entry, error], *render.Progress, error) {
	from, to := skein.Seq(0), r.session.Last
	if o.last+o.first+o.turn > 0 {
		var part []skein.Entry
		for e, err := range messages {
			if err != nil {
				return nil, nil, err
			}
			part = append(part, e)
		}
		messages = func(yield func(skein.Entry, error) bool) {
			for _, e := range part {
				if !yield(e, nil) {
					return
				}
			}
		}
		if len(part) == 0 {
			return messages, nil, nil
		}
		from = part[0].Seq - 1
		switch {
		case o.turn > 0:
			next, err := r.begin(o.turn + 1)
			if err != nil {
				return nil, nil, err
			}
			to = next - 1
		case o.first > 0 || o.offset > 0:
			to = part[len(part)-1].End
		}
	}
	events := r.store.Events(r.ctx, r.session.ID, from)
	if o.json {
		told, err := render.ProgressOfCalls(&r.session, events, to)
		return messages, told, err
	}
	told, err := render.ProgressOf(&r.session, events, to, o.curtain.text)
	if !o.rewound {
		told = told.Live()
	}
	return messages, told, err
}
