package skein

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// decodeMessage reads b, a message as [MustJSON] writes one, in one pass: most of what a
// store reads and checks is messages, and encoding/json reads each byte three times. It
// returns false if anything is unusual, such as a name that it does not know, null or an
// escape in a name; then encoding/json must read b. If it returns true, encoding/json
// would have read the same.
func decodeMessage(b []byte) (m Message, ok bool) {
	r := messageReader{b: b}
	m, ok = r.message(), true
	r.space()
	return m, ok && !r.odd && r.at == len(b)
}

// A messageReader reads the values of a message. Once odd is set, what it returns means
// nothing.
type messageReader struct {
	b   []byte
	at  int
	odd bool
}

func (r *messageReader) message() (m Message) {
	r.object(func(name []byte) {
		switch string(name) {
		case "id":
			m.ID = r.string()
		case "role":
			m.Role = Role(r.string())
		case "parts":
			m.Parts = list(r, r.part)
		case "provider":
			m.Provider = r.string()
		case "model":
			m.Model = r.string()
		case "agent":
			m.Agent = r.string()
		case "request":
			m.Request = r.string()
		case "tier":
			m.Tier = r.string()
		case "usage":
			m.Usage = new(Usage)
			r.usage(m.Usage)
		case "stop":
			m.Stop = r.string()
		case "error":
			m.Error = decoded[ErrorInfo](r)
		case "synthetic":
			m.Synthetic = r.bool()
		case "interrupted":
			m.Interrupted = r.bool()
		case "meta":
			m.Meta = r.raw()
		default:
			r.odd = true
		}
	})
	return m
}

func (r *messageReader) part() (p Part) {
	r.object(func(name []byte) {
		switch string(name) {
		case "kind":
			p.Kind = PartKind(r.string())
		case "text":
			p.Text = r.text()
		case "call":
			p.Call = new(Call)
			r.call(p.Call)
		case "result":
			p.Result = new(Result)
			r.result(p.Result)
		case "file":
			p.File = decoded[File](r)
		case "raw":
			p.Raw = r.raw()
		case "synthetic":
			p.Synthetic = r.bool()
		case "start":
			p.Start = *decoded[Time](r)
		case "end":
			p.End = *decoded[Time](r)
		case "meta":
			p.Meta = r.raw()
		default:
			r.odd = true
		}
	})
	return p
}

func (r *messageReader) call(c *Call) {
	r.object(func(name []byte) {
		switch string(name) {
		case "id":
			c.ID = r.string()
		case "name":
			c.Name = r.string()
		case "input":
			c.Input = r.raw()
		default:
			r.odd = true
		}
	})
}

func (r *messageReader) result(x *Result) {
	r.object(func(name []byte) {
		switch string(name) {
		case "call_id":
			x.CallID = r.string()
		case "name":
			x.Name = r.string()
		case "text":
			x.Text = r.text()
		case "files":
			x.Files = list(r, func() File { return *decoded[File](r) })
		case "failed":
			x.Failed = r.bool()
		case "raw":
			x.Raw = r.raw()
		default:
			r.odd = true
		}
	})
}

func (r *messageReader) usage(u *Usage) {
	r.object(func(name []byte) {
		switch string(name) {
		case "input":
			u.Input = r.number()
		case "output":
			u.Output = r.number()
		case "reasoning":
			u.Reasoning = r.number()
		case "cache_read":
			u.CacheRead = r.number()
		case "cache_write":
			u.CacheWrite = r.number()
		case "cache_hour":
			u.CacheHour = r.number()
		case "requests":
			u.Requests = r.number()
		case "reported":
			u.Reported = r.number()
		default:
			r.odd = true
		}
	})
}

// decoded reads a value with encoding/json.
func decoded[T any](r *messageReader) *T {
	v, raw := new(T), r.value()
	if r.odd || raw[0] == 'n' || json.Unmarshal(raw, v) != nil {
		r.odd = true
	}
	return v
}

// list reads an array.
func list[T any](r *messageReader, one func() T) []T {
	all := []T{}
	if r.needs('['); r.odd || r.is(']') {
		return all
	}
	for !r.odd {
		all = append(all, one())
		if r.is(']') {
			return all
		}
		r.needs(',')
	}
	return all
}

