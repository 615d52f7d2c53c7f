package agent

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lenient"
)

// How many events from the end of a session are read, at first and at most, to
// find out who worked on it last.
const (
	fewStays  = 64
	manyStays = 4096
)

// stayed reports whether this program is one that stays, worked on the session
// last, and has not stored that its work ended.
func (w *sessionWriter) stayed(ctx context.Context) (is bool, err error) {
	for n := skein.Seq(fewStays); w.o.Stays && n <= manyStays; n *= 4 {
		told := false
		for e, err := range lenient.Store(w.o.Store, nil).Events(ctx, w.id, max(w.base, w.last-n)) {
			if err != nil {
				return false, err
			}
			switch e.Kind {
			case skein.KindEnded:
				told, is = true, false
			case skein.KindCreated:
				c, err := skein.Decode[skein.Created](e)
				told, is = true, err == nil && c.Program == w.o.Program
			case skein.KindResumed:
				p, err := skein.Decode[skein.Program](e)
				told, is = true, err == nil && p.Program == w.o.Program && p.Host == w.o.Host
			}
		}
		if told || w.last-n <= w.base {
			break
		}
	}
	return is, nil
}
