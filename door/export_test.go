package door

import (
	"crypto/tls"
	"net"

	"github.com/skein-dev/skein/internal/room"
)

// Narrow lets the requests of d hold so many bytes together.
func (d *Door) Narrow(most int64) { d.room = room.New(most) }

// Held is how many they hold.
func (d *Door) Held() int64 { return d.room.Held() }

// Limit is how many connections a listener takes.
func Limit(l net.Listener, n int, t *tls.Config) net.Listener { return limit(l, n, t) }
