package wire

import (
	"bytes"
	"encoding/json"
	"strings"
)

// maxDepth is how deep values may be nested: deeper ones are not a message.
const maxDepth = 512

// A LineRange is a part of a line: from its first byte to the one after its last.
type LineRange struct{ From, To int }

// Of returns the part of line; nil if s is empty.
func (s LineRange) Of(line []byte) []byte {
	if s.To == s.From {
		return nil
	}
	return line[s.From:s.To:s.To]
}

// A Message is a JSON-RPC message in a line.
type Message struct {
	All      LineRange
	ID       string // its JSON text; "" if it has none
	Method   string // "" for an answer
	Params   LineRange
	Result   LineRange
	Error    LineRange
	Sessions []LineRange // of session IDs, with their quotes, in order
	Update   string      // params.update.sessionUpdate
}

// IsRequest reports whether m asks for an answer.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != "" }

// IsAnswer reports whether m answers a request.
func (m *Message) IsAnswer() bool { return m.Method == "" && m.ID != "" }

// Session returns the session ID that m names first, and "" if it names none.
func (m *Message) Session(line []byte) string {
	if len(m.Sessions) == 0 {
		return ""
	}
	return Unquote(m.Sessions[0].Of(line))
}

// Unquote returns the value of a JSON string, and "" if it is none.
func Unquote(b []byte) (s string) {
	if len(b) >= 2 && bytes.IndexByte(b, '\\') < 0 {
		return string(b[1 : len(b)-1])
	}
	if json.Unmarshal(b, &s) != nil {
		return ""
	}
	return s
}

// Scan returns the messages in line. If whole is false, the line is not JSON, or is
// cut off; all is then what was found before that place.
func Scan(line []byte) (all []Message, whole bool) {
	s := scanner{b: line}
	for {
		s.space()
		if s.i == len(line) {
			return s.all, true
		}
		if !s.top() {
			if s.open {
				s.all = append(s.all, s.m)
			}
			return s.all, false
		}
	}
}

// A place is where in a message a value is.
type place int

const (
	elsewhere place = iota
	inMessage
	inParams
	inResult
	inUpdate
	inSessions
	inSession
)

type scanner struct {
	b    []byte
	i    int
	all  []Message
	m    Message
	open bool // within m
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// top reads a value of the line: a message, or a batch.
func (s *scanner) top() bool {
	switch s.b[s.i] {
	case '{':
		return s.message()
	case '[':
		return s.elements(func() bool {
			if s.b[s.i] == '{' {
				return s.message()
			}
			return s.skip(0)
		})
	}
	return s.skip(0)
}

func (s *scanner) message() bool {
	s.m, s.open = Message{All: LineRange{From: s.i}}, true
	if !s.object(inMessage, 1) {
		return false
	}
	s.m.All.To = s.i
	s.all, s.open = append(s.all, s.m), false
	return true
}

// elements reads an array, each of whose elements each reads.
func (s *scanner) elements(each func() bool) bool {
	s.i++
	for first := true; ; first = false {
		s.space()
		switch {
		case s.i == len(s.b):
			return false
		case s.b[s.i] == ']':
			s.i++
			return true
		case first:
		case s.b[s.i] != ',':
			return false
		default:
			s.i++
			if s.space(); s.i == len(s.b) {
				return false
			}
		}
		if !each() {
			return false
		}
	}
}

// object reads an object that is at a place.
func (s *scanner) object(at place, depth int) bool {
	s.i++
	for first := true; ; first = false {
		s.space()
		switch {
		case s.i == len(s.b):
			return false
		case s.b[s.i] == '}':
			s.i++
			return true
		case first:
		case s.b[s.i] != ',':
			return false
		default:
			s.i++
			s.space()
		}
		name, ok := s.name()
		if !ok || !s.member(at, name, depth) {
			return false
		}
	}
}

// name reads the name of a member and the colon after it.
func (s *scanner) name() (string, bool) {
	from := s.i
	if !s.text() {
		return "", false
	}
	name := s.b[from:s.i]
	s.space()
	if s.i == len(s.b) || s.b[s.i] != ':' {
		return "", false
	}
	s.i++
	s.space()
	if len(name) > 64 {
		return "", s.i < len(s.b)
	}
	return Unquote(name), s.i < len(s.b)
}

// member reads the value of a member of the object at a place.
func (s *scanner) member(at place, name string, depth int) bool {
	span := LineRange{From: s.i}
	if !s.value(below(at, name), depth) {
		return false
	}
	span.To = s.i
	text := s.b[span.From:span.To]
	switch at {
	case inMessage:
		switch name {
		case "id":
			if string(text) != "null" {
				s.m.ID = string(text)
			}
		case "method":
			s.m.Method = Unquote(text)
		case "params":
			s.m.Params = span
		case "result":
			s.m.Result = span
		case "error":
			s.m.Error = span
		}
	case inUpdate:
		if name == "sessionUpdate" {
			s.m.Update = Unquote(text)
		}
	}
	if text[0] == '"' && isSession(at, name) {
		s.m.Sessions = append(s.m.Sessions, span)
	}
	return true
}

// below returns the place of a member.
func below(at place, name string) place {
	switch {
	case at == inMessage && name == "params":
		return inParams
	case at == inMessage && name == "result":
		return inResult
	case at == inParams && name == "update":
		return inUpdate
	case at == inResult && name == "sessions":
		return inSessions
	}
	return elsewhere
}

func isSession(at place, name string) bool {
	switch at {
	case inParams, inResult, inSession:
		return name == "sessionId"
	case inUpdate:
		return name == "sessionId" || name == "senderSessionId" || name == "recipientSessionId"
	}
	return false
}

// value reads the value at a place.
func (s *scanner) value(at place, depth int) bool {
	switch c := s.b[s.i]; {
	case at == elsewhere:
	case c == '{' && at != inSessions:
		return s.object(at, depth+1)
	case c == '[' && at == inSessions:
		return s.elements(func() bool {
			if s.b[s.i] == '{' {
				return s.object(inSession, depth+2)
			}
			return s.skip(depth + 1)
		})
	}
	return s.skip(depth)
}

// skip reads a value of which nothing is needed.
func (s *scanner) skip(depth int) bool {
	from := depth
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case '"':
			if !s.text() {
				return false
			}
		case '{', '[':
			if depth++; depth > maxDepth {
				return false
			}
			s.i++
		case '}', ']':
			if depth--; depth < from {
				return false
			}
			s.i++
		default:
			s.i++
			if depth == from { // a number or a word
				for s.i < len(s.b) && strings.IndexByte(" \t\r\n,]}", s.b[s.i]) < 0 {
					s.i++
				}
			}
		}
		if depth == from {
			return true
		}
	}
	return false
}

// text reads a string.
func (s *scanner) text() bool {
	if s.i == len(s.b) || s.b[s.i] != '"' {
		return false
	}
	for i := s.i + 1; ; {
		n := bytes.IndexByte(s.b[i:], '"')
		if n < 0 {
			return false
		}
		i += n + 1
		back := i - 2
		for s.b[back] == '\\' {
			back--
		}
		if (i-2-back)%2 == 0 {
			s.i = i
			return true
		}
	}
}
