package interop

import (
	"io"

	"github.com/skein-dev/skein"
)

// A Whole is a file that a format imports by itself: see Format.Load.
type Whole struct {
	Store skein.Store
	File  skein.SourceFile // Format and Path: to be stored with what is imported
	Data  io.Reader        // from its beginning
	Again bool             // import sessions again that were deleted here
}

// Took says what a Format.Load did.
type Took struct {
	News    []Growth // of the sessions that are new or have grown
	Removed int      // sessions that were not imported because they were deleted here
	Failed  []error  // why single sessions were not imported, or not to their end
	Skips   []Skip   // what was not imported, and why
	Damaged int      // records
	Damage  []Damage // the first of these

	// Waits says that there may be more in the file, now that this was imported:
	// Load is called for it again.
	Waits bool
}
