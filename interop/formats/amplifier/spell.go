package amplifier

import (
	"strings"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
)

// Amplifier's files are written by Python's json.dumps with ensure_ascii off: a space
// after commas and colons, no unnecessary escapes.

// appendQuoted appends a string as Python writes it.
func appendQuoted(b []byte, s string) []byte {
	return append(appendText(append(b, '"'), s), '"')
}

// quotedText is the [lines.Quote] of Python.
func quotedText(b, text []byte) []byte {
	return appendText(b, unsafe.String(unsafe.SliceData(text), len(text))) //nolint:gosec // it is only read
}

// appendText appends a string as it stands between its quotation marks.
func appendText(b []byte, s string) []byte {
	for {
		at := strings.IndexAny(s, "\b\f")
		if at < 0 {
			break
		}
		b = appendInner(b, s[:at])
		if s[at] == '\b' {
			b = append(b, `\b`...)
		} else {
			b = append(b, `\f`...)
		}
		s = s[at+1:]
	}
	return appendInner(b, s)
}

func appendInner(b []byte, s string) []byte {
	n := len(b)
	b = skein.AppendQuoted(b, s)
	b = append(b[:n], b[n+1:]...)
	return b[:len(b)-1]
}

// appendValue appends a JSON value as Python would write it, with its numbers and the
// order of its members unchanged.
func appendValue(b []byte, v jsontext.Value) []byte {
	for i := 0; i < len(v); i++ {
		switch c := v[i]; c {
		case ' ', '\t', '\r', '\n':
		case ',', ':':
			b = append(b, c, ' ')
		case '"':
			end := i + 1
			for end < len(v) && v[end] != '"' {
				if v[end] == '\\' {
					end++
				}
				end++
			}
			s, _ := skein.Unquote(v[i:min(end+1, len(v))])
			b = appendQuoted(b, s)
			i = end
		default:
			b = append(b, c)
		}
	}
	return b
}

// A builder makes an object.
type builder struct {
	out  lines.Rope
	some bool // it has members
}

func (b *builder) name(name string) *builder {
	begin := ", "
	if !b.some {
		begin = "{"
	}
	b.some = true
	b.out.Append(append(appendQuoted([]byte(begin), name), ": "...))
	return b
}

// str adds a string; put adds any JSON value.
func (b *builder) str(name, s string) *builder {
	b.name(name).out.AppendQuoted(lines.RopeOfText(s), quotedText)
	return b
}

func (b *builder) put(name string, v []byte) *builder {
	b.name(name).out.Append(appendValue(nil, v))
	return b
}

// opt adds a string unless it is "".
func (b *builder) opt(name, s string) *builder {
	if s == "" {
		return b
	}
	return b.str(name, s)
}

// object adds an object with the members that fill adds, unless there are none.
func (b *builder) object(name string, fill func(*builder)) *builder {
	var in builder
	if fill(&in); in.some {
		b.name(name).out.Join(in.rope())
	}
	return b
}

// rope returns the finished object.
func (b *builder) rope() lines.Rope {
	if !b.some {
		b.out.Append([]byte{'{'})
	}
	b.out.Append([]byte{'}'})
	return b.out
}

// value returns the bytes of the finished object.
func (b *builder) value() []byte { return b.rope().Bytes() }

// indented returns an object as json.dumps(indent=2) writes it.
func (o object) indented() []byte {
	out := []byte("{")
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(appendQuoted(append(out, "\n  "...), m.name), ": "...), indented(m.value, "  ")...)
	}
	if len(o) > 0 {
		out = append(out, '\n')
	}
	return append(out, '}')
}

func indented(v jsontext.Value, margin string) []byte {
	spelled := appendValue(nil, v)
	if k := v.Kind(); k != '{' && k != '[' || len(spelled) == 2 {
		return spelled
	}
	c := jsontext.Value(spelled)
	if err := c.Indent(jsontext.WithIndentPrefix(margin), jsontext.WithIndent("  ")); err != nil {
		return spelled
	}
	return c
}

// set puts a member into an object, replacing one of this name.
func (o *object) set(name string, v []byte) {
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = v
			return
		}
	}
	*o = append(*o, member{name, v})
}

func (o *object) setStr(name, s string) { o.set(name, appendQuoted(nil, s)) }
