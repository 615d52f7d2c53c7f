package sqlite

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/pack"
)

// itemsOf returns events.items of a message m with facts f: what the view items
// uses to show the message's items in the sqlite3 shell, where payloads cannot
// be read. It is nil if the message is one item with all of its text.
//
// It is a JSON array with an array for each item:
//
//	["message", T]
//	["reasoning", T]
//	["function_call", call ID, name, "arguments"]
//	["function_call", call ID, name, [[key, T], [key, null, value], …]]
//	["function_call_output", call ID, name, T]
//	["file", name]
//	["incomplete"]
//
// The last one is not an item: it follows the items of a message that broke
// off. T is a range of events.text: the position of its first character, from
// 1, and the number of characters. So no text is stored twice.
func itemsOf(m *skein.Message, f *skein.Facts) any {
	if m == nil {
		return nil
	}
	w := itemWriter{facts: f}
	if hasItems(m) && !strings.ContainsRune(f.Text, 0) { // the shell counts no characters after a NUL
		for i := range m.Parts {
			from := 0
			if i > 0 {
				from = f.Parts[i-1]
			}
			w.part(&m.Parts[i], f.Spans[from:f.Parts[i]])
		}
	}
	if m.Interrupted {
		w.add("incomplete")
		w.end()
	}
	if len(w.json) == 0 {
		return nil
	}
	return string(append(w.json, ']'))
}

// hasItems reports whether m is more than one text.
func hasItems(m *skein.Message) bool {
	texts := 0
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case skein.PartText, skein.PartSummary:
			texts++
		default:
			return true
		}
	}
	return texts > 1
}

// An itemWriter turns parts into items.
type itemWriter struct {
	facts *skein.Facts
	json  []byte // the items so far, without the bracket that ends them
	bytes int    // of the text, counted so far
	chars int    // and the characters in them
}

// at appends the position and length of a span in characters. Spans come in order.
func (w *itemWriter) at(s skein.Span) {
	w.chars += utf8.RuneCountInString(w.facts.Text[w.bytes:s.Start])
	n := utf8.RuneCountInString(w.facts.Text[s.Start:s.End])
	w.place(w.chars+1, n)
	w.bytes, w.chars = s.End, w.chars+n
}

func (w *itemWriter) place(at, n int) {
	w.json = strconv.AppendInt(append(w.json, '['), int64(at), 10)
	w.json = append(strconv.AppendInt(append(w.json, ','), int64(n), 10), ']')
}

// add begins an item with these strings. end ends it.
func (w *itemWriter) add(words ...string) {
	begin := byte(',')
	if len(w.json) == 0 {
		begin = '['
	}
	w.json = append(w.json, begin)
	begin = '['
	for _, s := range words {
		w.json = skein.AppendQuoted(append(w.json, begin), skein.Text(s).UTF8())
		begin = ','
	}
}

func (w *itemWriter) end() { w.json = append(w.json, ']') }

// part adds the items of p, whose spans of the text are spans.
func (w *itemWriter) part(p *skein.Part, spans []skein.Span) {
	switch {
	case p.Kind == skein.PartCall:
		w.call(p.Call, spans)
	case p.Kind == skein.PartResult:
		w.add("function_call_output", p.Result.CallID, p.Result.Name)
		w.json = append(w.json, ',')
		if p.Result.Text != "" && len(spans) > 0 {
			w.at(spans[0])
		} else {
			w.place(1, 0)
		}
		w.end()
		for _, file := range p.Result.Files {
			w.file(file.Name)
		}
	case p.Kind == skein.PartFile:
		w.file(p.File.Name)
	case len(spans) == 0:
	case p.Kind == skein.PartReasoning:
		w.text("reasoning", spans[0])
	default:
		w.text("message", spans[0])
	}
}

func (w *itemWriter) file(name string) {
	w.add("file", name)
	w.end()
}

func (w *itemWriter) text(kind string, s skein.Span) {
	w.add(kind)
	w.json = append(w.json, ',')
	w.at(s)
	w.end()
}

// minArgument is the length in bytes from which an argument that is in the text
// is left out.
const minArgument = 48

// call adds the item of a call. Its spans are those of its name and of the
// strings in its input.
func (w *itemWriter) call(c *skein.Call, spans []skein.Span) {
	if c.Name != "" && len(spans) > 0 {
		spans = spans[1:]
	}
	w.add("function_call", c.ID, c.Name)
	w.json = append(w.json, ',')
	was := *w
	if len(c.Input) < minArgument || !w.arguments(c.Input, spans) {
		*w = was
		w.json = skein.AppendQuoted(w.json, skein.Text(c.Input).UTF8())
	}
	w.end()
}

// arguments appends the members of an input, and returns false if it is not an
// object, or its strings are not the spans.
func (w *itemWriter) arguments(input json.RawMessage, spans []skein.Span) bool {
	rest := blank(input)
	if len(rest) == 0 || rest[0] != '{' {
		return false
	}
	w.json = append(w.json, '[')
	for first := true; ; first = false {
		if rest = blank(rest[1:]); len(rest) == 0 || rest[0] != '"' {
			break
		}
		end := pack.LiteralEnd(rest, 0)
		key, ok := skein.Unquote(rest[:end])
		rest = blank(rest[end:])
		if !ok || len(rest) == 0 || rest[0] != ':' {
			return false
		}
		rest = blank(rest[1:])
		value, n := firstValue(rest)
		if n > len(spans) || len(value) == 0 {
			return false
		}
		if !first {
			w.json = append(w.json, ',')
		}
		w.json = append(skein.AppendQuoted(append(w.json, '['), skein.Text(key).UTF8()), ',')
		if value[0] == '"' && n == 1 && len(value) >= minArgument {
			w.at(spans[0])
		} else {
			w.json = append(append(w.json, "null,"...), value...)
		}
		w.json = append(w.json, ']')
		spans = spans[n:]
		if rest = blank(rest[len(value):]); len(rest) == 0 || rest[0] != ',' {
			break
		}
	}
	w.json = append(w.json, ']')
	return len(rest) > 0 && rest[0] == '}'
}

// blank returns b without the white space at its start.
func blank(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n") }

// firstValue returns the JSON value that b begins with and what may follow it in an
// object, and how many of the strings in it are in the text: those that are neither
// names nor empty.
func firstValue(b []byte) (value []byte, n int) {
	depth := 0
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			end := pack.LiteralEnd(b, i)
			if after := blank(b[end:]); depth == 0 || len(after) > 0 && after[0] != ':' {
				if end-i > len(`""`) {
					n++
				}
			}
			i = end
			continue
		case c == '{', c == '[':
			depth++
		case depth == 0 && (c == ',' || c == '}'):
			return bytes.TrimRight(b[:i], " \t\r\n"), n
		case c == '}', c == ']':
			depth--
		}
		i++
	}
	return nil, 0
}
