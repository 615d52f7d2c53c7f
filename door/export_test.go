package door

import (
	"crypto/tls"
	"net"
)

// Limit is how many connections a listener takes.
func Limit(l net.Listener, n int, t *tls.Config) net.Listener { return limit(l, n, t) }
