package walk

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// A Said is an event with other columns of its row: a said event, or one that changes
// how others are read.
type Said struct {
	skein.Event
	Message string    // message ID, in the form that the store searches for; "" if it has none
	Turn    int       // as [skein.Added].Turn
	Prev    skein.Seq // seq of the said event before it, including a fork's parent's; 0 if there is none
	Piece   bool      // as [skein.Added].Piece
}

// A SaidLog finds said events of a session, in one snapshot of the store. Errors
// are the store's.
type SaidLog interface {
	// Back calls f for said events of seg, from the one at at backward, the newest
	// first, until there are n or f returns that it has enough. Events that are no
	// longer said events may be among them.
	Back(seg Segment, at skein.Seq, n int, f func(Said) bool) error

	// Place returns the kind of the event at seq of seg, and the seq of the said
	// event before it.
	Place(seg Segment, seq skein.Seq) (kind skein.Kind, prev skein.Seq, err error)

	// Pieces returns the said events in segs of the messages with these IDs, in
	// any order.
	Pieces(segs Segments, messages []string) ([]Said, error)
}

// inOrder sorts events by seq and removes duplicates.
func inOrder(all []Said) []Said {
	slices.SortFunc(all, func(a, b Said) int { return cmp.Compare(a.Seq, b.Seq) })
	return slices.CompactFunc(all, func(a, b Said) bool { return a.Seq == b.Seq })
}

// An Extent is what a store knows about a session when a walk begins.
type Extent struct {
	Segments Segments
	Last     skein.Seq // seq of its last event
	Said     skein.Seq // seq of its last said event; 0 if there is none
}

// maxBack is how many events one call of Back asks for at most.
const maxBack = 500

// back calls l.Back and returns the seq of the said event before the last one that f
// got. The error wraps [skein.ErrCorrupt] if the event at at is not there, or the way
// from an event does not lead back.
func back(l interface {
	Back(seg Segment, at skein.Seq, n int, f func(Said) bool) error
}, seg Segment, at skein.Seq, n int, f func(Said) bool,
) (next skein.Seq, err error) {
	next = at
	err = l.Back(seg, at, n, func(x Said) bool {
		if x.Prev >= next {
			next = at
			return false
		}
		next = x.Prev
		return f(x)
	})
	if err == nil && next >= at {
		err = fmt.Errorf("event %d: %w", at, skein.ErrCorrupt)
	}
	return next, err
}
