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
func (t *Thread) stayed(ctx context.Context) (is bool, err error) {
	for n := skein.Seq(fewStays); t.o.Stays && n <= manyStays; n *= 4 {
		told := false
		for e, err := range lenient.Store(t.o.Store, nil).Events(ctx, t.id, max(t.base, t.last-n)) {
			if err != nil {
				return false, err
			}
			switch e.Kind {
			case skein.KindEnded:
				told, is = true, false
			case skein.KindCreated:
				c, err := skein.Decode[skein.Created](e)
				told, is = true, err == nil && c.Program == t.o.Program
			case skein.KindResumed:
				p, err := skein.Decode[skein.Program](e)
				told, is = true, err == nil && p.Program == t.o.Program && p.Host == t.o.Host
			}
		}
		if told || t.last-n <= t.base {
			break
		}
	}
	return is, nil
}
