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
	parts [][]byte
	rest  [][]byte // parts that are still unread
	now   []byte   // the rest of the current part
}

// New returns the text of the parts, one after the other. It does not copy them.
func New(parts ...[]byte) *Lines { return &Lines{parts: parts, rest: parts} }

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
func (l *Lines) Again() *Lines { return New(l.parts...) }

// Len returns how many bytes the whole text has.
func (l *Lines) Len() (n int64) {
	for _, p := range l.parts {
		n += int64(len(p))
	}
	return n
}

// Next returns the next line, with its line feed; nil after the last. The line is a
// slice of a part if it is in one part.
func (l *Lines) Next() []byte {
	if !l.more() {
		return nil
	}
	if n := bytes.IndexByte(l.now, '\n'); n >= 0 {
		line := l.now[: n+1 : n+1]
		l.now = l.now[n+1:]
		return line
	}
	line := l.now
	for l.now = nil; l.more(); { // the line continues in the next part
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
	for len(l.now) == 0 && len(l.rest) > 0 {
		l.now, l.rest = l.rest[0], l.rest[1:]
	}
	return len(l.now) > 0
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
