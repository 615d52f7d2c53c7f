package sessionlog

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// The levels of a line.
const (
	debug   = "DEBUG"
	info    = "INFO"
	warning = "WARNING"
	failure = "ERROR"
)

// schema is the value of the member schema, which every line has.
const schema = `{"name":"skein.log","ver":"1.0.0"}`

// head appends the members that every line begins with.
func (l *Encoder) head(b []byte, level, name string) []byte {
	b = skein.AppendQuoted(append(b, `{"ts":`...), l.at)
	b = skein.AppendQuoted(append(b, `,"lvl":`...), level)
	b = append(b, `,"schema":`+schema...)
	b = skein.AppendQuoted(append(b, `,"event":`...), name)
	b = skein.AppendQuoted(append(b, `,"session_id":`...), string(l.session))
	b = strconv.AppendInt(append(b, `,"seq":`...), int64(l.seq), 10)
	if l.revision > 0 {
		b = strconv.AppendInt(append(b, `,"revision":`...), int64(l.revision), 10)
	}
	return b
}

// stamp appends the time of a line that has a kind.
func (l *Encoder) stamp(b []byte) []byte {
	return skein.AppendQuoted(append(b, `,"timestamp":`...), l.at)
}

// end ends a line; data is a JSON object, or nil.
func end(b []byte, data []byte) []byte {
	if len(data) > 0 && string(data) != "{}" {
		b = append(append(b, `,"data":`...), data...)
	}
	return append(b, '}', '\n')
}

// plain appends a line without a kind.
func (l *Encoder) plain(b []byte, level, name string, data []byte) []byte {
	return end(l.head(b, level, name), data)
}

// user appends a line of kind user_message.
func (l *Encoder) user(b []byte, name, text string, data []byte) []byte {
	b = append(l.head(b, info, name), `,"kind":"user_message","userInput":`...)
	return end(l.stamp(skein.AppendQuoted(b, text)), data)
}

// A pair is a member of an object: its name and its text.
type pair struct{ name, text string }

// step appends a line of kind step.
func (l *Encoder) step(b []byte, level, name, kind string, data []byte, members ...pair) []byte {
	b = append(l.head(b, level, name), `,"kind":"step","stepResult":{"type":`...)
	b = skein.AppendQuoted(b, kind)
	for _, m := range members {
		b = skein.AppendQuoted(append(append(append(b, `,"`...), m.name...), `":`...), m.text)
	}
	return end(l.stamp(append(b, '}')), data)
}

// final appends a line of kind final_result.
func (l *Encoder) final(b []byte, level, text, model string, data []byte) []byte {
	b = append(l.head(b, level, "prompt:complete"), `,"kind":"final_result","finalResult":{"text":`...)
	b = l.stamp(append(skein.AppendQuoted(b, text), '}'))
	if model != "" {
		b = skein.AppendQuoted(append(b, `,"model":`...), model)
	}
	return end(b, data)
}

// raw returns the JSON object p in a form that fits on one line; nil if it is
// not an object.
func raw(p json.RawMessage) []byte {
	p = bytes.TrimSpace(p)
	if len(p) == 0 || p[0] != '{' {
		return nil
	}
	if bytes.ContainsAny(p, "\n\r") {
		var b bytes.Buffer
		if json.Compact(&b, p) != nil {
			return nil
		}
		p = b.Bytes()
	}
	if !utf8.Valid(p) {
		p = bytes.ToValidUTF8(p, []byte("\ufffd"))
	}
	return p
}
