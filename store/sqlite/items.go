package sqlite

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
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
	}
	if len(w.items) == 0 {
		return nil
	}
	return string(skein.MustJSON(w.items))
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
	items [][]any
	bytes int // of the text, counted so far
	chars int // and the characters in them
}

// at returns the position and length of a span in characters. Spans come in order.
func (w *itemWriter) at(s skein.Span) [2]int {
	w.chars += utf8.RuneCountInString(w.facts.Text[w.bytes:s.Start])
	n := utf8.RuneCountInString(w.facts.Text[s.Start:s.End])
	at := [2]int{w.chars + 1, n}
	w.bytes, w.chars = s.End, w.chars+n
	return at
}

func (w *itemWriter) add(item ...any) { w.items = append(w.items, item) }

// part adds the items of p, whose spans of the text are spans.
func (w *itemWriter) part(p *skein.Part, spans []skein.Span) {
	switch {
	case p.Kind == skein.PartCall:
		w.call(p.Call, spans)
	case p.Kind == skein.PartResult:
		text := [2]int{1, 0}
		if p.Result.Text != "" && len(spans) > 0 {
			text = w.at(spans[0])
		}
		w.add("function_call_output", p.Result.CallID, p.Result.Name, text)
		for _, file := range p.Result.Files {
			w.add("file", file.Name)
		}
	case p.Kind == skein.PartFile:
		w.add("file", p.File.Name)
	case len(spans) == 0:
	case p.Kind == skein.PartReasoning:
		w.add("reasoning", w.at(spans[0]))
	default:
		w.add("message", w.at(spans[0]))
	}
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
	arguments := any(string(c.Input))
	if len(c.Input) >= minArgument {
		if parts := w.arguments(c.Input, spans); parts != nil {
			arguments = parts
		}
	}
	w.add("function_call", c.ID, c.Name, arguments)
}

// arguments returns the members of an input that is an object, otherwise nil.
func (w *itemWriter) arguments(input json.RawMessage, spans []skein.Span) (parts [][]any) {
	dec := json.NewDecoder(bytes.NewReader(input))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil
	}
	parts = [][]any{}
	for dec.More() {
		key, err := dec.Token()
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			return nil
		}
		n := stringsIn(value)
		if n > len(spans) {
			return nil
		}
		if value[0] == '"' && n == 1 && len(value) >= minArgument {
			parts = append(parts, []any{key, w.at(spans[0])})
		} else {
			parts = append(parts, []any{key, nil, value})
		}
		spans = spans[n:]
	}
	return parts
}

// stringsIn counts the strings in value that are in the text: those that are
// not keys and not empty.
func stringsIn(value json.RawMessage) (n int) {
	dec := json.NewDecoder(bytes.NewReader(value))
	var open []byte // for each open object and array: '{' before a key, ':' before its value, '['
	for {
		tok, err := dec.Token()
		if err != nil {
			return n
		}
		top := len(open) - 1
		d, _ := tok.(json.Delim)
		s, _ := tok.(string)
		switch {
		case d == '{' || d == '[':
			open = append(open, byte(d))
			continue
		case d != 0:
			open = open[:top]
			top--
		case top >= 0 && open[top] == '{': // keys are strings, too
			open[top] = ':'
			continue
		case s != "":
			n++
		}
		if top >= 0 && open[top] == ':' {
			open[top] = '{'
		}
	}
}