// object reads an object, and calls member with the name of each of its members, to
// read its value. A name that occurs twice is odd: encoding/json would merge the two.
func (r *messageReader) object(member func(name []byte)) {
	r.needs('{')
	if r.odd || r.is('}') {
		return
	}
	var seen [16][]byte
	for n := 0; n < len(seen); n++ {
		seen[n] = r.literal()
		for _, s := range seen[:n] {
			r.odd = r.odd || bytes.Equal(s, seen[n])
		}
		if r.needs(':'); r.odd {
			return
		}
		if member(seen[n]); r.odd || r.is('}') {
			return
		}
		r.needs(',')
	}
	r.odd = true
}

func (r *messageReader) space() {
	for r.at < len(r.b) && (r.b[r.at] == ' ' || r.b[r.at] == '\n' || r.b[r.at] == '\t' || r.b[r.at] == '\r') {
		r.at++
	}
}

// is skips c, if it comes next, and reports whether it did.
func (r *messageReader) is(c byte) bool {
	r.space()
	if r.at >= len(r.b) || r.b[r.at] != c {
		return false
	}
	r.at++
	return true
}

func (r *messageReader) needs(c byte) { r.odd = !r.is(c) || r.odd }

// quoted returns the bytes of the string that comes next, with its quotes.
func (r *messageReader) quoted() []byte {
	r.space()
	if r.odd || r.at >= len(r.b) || r.b[r.at] != '"' {
		r.odd = true
		return nil
	}
	for i := r.at + 1; ; {
		n := bytes.IndexByte(r.b[i:], '"')
		if n < 0 {
			r.odd = true
			return nil
		}
		i += n + 1
		back := i - 2
		for r.b[back] == '\\' { // stops at the first quote
			back--
		}
		if (i-2-back)%2 == 0 {
			b := r.b[r.at:i]
			r.at = i
			return b
		}
	}
}

// literal returns what is between the quotes of a string without escapes.
func (r *messageReader) literal() []byte {
	b := r.quoted()
	if r.odd {
		return nil
	}
	if b = b[1 : len(b)-1]; plain(b) < len(b) && (bytes.IndexByte(b, '\\') >= 0 || bytes.ContainsFunc(b, isControl) || !utf8.Valid(b)) {
		r.odd = true
	}
	return b
}

func isControl(c rune) bool { return c < ' ' }

func (r *messageReader) string() string { return string(r.literal()) }

func (r *messageReader) text() Text {
	b := r.quoted()
	if r.odd {
		return ""
	}
	s, ok := Unquote(b)
	r.odd = !ok
	return Text(s)
}

func (r *messageReader) bool() bool {
	r.space()
	for _, is := range [...]bool{true, false} {
		if word := strconv.FormatBool(is); bytes.HasPrefix(r.b[r.at:], []byte(word)) {
			r.at += len(word)
			return is
		}
	}
	r.odd = true
	return false
}

// number reads a whole number that is not negative; others are odd.
func (r *messageReader) number() (n int64) {
	r.space()
	from := r.at
	for ; r.at < len(r.b) && r.b[r.at] >= '0' && r.b[r.at] <= '9'; r.at++ {
		n = 10*n + int64(r.b[r.at]-'0')
	}
	digits := r.at - from
	r.odd = r.odd || digits == 0 || digits > 18 || digits > 1 && r.b[from] == '0'
	return n
}

// raw returns a copy of the value that comes next.
func (r *messageReader) raw() json.RawMessage {
	v := r.value()
	if r.odd || v[0] == 'n' || !json.Valid(v) {
		r.odd = true
		return nil
	}
	return bytes.Clone(v)
}

// value returns the bytes of the value that comes next, which may be invalid JSON.
func (r *messageReader) value() []byte {
	r.space()
	from, depth := r.at, 0
	for !r.odd && r.at < len(r.b) {
		switch c := r.b[r.at]; c {
		case '"':
			r.quoted()
		case '{', '[':
			depth++
			r.at++
		case '}', ']', ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return r.ended(from)
			}
			if c == '}' || c == ']' {
				depth--
			}
			r.at++
		default:
			r.at++
			continue
		}
		if depth == 0 && (r.b[r.at-1] == '"' || r.b[r.at-1] == '}' || r.b[r.at-1] == ']') {
			return r.ended(from)
		}
	}
	return r.ended(from)
}

// ended returns what was read from a position on. A value that may be nested nearly as
// deep as encoding/json permits is odd: in its message it may be too deep.
func (r *messageReader) ended(from int) []byte {
	const many = 5000
	v := r.b[from:r.at]
	r.odd = r.odd || len(v) == 0 || len(v) > many && bytes.Count(v, []byte("{"))+bytes.Count(v, []byte("[")) > many
	return v
}

