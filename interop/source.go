package interop

import (
	"bytes"
	"context"
	"io"

	"github.com/skein-dev/skein"
)

// WriteSource writes what a source was read as, from its source records: a file
// of lines byte for byte, damage and a missing last line feed included, and of a
// unit the lines that hold it. Of a packed file it writes what was packed.
//
// The error wraps [skein.ErrNotFound] if the file was never read; others are
// the store's or w's.
func WriteSource(ctx context.Context, s skein.Store, format, path string, w io.Writer) (err error) {
	defer skein.Wrapf(&err, "write source %s %s", format, path)
	for r, err := range s.Records(ctx, format, path, 0) {
		if err != nil {
			return err
		}
		if _, err := w.Write(r.Raw); err != nil {
			return err
		}
	}
	return nil
}

// WriteFile is [WriteSource], but of a document it writes the file byte for byte,
// not the lines that its pieces are.
//
// Errors are those of WriteSource.
func WriteFile(ctx context.Context, s skein.Store, format, path string, w io.Writer) error {
	var b bytes.Buffer
	if err := WriteSource(ctx, s, format, path, &pieceHolder{to: w, held: &b}); err != nil {
		return err
	}
	_, err := w.Write(joined(b.Bytes()))
	return err
}

// A pieceHolder keeps what begins as the pieces of a document do, and lets all
// else through.
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

// aboutLine is how a line begins that a format puts before the pieces of a
// document.
const aboutLine = `{"about":`

// joined returns the document that lines are the pieces of, and lines that are
// anything else as they are.
func joined(lines []byte) []byte {
	var all []byte
	for line := range bytes.Lines(lines) {
		piece, err := Piece(line)
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

// isPiece reports whether a line begins as that of a piece does.
func isPiece(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"text":"`)) || bytes.HasPrefix(line, []byte(`{"base64":"`))
}
