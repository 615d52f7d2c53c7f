package copilotvscode

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// A tree is a JSON value that can be changed. Only the parts that change are parsed.
type tree struct {
	raw   jsontext.Value // until it is parsed
	names []string       // of a parsed object, in order
	subs  []*tree        // its members, or the elements of a list
	kind  jsontext.Kind
}

func treeOf(raw jsontext.Value) *tree {
	if loose.IsNull(raw) {
		raw = jsontext.Value("null")
	}
	return &tree{raw: slices.Clone(raw), kind: raw.Kind()}
}

// open parses t.
func (t *tree) open() {
	if t.raw == nil {
		return
	}
	switch t.kind {
	case '{':
		o, _ := loose.Parse(t.raw) // it is part of a line that was read
		for _, m := range o {
			t.set(m.Name, treeOf(m.Value))
		}
	case '[':
		for _, e := range loose.Elements(t.raw) {
			t.subs = append(t.subs, treeOf(e))
		}
	default:
		return
	}
	t.raw = nil
}

func (t *tree) set(name string, to *tree) {
	if i := slices.Index(t.names, name); i >= 0 {
		t.subs[i] = to
		return
	}
	t.names, t.subs = append(t.names, name), append(t.subs, to)
}

// find returns the value at a step of a path, nil if there is none.
func (t *tree) find(step jsontext.Value) *tree {
	if t == nil {
		return nil
	}
	t.open()
	i := slices.Index(t.names, loose.Str(step))
	if t.kind == '[' {
		i = index(step)
	}
	if i < 0 || i >= len(t.subs) {
		return nil
	}
	return t.subs[i]
}

// index returns a step of a path as a number, -1 if it is not one.
func index(step jsontext.Value) int {
	n, err := strconv.Atoi(string(step))
	if err != nil {
		return -1
	}
	return n
}

// put sets the value at a step of a path; nil removes it.
func (t *tree) put(step jsontext.Value, to *tree) error {
	t.open()
	name, isName := skein.Unquote(step)
	i := index(step)
	switch {
	case t.kind == '{' && isName && to != nil:
		t.set(name, to)
	case t.kind == '{' && isName:
		if i := slices.Index(t.names, name); i >= 0 {
			t.names, t.subs = slices.Delete(t.names, i, i+1), slices.Delete(t.subs, i, i+1)
		}
	case t.kind == '[' && i == len(t.subs) && to != nil:
		t.subs = append(t.subs, to)
	case t.kind == '[' && i >= 0 && i < len(t.subs) && to != nil:
		t.subs[i] = to
	default:
		return fmt.Errorf("no place for a change: %.40q", step)
	}
	return nil
}

// push cuts a list to a length, unless that is negative, and appends to it.
func (t *tree) push(length int, more []jsontext.Value) error {
	t.open()
	if t.kind != '[' || length > len(t.subs) {
		return fmt.Errorf("no list to add to")
	}
	if length >= 0 {
		t.subs = t.subs[:length]
	}
	for _, v := range more {
		t.subs = append(t.subs, treeOf(v))
	}
	return nil
}

// append appends t as JSON.
func (t *tree) append(b []byte) []byte {
	if t.raw != nil {
		return append(b, t.raw...)
	}
	b = append(b, byte(t.kind))
	for i, sub := range t.subs {
		if i > 0 {
			b = append(b, ',')
		}
		if t.kind == '{' {
			b = append(skein.AppendQuoted(b, t.names[i]), ':')
		}
		b = sub.append(b)
	}
	return append(b, byte(t.kind)+2) // } is two after {, ] after [
}
