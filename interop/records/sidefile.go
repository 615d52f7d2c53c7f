package records

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
)

// A side file keeps what a format cannot hold, beside a source that was
// written in it. It is one line of JSON, [SideHead], and then skein's own log
// of the whole session. An import that meets the source for the first time
// imports the log, and from the source only what its program has added.
type SideHead struct {
	Side    int             `json:"skein_side"` // version: 1
	Format  string          `json:"format"`
	Session skein.SessionID `json:"session"`
	Echoes  Echoes          `json:"told"`              // the source's records as they were written
	Sum     string          `json:"sum,omitempty"`     // of the source's records then, see summer
	Last    skein.Seq       `json:"last,omitempty"`    // the event up to which the session was written
	Sources bool            `json:"sources,omitempty"` // lines with the files that it was read from follow
	Writing *Intent         `json:"writing,omitempty"` // what is being written: the rest describes the source before that
}

const sideSuffix = ".skein"

// maxName is the longest name of a file on most systems, in bytes.
const maxName = 255

// MaxSideHead is the longest first line, in bytes.
const MaxSideHead = 2 << 20

// IsSide reports whether a file is a side file, by its name.
func IsSide(path string) bool {
	base := filepath.Base(path)
	return strings.HasPrefix(base, ".") && strings.HasSuffix(base, sideSuffix)
}

// SidePath returns where the side file of a source is.
func SidePath(path, name string) string {
	base := "." + filepath.Base(path)
	if name != "" {
		if name = url.PathEscape(name); len(name) > 150 {
			name = Digest([]byte(name))
		}
		base += "#" + name
	}
	if len(base+sideSuffix) > maxName {
		base = "." + Digest([]byte(base))
	}
	return filepath.Join(filepath.Dir(path), base+sideSuffix)
}

// ReadSideHead reads the first line of a side file; rest has what follows it.
//
// Errors are those of reading f and of [ParseSideHead].
func ReadSideHead(f io.Reader) (head SideHead, rest *bufio.Reader, err error) {
	in := bufio.NewReaderSize(f, 64<<10)
	line, err := lines.Append(nil, in, MaxSideHead)
	if err != nil {
		return head, nil, err
	}
	head, err = ParseSideHead(line)
	return head, in, err
}

// ParseSideHead parses the first line of a side file.
//
// The error says that it is not one, or of a version that is not known.
func ParseSideHead(line []byte) (head SideHead, err error) {
	if err := json.Unmarshal(line, &head); err != nil {
		return head, err
	}
	if head.Side != 1 || head.Session.Check() != nil {
		return head, fmt.Errorf("version %d", head.Side)
	}
	return head, nil
}

// A SideLine is a line of a side file's section of source records. A side file of a
// session that was read from another program's files has their records too, so that
// it can be written there again unchanged: between the head, which announces them,
// and the log, one record a line, and a line at the end.
type SideLine struct {
	File   *SideSource `json:"file,omitempty"`
	Record *SideRecord `json:"record,omitempty"`
	End    bool        `json:"end,omitempty"`
}

// A SideSource is a source file of the session, without its records.
type SideSource struct {
	Format  string          `json:"format"`
	Path    string          `json:"path"`
	Session skein.SessionID `json:"session,omitempty"`
	ID      string          `json:"id,omitempty"`
	CopyOf  skein.SessionID `json:"copy_of,omitempty"`
	State   []byte          `json:"state,omitempty"`
}

// A SideRecord is a record of the last [SideSource].
type SideRecord struct {
	Raw    []byte         `json:"raw"`
	Key    skein.ClientID `json:"key,omitempty"`
	Events int            `json:"events,omitempty"`
	Copy   bool           `json:"copy,omitempty"`
	Damage string         `json:"damage,omitempty"`
}

// maxSideLine is the longest line of a record in a side file, in bytes.
const maxSideLine = interop.MaxRecord*4/3 + 2<<20

// EachSideLine calls f with the lines up to the end of the records.
//
// Errors are f's, and those of reading in.
func EachSideLine(in *bufio.Reader, f func(SideLine) error) error {
	for {
		text, err := lines.Append(nil, in, maxSideLine)
		if err != nil {
			return err
		}
		var l SideLine
		if err := json.Unmarshal(text, &l); err != nil {
			return err
		}
		if l.End {
			return nil
		}
		if err := f(l); err != nil {
			return err
		}
	}
}

// IsPromise reports whether a side file of earlier versions is about to be written.
func IsPromise(c disk.File) bool { return c.Size == 0 && IsRecent(c) }

// IsRecent reports whether the writer of a side file may not have finished yet.
func IsRecent(c disk.File) bool { return time.Since(time.Unix(0, c.Mtime)) < Patience }
