package server

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/skein-dev/skein"
)

// etag is the version of a session as clients see it: its last seq, its
// revision, and when it was binned and created; after a dot, a hash of who
// holds its lease, which If-Match ignores.
func etag(s *skein.Session) string {
	h := fnv.New32a()
	h.Write([]byte(s.LockedBy)) //nolint:errcheck // it never fails
	return fmt.Sprintf(`"%d-%d-%d-%d.%x"`, s.Last, s.Revision, s.Binned, s.Created, h.Sum32())
}

// matches reports whether the value of an If-Match or If-None-Match header
// names tag.
func matches(header, tag string, same func(a, b string) bool) bool {
	for t := range strings.SplitSeq(header, ",") {
		t = strings.TrimPrefix(strings.TrimSpace(t), "W/")
		if t == "*" || same(t, tag) {
			return true
		}
	}
	return false
}

func wholly(a, b string) bool { return a == b }

// version compares tags, ignoring who holds the lease.
func version(a, b string) bool {
	a, _, ok := strings.Cut(a, ".")
	b, _, _ = strings.Cut(b, ".")
	return ok && a == b
}
