package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/skein-dev/skein/internal/lines"
)

// A Row is a row of a table, with everything that is needed to insert it again.
type Row struct {
	Table   string
	Rowid   *int64 // nil in a table without rowids
	Columns []string
	Values  []Value
	Damage  string // why it could not be read; then it has no values
}

// Get returns the value in a column, or nil if there is no such column.
func (r Row) Get(column string) Value {
	if i := slices.Index(r.Columns, column); i >= 0 && i < len(r.Values) {
		return r.Values[i]
	}
	return nil
}

// Text returns the text in a column, or "" if its value is not text.
func (r Row) Text(column string) string {
	s, _ := r.Get(column).(string)
	return s
}

// Int returns the integer in a column, or 0 if its value is not an integer.
func (r Row) Int(column string) int64 {
	n, _ := r.Get(column).(int64)
	return n
}

// Line returns the row as a line, as AppendLine appends it: a long text, or a value that
// is a [lines.Rope], is quoted when the rope is read.
func (r Row) Line() (line lines.Rope) {
	end := r.appendLine(nil, func(b []byte, text lines.Rope) []byte {
		line.Append(b)
		line.AppendQuoted(text, quoted[[]byte])
		return nil
	})
	line.Append(end)
	return line
}

// AppendLine appends the row as a line; see the package comment.
func (r Row) AppendLine(b []byte) []byte {
	size := 0
	for _, v := range r.Values {
		if s, ok := v.(string); ok {
			size += len(s) + len(s)/8
		}
	}
	return r.appendLine(slices.Grow(b, size+64*len(r.Values)), func(b []byte, text lines.Rope) []byte {
		b = append(b, '"')
		for piece := range text.All() {
			b = quoted(b, piece)
		}
		return append(b, '"')
	})
}

// appendLine appends the row as a line; long appends a long text to what was appended
// before it.
func (r Row) appendLine(b []byte, long func(b []byte, text lines.Rope) []byte) []byte {
	b = appendString(append(b, `{"table":`...), r.Table)
	if r.Rowid != nil {
		b = strconv.AppendInt(append(b, `,"rowid":`...), *r.Rowid, 10)
	}
	if r.Damage != "" {
		return append(appendString(append(b, `,"damage":`...), r.Damage), "}\n"...)
	}
	b = append(b, `,"row":{`...)
	for i, c := range r.Columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, c), ':')
		if text, ok := longText(r.Values[i]); ok {
			b = long(b, text)
		} else {
			b = appendValue(b, r.Values[i])
		}
	}
	return append(b, "}}\n"...)
}

// longText returns a value that is a rope, or a text so long that it is held only once.
func longText(v Value) (lines.Rope, bool) {
	switch v := v.(type) {
	case lines.Rope:
		return v, v.IsValid()
	case string:
		return lines.RopeOfText(v), len(v) >= 64<<10 && utf8.ValidString(v)
	}
	return lines.Rope{}, false
}

// ParseRow parses a line that AppendLine made. ok is false for another line, such as
// one of the frame.
//
// The error says what is wrong with the line.
func ParseRow(line []byte) (r Row, ok bool, err error) {
	if r, ok := parseLine(bytes.TrimSpace(line), nil); ok {
		return r, true, nil
	}
	return parseAny(line)
}

// ParseRope is ParseRow for a rope: the values that have long texts are ropes too. The
// texts of a line that is not a row are not quoted.
//
// The error says what is wrong with the line.
func ParseRope(line lines.Rope) (r Row, ok bool, err error) {
	if outline, texts, ok := line.Outline(); ok && len(texts) > 0 {
		if r, ok := parseLine(bytes.TrimSpace(outline), texts); ok {
			return r, true, nil
		}
		if _, ok, err := parseAny(line.Gist()); !ok {
			return Row{}, false, err
		}
	}
	return ParseRow(line.Bytes())
}

// parseAny is ParseRow for a line in any form.
func parseAny(line []byte) (r Row, ok bool, err error) {
	var in struct {
		Table  *string
		Rowid  *int64
		Row    json.RawMessage
		Damage string
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return r, false, err
	}
	if in.Table == nil {
		return r, false, nil
	}
	r = Row{Table: *in.Table, Rowid: in.Rowid, Damage: in.Damage}
	if r.Damage != "" {
		return r, true, nil
	}
	return r, true, r.parse(in.Row)
}

func (r *Row) parse(row json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(row))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("row of table %s is no object", r.Table)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		v, err := parseValue(raw)
		if err != nil {
			return fmt.Errorf("table %s, column %v: %w", r.Table, name, err)
		}
		r.Columns, r.Values = append(r.Columns, name.(string)), append(r.Values, v)
	}
	return nil
}

// parseLine parses a line as AppendLine writes it, and returns false for all others:
// nearly all lines are like that, and encoding/json takes five times as long, and four
// times the memory of a text. The line may be the outline of a rope with these texts.
func parseLine(line []byte, texts []lines.Rope) (r Row, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"table":"`))
	if !ok || !utf8.Valid(line) {
		return Row{}, false
	}
	if r.Table, rest, ok = cutString(rest); !ok {
		return Row{}, false
	}
	if after, ok := bytes.CutPrefix(rest, []byte(`,"rowid":`)); ok {
		v, after, _, ok := cutValue(after, nil)
		id, is := v.(int64)
		if !ok || !is {
			return Row{}, false
		}
		r.Rowid, rest = &id, after
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"row":{"`)); !ok {
		return Row{}, false
	}
	for {
		var name string
		if name, rest, ok = cutString(rest); !ok || !bytes.HasPrefix(rest, []byte(":")) {
			return Row{}, false
		}
		var v Value
		if v, rest, texts, ok = cutValue(rest[1:], texts); !ok {
			return Row{}, false
		}
		r.Columns, r.Values = append(r.Columns, name), append(r.Values, v)
		if string(rest) == "}}" {
			return r, true
		}
		if rest, ok = bytes.CutPrefix(rest, []byte(`,"`)); !ok {
			return Row{}, false
		}
	}
}

// cutString returns the JSON string that ends at the next quote, and what follows it.
func cutString(b []byte) (text string, rest []byte, ok bool) {
	end := endOfString(b)
	if end < 0 {
		return "", nil, false
	}
	text, ok = lines.Unquote(b[:end])
	return text, b[end+1:], ok
}

// endOfString returns where the quote is that ends a JSON string; -1 without one.
func endOfString(b []byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// cutValue returns the value that b begins with, and what follows it. texts begins with
// the texts of an outline that are in it; left is those after these.
func cutValue(b []byte, texts []lines.Rope) (v Value, rest []byte, left []lines.Rope, ok bool) {
	if len(b) == 0 {
		return nil, nil, nil, false
	}
	end := bytes.IndexAny(b, ",}")
	switch b[0] {
	case '"':
		if n := endOfString(b[1:]) + 1; n > 0 && bytes.IndexByte(b[:n], 0) >= 0 && len(texts) > 0 {
			v, left, ok = lines.UnquoteOutline(b[1:n], texts)
			return v, b[n+1:], left, ok
		}
		v, rest, ok = cutString(b[1:])
		return v, rest, texts, ok
	case '{':
		end = bytes.IndexByte(b, '}') + 1
	}
	if end <= 0 || !json.Valid(b[:end]) {
		return nil, nil, nil, false
	}
	v, err := parseValue(json.RawMessage(b[:end]))
	return v, b[end:], texts, err == nil
}
