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

// Each calls f with each line that is not blank, without the space around it. The
// line is valid only until f returns.
//
// Errors are r's and f's.
func Each(r io.Reader, f func(line []byte) error) error {
	in, buf := bufio.NewReaderSize(r, 1<<16), []byte(nil)
	next := func() (_ []byte, err error) {
		buf, err = Append(buf[:0], in, math.MaxInt)
		return buf, err
	}
	if l, ok := r.(*Lines); ok {
		next = func() ([]byte, error) {
			if line := l.Next(); line != nil {
				return line, nil
			}
			return nil, io.EOF
		}
	}
	for last := false; !last; {
		line, err := next()
		if last = errors.Is(err, io.EOF); err != nil && !last {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := f(line); err != nil {
				return err
			}
		}
	}
	return nil
}
