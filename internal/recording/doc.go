// Package recording says how the recorder of what an editor and an agent say to each
// other marks what it stores, for those who read the agent's own file of the same
// session.
package recording

import (
	"os"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

// ClientIDs begins the client IDs of the events that the recorder makes.
const ClientIDs = "acp-"

// Format is the format of the source file that stands for a recording. The file does
// not exist: it leads from what the agent calls a session to the one that was recorded.
const Format = "acp"

// Path returns the path of the source file of a recording of the session that its
// agent calls inner.
func Path(inner string) string { return Format + ":" + inner }

// File returns the source file of session id, which its agent calls inner.
func File(inner string, id skein.SessionID) skein.SourceFile {
	return skein.SourceFile{Format: Format, Path: Path(inner), Session: id, ID: inner}
}

// opening begins the paths of the source files of sessions that are being opened. They come
// first among the paths of recordings, and are few: each process has one of openings.
const (
	opening  = Format + ":\x01"
	openings = 64
)

// Opening returns the source file that says since when session id is being opened in an
// agent, which may write a file of it before it says what it calls it; 0 once that is
// known.
func Opening(id skein.SessionID, since skein.Time) skein.SourceFile {
	return skein.SourceFile{Format: Format, Path: opening + strconv.Itoa(os.Getpid()%openings), Session: id, Mtime: int64(since)}
}

// IsOpening reports whether f is one that [Opening] returned, and since when its session is
// being opened; 0 if it no longer is.
func IsOpening(f *skein.SourceFile) (since skein.Time, is bool) {
	return skein.Time(f.Mtime), strings.HasPrefix(f.Path, opening)
}
