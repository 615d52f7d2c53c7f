package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
)

// Lines is text in memory. It can be read once; see [Lines.Again].
type Lines struct {
	parts []Rope
	rest  []Rope     // parts that are still unread
	part  ropeReader // the current part
	now   []byte     // bytes of the current part that were taken from it, and are unread
}

// New returns the text of the parts, one after the other. It does not copy them.
func New(parts ...[]byte) *Lines {
	ropes := make([]Rope, len(parts))
	for i, b := range parts {
		ropes[i] = RopeOf(b)
	}
	return OfRopes(ropes...)
}

// OfRopes returns the text of the parts, one after the other.
func OfRopes(parts ...Rope) *Lines { return &Lines{parts: parts, rest: parts} }

// Of returns the text of r: r itself if it is a *Lines; otherwise it reads r to its
// end.
//
// Errors are r's.
func Of(r io.Reader) (*Lines, error) {
	if l, ok := r.(*Lines); ok {
		return l, nil
	}
	all, err := io.ReadAll(r)
	return New(all), err
}

// Again returns the same text, to be read from its beginning.
func (l *Lines) Again() *Lines { return OfRopes(l.parts...) }

// Len returns how many bytes the whole text has.
func (l *Lines) Len() (n int64) {
	for _, p := range l.parts {
		n += int64(p.Len())
	}
	return n
}

// Equal reports whether the whole text is b.
func (l *Lines) Equal(b []byte) bool {
	for _, p := range l.parts {
		for piece := range p.All() {
			var same bool
			if b, same = bytes.CutPrefix(b, piece); !same {
				return false
			}
		}
	}
	return len(b) == 0
}

// Next returns the next line, with its line feed; nil after the last. The line is a
// slice of a part if it is in one part; a part with long texts is quoted whole for it.
func (l *Lines) Next() []byte {
	if !l.moreWhole() {
		return nil
	}
	if n := bytes.IndexByte(l.now, '\n'); n >= 0 {
		line := l.now[: n+1 : n+1]
		if l.now = l.now[n+1:]; len(l.now) == 0 {
			l.now = nil // the line may be long, and its caller may let it go
		}
		return line
	}
	line := l.now
	for l.now = nil; l.moreWhole(); { // the line continues in the next part
		n := bytes.IndexByte(l.now, '\n') + 1
		if n == 0 {
			n = len(l.now)
		}
		line = append(line[:len(line):len(line)], l.now[:n]...)
		if l.now = l.now[n:]; line[len(line)-1] == '\n' {
			break
		}
	}
	return line
}

// NextRope is Next without quoting the long texts of a part that is one line. It returns
// false after the last line.
func (l *Lines) NextRope() (Rope, bool) {
	if begun := len(l.now) > 0 || l.part.rest != nil || len(l.part.rope.pieces) > 0; !begun && len(l.rest) > 0 && l.rest[0].isLine() {
		line := l.rest[0]
		l.rest = l.rest[1:]
		return line, true
	}
	line := l.Next()
	return RopeOf(line), line != nil
}

// isLine reports whether the rope is one line with long texts.
func (r Rope) isLine() bool {
	if r.IsPlain() {
		return false
	}
	gist := r.Gist()
	return len(gist) > 0 && bytes.IndexByte(gist, '\n') == len(gist)-1
}

// Read implements [io.Reader]. Its only error is [io.EOF].
func (l *Lines) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if !l.more() {
		return 0, io.EOF
	}
	n := copy(b, l.now)
	l.now = l.now[n:]
	return n, nil
}

// more reports whether anything is left, and puts some of it in now.
func (l *Lines) more() bool {
	for len(l.now) == 0 {
		if l.now = l.part.next(); l.now != nil {
			break
		}
		if len(l.rest) == 0 {
			return false
		}
		l.part, l.rest = ropeReader{rope: l.rest[0]}, l.rest[1:]
	}
	return true
}

// moreWhole is more for a caller that keeps what is in now: it puts there all that is
// left of a part.
func (l *Lines) moreWhole() bool {
	for len(l.now) == 0 {
		if l.now = l.part.all(); len(l.now) > 0 {
			break
		}
		if len(l.rest) == 0 {
			return false
		}
		l.part, l.rest = ropeReader{rope: l.rest[0]}, l.rest[1:]
	}
	return true
}

// Each calls f with each line that is not blank, without the space around it unless the
// line has long texts. The line is valid only until f returns.
//
// Errors are r's and f's.
func Each(r io.Reader, f func(line Rope) error) error {
	in, buf := bufio.NewReaderSize(r, 1<<16), []byte(nil)
	next := func() (_ Rope, err error) {
		buf, err = Append(buf[:0], in, math.MaxInt)
		return RopeOf(buf), err
	}
	if l, ok := r.(*Lines); ok {
		next = func() (Rope, error) {
			if line, ok := l.NextRope(); ok {
				return line, nil
			}
			return Rope{}, io.EOF
		}
	}
	for last := false; !last; {
		line, err := next()
		if last = errors.Is(err, io.EOF); err != nil && !last {
			return err
		}
		if line.IsPlain() {
			line = RopeOf(bytes.TrimSpace(line.Bytes()))
		}
		if len(line.Gist()) > 0 {
			if err := f(line); err != nil {
				return err
			}
		}
	}
	return nil
}
