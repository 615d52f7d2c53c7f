package door

import (
	"crypto/tls"
	"net"
)

// Narrow lets the requests of d hold so many bytes of bodies together.
func (d *Door) Narrow(most int64) { d.room.most = most }

// Held is how many they hold.
func (d *Door) Held() int64 {
	d.room.mu.Lock()
	defer d.room.mu.Unlock()
	return d.room.held
}

// Limit is how many connections a listener takes.
func Limit(l net.Listener, n int, t *tls.Config) net.Listener { return limit(l, n, t) }
