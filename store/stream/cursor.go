package stream

import (
	"fmt"
	"strconv"

	"github.com/skein-dev/skein"
)

// Cursor returns the cursor of a feed whose places are numbers, for the place at.
func Cursor(at int64) skein.Cursor { return skein.Cursor(strconv.FormatInt(at, 10)) }

// Place returns the number that such a cursor stands for, 0 for the beginning; -1 for the
// end, [skein.FeedNow].
//
// The error wraps [skein.ErrInvalid] if c is not a cursor of such a feed.
func Place(c skein.Cursor) (int64, error) {
	switch c {
	case "":
		return 0, nil
	case skein.FeedNow:
		return -1, nil
	}
	at, err := strconv.ParseInt(string(c), 10, 64)
	if err != nil || at < 0 || Cursor(at) != c {
		return 0, fmt.Errorf("cursor %q: %w", c, skein.ErrInvalid)
	}
	return at, nil
}
