package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// A Row is a row of a table, with what it takes to put it back.
type Row struct {
	Table   string
	Rowid   *int64 // nil in a table without
	Columns []string
	Values  []Value
	Damage  string // why it could not be read; it then has no values
}

// Get returns the value in a column, and nil if there is no such column.
func (r Row) Get(column string) Value {
	if i := slices.Index(r.Columns, column); i >= 0 && i < len(r.Values) {
		return r.Values[i]
	}
	return nil
}

// Text returns the text in a column, and "" if what is there is no text.
func (r Row) Text(column string) string {
	s, _ := r.Get(column).(string)
	return s
}

// Int returns the integer in a column, and 0 if what is there is none.
func (r Row) Int(column string) int64 {
	n, _ := r.Get(column).(int64)
	return n
}

// AppendLine appends the row as a line; see the package comment.
func (r Row) AppendLine(b []byte) []byte {
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
		b = appendValue(b, r.Values[i])
	}
	return append(b, "}}\n"...)
}

// ParseRow reads a line that AppendLine made. ok is false if the line is
// another one, such as one of the frame.
//
// The error says what is wrong with it.
func ParseRow(line []byte) (r Row, ok bool, err error) {
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
