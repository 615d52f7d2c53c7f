package amplifier

import (
	"bytes"
	"io"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
)

// A merger merges the lines of the transcript and of the log by their times: each
// file's in its own order, a line without a time right after the one before it.
type merger struct {
	said, logged side
	out          []byte
	done         bool
}

// A side is one of the two files.
type side struct {
	in   *folder.Reader // nil if there is no such file, or it was read to its end
	next []byte         // its next line, nil if not yet read
	time skein.Time     // of that line, or of one before it
	end  []byte         // the line of the file itself, which comes after both were read
}

// Read implements [io.Reader]; the only error is [io.EOF].
func (m *merger) Read(b []byte) (int, error) {
	for len(m.out) == 0 {
		said, logged := m.said.fill(), m.logged.fill()
		switch {
		case said && (!logged || m.said.time <= m.logged.time):
			m.out = m.said.take()
		case logged:
			m.out = m.logged.take()
		case m.done:
			return 0, io.EOF
		default:
			m.done = true
			m.out = append(m.said.end, m.logged.end...)
			if len(m.out) == 0 {
				return 0, io.EOF
			}
		}
	}
	n := copy(b, m.out)
	if m.out = m.out[n:]; len(m.out) == 0 {
		m.out = nil // it may be long, and the next line needs memory
	}
	return n, nil
}

// fill reports whether there is a next line.
func (s *side) fill() bool {
	if s.next != nil {
		return true
	}
	if s.in == nil {
		return false
	}
	line := s.in.Next()
	for ; isEnd(line); line = s.in.Next() {
		s.end = append(s.end, line...)
	}
	if line == nil {
		s.in = nil
		return false
	}
	s.next = line
	s.time = max(s.time, timeIn(line))
	return true
}

// isEnd reports whether a line stands for a whole file of lines, not for one of its
// lines.
func isEnd(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"file":"`+transcript+`","mode":`)) || bytes.HasPrefix(line, []byte(`{"file":"`+eventLog+`","mode":`))
}

func (s *side) take() []byte {
	line := s.next
	s.next = nil
	return line
}

// The names before a line's time, escaped as within a line of the folder. The log's
// ts comes first in a line; the transcript's timestamp last.
const (
	tsName    = `"{\"ts\":`
	stampName = `\"timestamp\":`
)

// timeIn returns the time in a line of a file, 0 if there is none. It searches the
// text: parsing each line twice would take twice as long, and only the order of the
// two files depends on it.
func timeIn(line []byte) skein.Time {
	if _, body, ok := bytes.Cut(line[:min(len(line), 160)], []byte(tsName)); ok {
		return quoted(body)
	}
	if at := bytes.LastIndex(line, []byte(stampName)); at >= 0 {
		return quoted(line[at+len(stampName):])
	}
	return 0
}

// quoted returns the time in the string, with escaped quotes, that b begins with.
func quoted(b []byte) skein.Time {
	b = bytes.TrimLeft(b[:min(len(b), 64)], " ")
	if b, ok := bytes.CutPrefix(b, []byte(`\"`)); ok {
		s, _, _ := bytes.Cut(b, []byte(`\"`))
		return moment(string(s))
	}
	return 0
}
