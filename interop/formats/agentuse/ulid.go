package agentuse

import (
	"crypto/sha256"
	"encoding/binary"
	"regexp"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
)

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

var isULID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`) })

// ulid returns a ULID for a time: ten digits of milliseconds, then n, which orders
// those of one millisecond, then eight bytes derived from name.
func ulid(at skein.Time, n uint16, name string) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(max(at, 0))<<16)
	binary.BigEndian.PutUint16(b[6:], n)
	sum := sha256.Sum256([]byte(name))
	copy(b[8:], sum[:])
	high, low := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	var out [26]byte
	for i := 25; i >= 0; i-- {
		out[i] = crockford[low&31]
		low = low>>5 | high<<59
		high >>= 5
	}
	return string(out[:])
}

// timeIn returns the time that a ULID begins with.
func timeIn(id string) (at skein.Time) {
	for _, c := range id[:min(10, len(id))] {
		at = at<<5 | skein.Time(max(0, strings.IndexRune(crockford, c)))
	}
	return at
}

// sanitise returns AgentUse's name for an agent's folder: lower case, with each run
// of characters other than a-z0-9_- replaced by one -, and one - removed at each end.
func sanitise(agent string) string {
	var b strings.Builder
	last := rune(0)
	for _, r := range strings.ToLower(agent) {
		if r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') {
			r = '-'
		}
		if r != '-' || last != '-' {
			b.WriteRune(r)
		}
		last = r
	}
	out := strings.TrimSuffix(strings.TrimPrefix(b.String(), "-"), "-")
	if out == "" || strings.TrimSpace(agent) == "" {
		return "default"
	}
	return out[:min(len(out), 200)]
}
