package amplifier

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/skein-dev/skein"
)

// Amplifier's files are written by Python's json.dumps with ensure_ascii off: a space
// after commas and colons, no unnecessary escapes.

// appendQuoted appends a string as Python writes it.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
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
	return append(appendInner(b, s), '"')
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
	out []byte
	at  int // where in out the object begins
}

func (b *builder) empty() bool { return len(b.out) == b.at }

func (b *builder) name(name string) *builder {
	if b.empty() {
		b.out = append(b.out, '{')
	} else {
		b.out = append(b.out, ", "...)
	}
	b.out = append(appendQuoted(b.out, name), ": "...)
	return b
}

// str adds a string; put adds any JSON value.
func (b *builder) str(name, s string) *builder {
	b.name(name)
	b.out = appendQuoted(b.out, s)
	return b
}

func (b *builder) put(name string, v []byte) *builder {
	b.name(name)
	b.out = appendValue(b.out, v)
	return b
}

// opt adds a string unless it is "".
func (b *builder) opt(name, s string) *builder {
	if s == "" {
		return b
	}
	return b.str(name, s)
}

// object adds an object with the members that fill adds, unless there are none. They
// may be long, and are not copied.
func (b *builder) object(name string, fill func(*builder)) *builder {
	was := len(b.out)
	b.name(name)
	in := builder{b.out, len(b.out)}
	if fill(&in); in.empty() {
		b.out = b.out[:was]
	} else {
		b.out = in.value()
	}
	return b
}

// value returns the finished object, and what is before it.
func (b *builder) value() []byte {
	if b.empty() {
		return append(b.out, "{}"...)
	}
	return append(b.out, '}')
}

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
