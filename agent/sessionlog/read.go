package sessionlog

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/jsonl"
)

// Bounds of a line, in bytes, and of how deep it is nested.
const (
	maxLine  = skein.MaxPayload + 1<<20
	maxDepth = 10_000
)

// Read yields the entries of the log r, in order; a line that cannot be read
// becomes an entry with Damage. It reads the logs of Skillet and of Amplifier
// too.
//
// It yields at most one error, last: that of r.
func Read(r io.Reader) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		in := jsonl.NewReader(r, jsonl.Limits{Bytes: maxLine, Depth: maxDepth})
		for {
			p, err := in.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			e := Entry{Damage: p.Damage, Torn: p.Torn}
			if p.Body != nil {
				e = parse(p.Body)
			}
			e.Line, e.Raw = p.Line, bytes.TrimRight(p.Raw, "\r\n")
			if (p.Body != nil || e.Damage != "") && !yield(e, nil) {
				return
			}
		}
	}
}

// A Turn is what a person said and everything up to the final result.
type Turn struct {
	User    Entry   // of kind User
	Steps   []Entry // of kind Step
	Final   Entry   // if the log has none, its Text is the text of the steps
	Whole   bool    // the log has the final result
	Damaged int     // lines since the previous turn that could not be read
}

// Turns yields the turns of the log r as they end: with their final result, or,
// if they broke off, with the next turn or the end of the log. Steps and
// results outside a turn are left out.
//
// It yields at most one error, last: that of r.
func Turns(r io.Reader) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		var t Turn
		open := false
		end := func() bool {
			done := t
			t, open = Turn{}, false
			return yield(done.broken(), nil)
		}
		for e, err := range Read(r) {
			switch {
			case err != nil:
				yield(t, err)
				return
			case e.Damage != "":
				t.Damaged++
			case e.Kind == User:
				if open && !end() {
					return
				}
				t.User, open = e, true
			case e.Kind == Step && open:
				t.Steps = append(t.Steps, e)
			case e.Kind == Final && open:
				t.Final, t.Whole = e, true
				if !end() {
					return
				}
			}
		}
		if open {
			end()
		}
	}
}

// broken returns t, with a final result if it has none.
func (t Turn) broken() Turn {
	if t.Whole {
		return t
	}
	var text strings.Builder
	for _, s := range t.Steps {
		if s.Step == "text" {
			text.WriteString(string(s.Text))
		}
	}
	t.Final = Entry{Kind: Final, Text: skein.Text(text.String()), Time: t.User.Time}
	if n := len(t.Steps); n > 0 {
		t.Final.Time = t.Steps[n-1].Time
	}
	return t
}
