package postgres

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

// A bookmark is how far a feed has read: a position on a timeline. If the feed began
// at the end of what was stored while older transactions still ran, it also has the
// snapshot of that moment: rows visible in the snapshot must not come again.
type bookmark struct {
	position
	line int32  // timeline of the server when the bookmark was read; 0 if unknown
	seen string // the snapshot as PostgreSQL writes it; "" without one
}

// at returns the bookmark moved to a position. It drops the snapshot if the position
// is past all transactions that the snapshot covers.
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

// cursor returns b as a cursor: the name of the cluster, "-", timeline,
// transaction, ordinal, and seq, and "-" and the snapshot if it has one.
func (b bookmark) cursor(cluster string) skein.Cursor {
	c := fmt.Sprintf("%s-%d.%d.%d.%d", cluster, b.line, b.xid, b.ordinal+1, b.seq)
	if b.seen != "" {
		c += "-" + b.seen
	}
	return skein.Cursor(c)
}

// maxSnapshot is the longest snapshot that a cursor may have, in bytes.
const maxSnapshot = 16 << 10

// bookmarkOf returns the bookmark of a cursor.
//
// The error wraps [skein.ErrInvalid] if it is not a cursor of this cluster.
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
		return b, fmt.Errorf("cursor %.80q: from another database: %w", c, skein.ErrInvalid)
	}
	return b, nil
}
