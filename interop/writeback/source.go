package writeback

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/store/lenient"
)

// A GapError says which records of a source are damaged and so missing from what was
// written. It wraps [skein.ErrCorrupt].
type GapError struct{ Gaps []Gap }

// A Gap is a run of consecutive records.
type Gap struct {
	First, Last int   // their numbers, 0 for the first of the file
	From, To    int64 // where they were in the file, in bytes; To is 0 if that is not known
	Err         error // why they cannot be read
}

// String says which records they are, counting from 1, and where they were.
func (g Gap) String() string {
	what := fmt.Sprintf("record %d", g.First+1)
	if g.Last > g.First {
		what = fmt.Sprintf("records %d to %d", g.First+1, g.Last+1)
	}
	if g.To > g.From {
		what += fmt.Sprintf(" (bytes %d to %d)", g.From, g.To-1)
	}
	return what
}

// Error implements error.
func (e *GapError) Error() string {
	all := make([]string, len(e.Gaps))
	for i, g := range e.Gaps {
		all[i] = fmt.Sprintf("%v: %v", g, g.Err)
	}
	return strings.Join(all, "; ")
}

// Unwrap returns [skein.ErrCorrupt].
func (e *GapError) Unwrap() error { return skein.ErrCorrupt }

// WriteSource writes what a source was read as, from its source records: a file of
// lines byte for byte, including damage and a missing last line feed, and for a unit
// the lines that hold it. For a packed file, it writes the unpacked content.
//
// The error wraps [skein.ErrNotFound] if the file was never read, and is a
// [GapError] if everything was written except some damaged records; others are the
// store's or w's.
func WriteSource(ctx context.Context, s skein.Store, format, path string, w io.Writer) (err error) {
	defer skein.Wrapf(&err, "interop: write source %s %s", format, path)
	var gaps []Gap
	next, end := 0, int64(0)
	for r, err := range lenient.Records(ctx, s, format, path, func(bad *skein.DamagedRecordsError) {
		gaps = widened(gaps, Gap{First: bad.First, Last: bad.Last, From: end, Err: bad.Err})
		next = bad.Last + 1
	}) {
		if err != nil {
			return err
		}
		endAt(gaps, r.Offset)
		if _, err := w.Write(r.Raw); err != nil {
			return err
		}
		next, end = r.N+1, r.Offset+int64(len(r.Raw))
	}
	f, err := skein.SourcesOf(s).File(ctx, format, path)
	if err != nil {
		return err
	}
	if next < f.Records {
		gaps = widened(gaps, Gap{First: next, Last: f.Records - 1, From: end, Err: errNoRecords})
	}
	if endAt(gaps, f.Offset); len(gaps) > 0 {
		err = &GapError{gaps}
	}
	return err
}

func sourceBytes(ctx context.Context, s skein.Store, format, path string) ([]byte, error) {
	var b bytes.Buffer
	err := WriteSource(ctx, s, format, path, &b)
	return b.Bytes(), err
}

var errNoRecords = errors.New("missing")

// widened returns gaps with g added, or merged into the last gap if that has no known
// end.
func widened(gaps []Gap, g Gap) []Gap {
	if n := len(gaps); n > 0 && gaps[n-1].To == 0 {
		gaps[n-1].Last = g.Last
		return gaps
	}
	return append(gaps, g)
}

// endAt sets the end of the last gap to offset, if it was not known.
func endAt(gaps []Gap, offset int64) {
	if len(gaps) > 0 && gaps[len(gaps)-1].To == 0 {
		gaps[len(gaps)-1].To = offset
	}
}

// WriteFile is like [WriteSource], but for a document, and for a file of a folder that
// was read alone, it writes the file byte for byte, not the lines that hold its pieces.
//
// Errors are those of WriteSource.
func WriteFile(ctx context.Context, s skein.Store, format, path string, w io.Writer) error {
	if isOneFile(ctx, s, format, path) {
		return WriteSource(ctx, s, format, path, contentWriter{w})
	}
	var b bytes.Buffer
	missing := WriteSource(ctx, s, format, path, &pieceHolder{to: w, held: &b})
	if gaps := (*GapError)(nil); missing != nil && !errors.As(missing, &gaps) {
		return missing
	}
	if _, err := w.Write(joined(b.Bytes())); err != nil {
		return err
	}
	return missing
}

// isOneFile reports whether the source is a folder in which only one file was read.
func isOneFile(ctx context.Context, s skein.Store, format, path string) bool {
	name := ""
	for r, err := range lenient.Records(ctx, s, format, path, func(*skein.DamagedRecordsError) {}) {
		if err != nil || !bytes.HasPrefix(r.Raw, []byte(`{"f`)) {
			return false
		}
		l, err := folder.Peek(r.Raw)
		switch {
		case err == nil && l.Folder == ".": // its own time
		case err != nil, l.File == "", l.Damage != "", name != "" && name != l.File:
			return false
		default:
			name = l.File
		}
	}
	return name != ""
}

// A contentWriter writes what the lines of a folder hold; each is one Write.
type contentWriter struct{ to io.Writer }

// Write implements [io.Writer]; errors are those of the writer below.
func (c contentWriter) Write(p []byte) (int, error) {
	l, err := folder.Peek(p)
	if err != nil {
		return 0, err
	}
	return len(p), l.WriteData(c.to)
}

// A pieceHolder holds back lines that begin like the pieces of a document, and lets
// everything else through.
type pieceHolder struct {
	to    io.Writer
	held  *bytes.Buffer
	begun bool
}

// Write implements [io.Writer]; errors are those of the writer below.
func (d *pieceHolder) Write(p []byte) (int, error) {
	if !d.begun {
		d.begun = true
		if isPiece(p) || bytes.HasPrefix(p, []byte(aboutLine)) {
			d.to = d.held
		}
	}
	return d.to.Write(p)
}

// aboutLine is the beginning of a line that a format puts before the pieces of a
// document.
const aboutLine = `{"about":`

// joined returns the document whose pieces the lines hold; other lines are returned
// unchanged.
func joined(lines []byte) []byte {
	var all []byte
	for line := range bytes.Lines(lines) {
		piece, err := interop.Piece(line)
		switch {
		case bytes.HasPrefix(line, []byte(aboutLine)) && len(all) == 0:
			continue
		case err != nil || !isPiece(line):
			return lines
		}
		all = append(all, piece...)
	}
	return all
}

// isPiece reports whether a line begins like that of a piece.
func isPiece(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"text":"`)) || bytes.HasPrefix(line, []byte(`{"base64":"`))
}
