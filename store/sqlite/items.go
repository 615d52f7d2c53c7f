package sqlite

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// itemsOf returns events.items of a message m whose facts are f: what the view
// items makes the message's items of, in the sqlite3 shell, where payloads cannot
// be read. It is nil where the message is one item with all of its text.
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
// The last is no item: it ends those of a message that broke off.
//
// T is where a text stands in events.text: the place of its first character,
// from 1, and how many they are. So no text stands twice.
func itemsOf(m *skein.Message, f *skein.Facts) any {
	if m == nil {
		return nil
	}
	w := itemWriter{facts: f}
	if hasItems(m) && !strings.ContainsRune(f.Text, 0) { // the shell counts no characters behind a NUL
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

// An itemWriter makes items of parts.
type itemWriter struct {
	facts *skein.Facts
	items [][]any
	bytes int // of the text that are counted,
	chars int // and the characters in them
}

// at returns where a span stands, in characters. Spans come in order.
func (w *itemWriter) at(s skein.Span) [2]int {
	w.chars += utf8.RuneCountInString(w.facts.Text[w.bytes:s.Start])
	n := utf8.RuneCountInString(w.facts.Text[s.Start:s.End])
	at := [2]int{w.chars + 1, n}
	w.bytes, w.chars = s.End, w.chars+n
	return at
}

func (w *itemWriter) add(item ...any) { w.items = append(w.items, item) }

// part adds the items of p, which has these spans of the text.
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

// minArgument is from how many bytes on an argument is left out where it stands
// in the text.
const minArgument = 48

// call adds the item of a call, whose spans are its name's and those of the
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

// arguments returns the members of an input that is an object; nil if it is none.
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

// stringsIn counts the strings in value that stand in the text: those that are
// no keys, and have a character.
func stringsIn(value json.RawMessage) (n int) {
	dec := json.NewDecoder(bytes.NewReader(value))
	var open []byte // of each object and array we are in: '{' before a key, ':' before its value, '['
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
		case top >= 0 && open[top] == '{': // keys are strings
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
