package sessionlog

import (
	"context"
	"iter"
	"strings"

	"github.com/skein-dev/skein/replay"
)

// A Tail reads a growing log: the entries of its complete lines. It is a
// [replay.Tail]: no line and no character is ever cut, and a file that was
// replaced, emptied or rewritten is read from the beginning. It must be used by
// one goroutine.
type Tail struct {
	lines *replay.Tail
	line  int
}

// NewTail returns a Tail of the log at path, from its beginning. The file need
// not exist yet.
func NewTail(path string) *Tail { return &Tail{lines: replay.NewTail(path)} }

// Entries yields the entries of the lines that have ended since the last call,
// none if the file does not exist.
//
// It yields at most one error, last: the file's. The next call continues where
// this one ended.
func (t *Tail) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) { t.each(t.lines.Lines(), yield) }
}

// each yields the entries of lines.
func (t *Tail) each(lines iter.Seq2[replay.Line, error], yield func(Entry, error) bool) {
	anew := false
	for l, err := range lines {
		if err != nil {
			yield(Entry{}, err)
			return
		}
		if l.Anew {
			t.line, anew = 0, true
		}
		t.line++
		e, ok := entryOf(l)
		if !ok {
			continue
		}
		e.Line, e.Anew, e.Raw = t.line, anew, l.Bytes
		anew = false
		if !yield(e, nil) {
			return
		}
	}
}

// Follow yields the entries of the log at path, then new ones, until ctx ends.
// A line is yielded once it has ended. The file need not exist yet, but its
// folder must.
//
// It yields at most one error, last: that the folder cannot be watched, or the
// file's.
func Follow(ctx context.Context, path string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) { new(Tail).each(replay.Follow(ctx, path), yield) }
}

// entryOf returns the entry of a line of a growing file; false if it is blank.
func entryOf(l replay.Line) (e Entry, ok bool) {
	switch text := strings.Trim(string(l.Bytes), "\x00 \t\ufeff"); {
	case l.Lost:
		e.Damage = "line longer than a log can have"
	case text == "" && len(l.Bytes) == 0:
		return e, false
	case text == "":
		e.Damage = "NUL bytes"
	default:
		e = parse([]byte(text))
	}
	return e, true
}
