package walk

import (
	"cmp"
	"slices"

	"github.com/skein-dev/skein"
)

// A Said is an event, and what its row says besides: a said one, or one that
// changes how others are read.
type Said struct {
	skein.Event
	Message string    // message ID, as the store looks for it; "" if it has none
	Turn    int       // as [skein.Added].Turn
	Prev    skein.Seq // place of the said event before it, a fork's parent's included; 0 if there is none
	Piece   bool      // as [skein.Added].Piece
}

// A SaidLog finds said events of a session, on one state of the store. Errors
// are the store's.
type SaidLog interface {
	// Back calls f for said events of seg, from the one at a place back, the
	// newest first, until there are n or f says that it is enough. An event
	// that is no longer a said one may be among them.
	Back(seg Segment, at skein.Seq, n int, f func(Said) bool) error

	// Place returns of which kind the event at seq of seg is, and the place of
	// the said event before it.
	Place(seg Segment, seq skein.Seq) (kind skein.Kind, prev skein.Seq, err error)

	// Pieces returns the said events in segs of the messages with these IDs, in
	// any order.
	Pieces(segs Segments, messages []string) ([]Said, error)
}

// inOrder sorts events by their places and leaves out what stands there twice.
func inOrder(all []Said) []Said {
	slices.SortFunc(all, func(a, b Said) int { return cmp.Compare(a.Seq, b.Seq) })
	return slices.CompactFunc(all, func(a, b Said) bool { return a.Seq == b.Seq })
}

// An Extent is what a store knows of a session when a walk begins.
type Extent struct {
	Segments Segments
	Last     skein.Seq // place of its last event
	Said     skein.Seq // place of its last said event; 0 if there is none
}

// maxBack is how many events one call of Back asks for at most.
const maxBack = 500
