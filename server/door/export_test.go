package door

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/skein-dev/skein/internal/room"
)

// Narrow limits how many bytes the requests of d may hold together.
func (d *Door) Narrow(most int64) { d.room = room.New(most) }

// Held returns how many bytes they hold.
func (d *Door) Held() int64 { return d.room.Held() }

// Grace gives requests that are running when d stops time until cancel is
// called.
func (d *Door) Grace() (cancel func()) {
	over, cancel := context.WithCancel(context.Background())
	d.grace = func(context.Context) (context.Context, context.CancelFunc) { return over, cancel }
	return cancel
}

// Limit returns l with at most n connections.
func Limit(l net.Listener, n int, t *tls.Config) net.Listener { return limit(l, n, t) }
