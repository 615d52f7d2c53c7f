package door

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/skein-dev/skein/internal/room"
)

// Narrow lets the requests of d hold so many bytes together.
func (d *Door) Narrow(most int64) { d.room = room.New(most) }

// Held is how many they hold.
func (d *Door) Held() int64 { return d.room.Held() }

// Grace lets what is under way when d stops have its time until cancel is called.
func (d *Door) Grace() (cancel func()) {
	over, cancel := context.WithCancel(context.Background())
	d.grace = func(context.Context) (context.Context, context.CancelFunc) { return over, cancel }
	return cancel
}

// Limit is how many connections a listener takes.
func Limit(l net.Listener, n int, t *tls.Config) net.Listener { return limit(l, n, t) }
