package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/skein-dev/skein"
)

// JSON writes s and its messages to w as one object with two members, session
// (a [skein.Session]) and entries (an array of [Entry], one on each line), with
// the progress of their calls from told, which [ProgressOfCalls] returned.
// Nothing is left out, cut or cleaned.
//
// The error is that of entries or of w.
func JSON(w io.Writer, s *skein.Session, entries Entries, told *Outcomes) (err error) {
	defer skein.Wrapf(&err, "render: JSON of %s", s.ID)
	b := bufio.NewWriter(w)
	head, err := encode(s)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, `{"session":%s,"entries":[`, head)
	gap := "\n"
	for e, err := range entries {
		if err != nil {
			return err
		}
		fmt.Fprint(b, gap)
		x := told.Entry(e)
		for piece, err := range skein.JSONPieces(&x) {
			if err != nil {
				return fmt.Errorf("message at %d: %w", e.Seq, err)
			}
			if _, err := b.Write(piece); err != nil {
				return err
			}
		}
		gap = ",\n"
	}
	fmt.Fprint(b, "\n]}\n")
	return b.Flush()
}

// encode returns v as JSON without the escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
