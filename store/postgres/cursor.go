package postgres

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

// A bookmark is where a feed is: at a spot on a timeline, and, where it began at
// the end of what was stored while older transactions still ran, at the snapshot
// of then: what that has is not to come again.
type bookmark struct {
	position
	line int32  // of the server when it was read; 0 if that is not known
	seen string // as PostgreSQL writes it; "" if there is none
}

// at returns the bookmark at a spot. A snapshot says nothing any more of
// transactions behind it.
func (b bookmark) at(s position) bookmark {
	if _, rest, ok := strings.Cut(b.seen, ":"); ok {
		xmax, _, _ := strings.Cut(rest, ":")
		if n, err := strconv.ParseUint(xmax, 10, 64); err == nil && s.xid >= n {
			b.seen = ""
		}
	}
	b.position = s
	return b
}

// cursor returns b for callers: the name of the cluster, "-", timeline,
// transaction, ordinal and seq, and "-" and the snapshot if there is one.
func (b bookmark) cursor(cluster string) skein.Cursor {
	c := fmt.Sprintf("%s-%d.%d.%d.%d", cluster, b.line, b.xid, b.ordinal+1, b.seq)
	if b.seen != "" {
		c += "-" + b.seen
	}
	return skein.Cursor(c)
}

// maxSnapshot is how many bytes of a cursor's snapshot are taken.
const maxSnapshot = 16 << 10

// bookmarkOf returns the bookmark that a cursor is.
//
// The error wraps [skein.ErrInvalid] if it is none of this cluster's.
func bookmarkOf(c skein.Cursor, cluster string) (b bookmark, err error) {
	b.ordinal = -1
	if c == "" || c == skein.FeedNow {
		return b, nil
	}
	name, rest, _ := strings.Cut(string(c), "-")
	place, seen, _ := strings.Cut(rest, "-")
	if _, err = fmt.Sscanf(place, "%d.%d.%d.%d", &b.line, &b.xid, &b.ordinal, &b.seq); err == nil {
		b.ordinal--
		b.seen = seen
	}
	form := regexp.MustCompile(`^([0-9]{1,19}:[0-9]{1,19}:[0-9,]*)?$`)
	switch {
	case err != nil || len(seen) > maxSnapshot || b.ordinal < -1 || b.seq < 0 || b.line < 0 || b.cursor(name) != c || !form.MatchString(seen):
		return b, fmt.Errorf("cursor %.80q: %w", c, skein.ErrInvalid)
	case name != cluster:
		return b, fmt.Errorf("cursor %.80q: it is another database's: %w", c, skein.ErrInvalid)
	}
	return b, nil
}