// appendJSON appends m to b as encoding/json writes it without HTML escapes, in one
// pass. It panics if a raw value is invalid JSON.
func (m *Message) appendJSON(b []byte) []byte {
	w := messageWriter{b: append(b, '{')}
	w.string("id", m.ID)
	w.name("role").value(string(m.Role))
	if m.Parts == nil {
		w.name("parts").any(nil)
	} else {
		w.open("parts", '[')
		for i := range m.Parts {
			w.comma()
			w.part(&m.Parts[i])
		}
		w.b = append(w.b, ']')
	}
	w.string("provider", m.Provider)
	w.string("model", m.Model)
	w.string("agent", m.Agent)
	w.string("request", m.Request)
	w.string("tier", m.Tier)
	if u := m.Usage; u != nil {
		w.open("usage", '{')
		w.number("input", u.Input)
		w.number("output", u.Output)
		w.number("reasoning", u.Reasoning)
		w.number("cache_read", u.CacheRead)
		w.number("cache_write", u.CacheWrite)
		w.number("cache_hour", u.CacheHour)
		w.number("requests", u.Requests)
		w.number("reported", u.Reported)
		w.b = append(w.b, '}')
	}
	w.string("stop", m.Stop)
	if m.Error != nil {
		w.name("error").any(m.Error)
	}
	w.flag("synthetic", m.Synthetic)
	w.flag("interrupted", m.Interrupted)
	w.raw("meta", m.Meta)
	return append(w.b, '}')
}

// A messageWriter writes the members of a message and of what it has. Those with a zero
// value are left out, if they are written with their name.
type messageWriter struct{ b []byte }

func (w *messageWriter) part(p *Part) {
	w.b = append(w.b, '{')
	w.name("kind").value(string(p.Kind))
	w.text(p.Text)
	if c := p.Call; c != nil {
		w.open("call", '{')
		w.name("id").value(c.ID)
		w.name("name").value(c.Name)
		w.raw("input", c.Input)
		w.b = append(w.b, '}')
	}
	if r := p.Result; r != nil {
		w.open("result", '{')
		w.name("call_id").value(r.CallID)
		w.string("name", r.Name)
		w.text(r.Text)
		if len(r.Files) > 0 {
			w.name("files").any(r.Files)
		}
		w.flag("failed", r.Failed)
		w.raw("raw", r.Raw)
		w.b = append(w.b, '}')
	}
	if p.File != nil {
		w.name("file").any(p.File)
	}
	w.raw("raw", p.Raw)
	w.flag("synthetic", p.Synthetic)
	w.time("start", p.Start)
	w.time("end", p.End)
	w.raw("meta", p.Meta)
	w.b = append(w.b, '}')
}

// comma separates a value from the one before it, if there is one.
func (w *messageWriter) comma() {
	if c := w.b[len(w.b)-1]; c != '{' && c != '[' {
		w.b = append(w.b, ',')
	}
}

func (w *messageWriter) name(name string) *messageWriter {
	w.comma()
	w.b = append(append(append(w.b, '"'), name...), `":`...)
	return w
}

// open begins a member that is an object or an array.
func (w *messageWriter) open(name string, c byte) {
	w.name(name)
	w.b = append(w.b, c)
}

// value writes a string. encoding/json escapes more than [AppendQuoted] does.
func (w *messageWriter) value(s string) {
	if plain([]byte(s)) < len(s) {
		w.any(s)
		return
	}
	w.b = append(append(append(w.b, '"'), s...), '"')
}

func (w *messageWriter) any(v any) { w.b = append(w.b, mustJSON(v)...) }

func (w *messageWriter) string(name, s string) {
	if s != "" {
		w.name(name).value(s)
	}
}

func (w *messageWriter) text(t Text) {
	if t != "" {
		w.name("text")
		w.b = AppendQuoted(w.b, string(t))
	}
}

func (w *messageWriter) number(name string, n int64) {
	if n != 0 {
		w.name(name)
		w.b = strconv.AppendInt(w.b, n, 10)
	}
}

func (w *messageWriter) flag(name string, is bool) {
	if is {
		w.name(name)
		w.b = append(w.b, "true"...)
	}
}

func (w *messageWriter) time(name string, t Time) {
	if t != 0 {
		w.name(name).any(t)
	}
}

func (w *messageWriter) raw(name string, v json.RawMessage) {
	if len(v) == 0 {
		return
	}
	w.name(name)
	out := bytes.NewBuffer(w.b)
	if err := json.Compact(out, v); err != nil {
		panic("skein: " + err.Error())
	}
	w.b = out.Bytes()
}
