package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// ErrTaken means that a file has another value where one is to be added.
var ErrTaken = errors.New("has another value")

// An Addition is a value that is added to a file: the member that Path names or,
// if Element is set, an element of the array that Path names.
type Addition struct {
	Path    []string        `json:"path"` // names of members, from the outermost; at least one
	Element bool            `json:"element,omitempty"`
	Value   json.RawMessage `json:"value"`

	// What Add did for it, which Remove undoes.
	Made  int    `json:"made,omitempty"`  // how many of the containers that Path names were created, counted from the innermost
	Empty string `json:"empty,omitempty"` // what the container had between its brackets, if it was empty and not created
	Was   bool   `json:"was,omitempty"`   // the value was there already
}

// Add returns doc with the value of a, and notes in a what it did. A document that
// is empty becomes an object.
//
// The error wraps [ErrTaken] if the member has another value, or if something on
// its path is not an object; otherwise it says where doc is not JSON with comments.
func Add(doc []byte, a *Addition) ([]byte, error) {
	if len(bytes.TrimSpace(doc)) == 0 {
		doc = []byte("{\n}\n")
	}
	root, err := parse(doc)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(a.Value, &value); err != nil {
		return nil, err
	}
	a.Made, a.Empty, a.Was = 0, "", false
	w := writer{unit: unitOf(doc), flat: !bytes.Contains(bytes.TrimSpace(doc), []byte("\n"))}
	at := &root.Value
	for i, name := range a.Path {
		o, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("%s %w: it is not an object", pathText(a.Path[:i]), ErrTaken)
		}
		last := i == len(a.Path)-1
		if m := member(o, name); m >= 0 {
			at = &o.Members[m].Value
			if last && !a.Element {
				if a.Was = equal(*at, value); !a.Was {
					return nil, fmt.Errorf("%s %w", pathText(a.Path), ErrTaken)
				}
			}
			continue
		}
		if last && !a.Element {
			w.addMember(o, name, a.Value, i, a)
			return root.pack(), nil
		}
		// Everything below is new.
		v := a.Value
		if a.Element {
			v = slices.Concat([]byte("["), v, []byte("]"))
		}
		for j := len(a.Path) - 1; j > i; j-- {
			name, err := json.Marshal(a.Path[j])
			if err != nil {
				return nil, err
			}
			v = slices.Concat([]byte("{"), name, []byte(":"), v, []byte("}"))
		}
		w.addMember(o, name, v, i, a)
		a.Made = len(a.Path) - i
		if !a.Element {
			a.Made--
		}
		return root.pack(), nil
	}
	if !a.Element {
		return doc, nil
	}
	l, ok := at.Value.(*hujson.Array)
	if !ok {
		return nil, fmt.Errorf("%s %w: it is not an array", pathText(a.Path), ErrTaken)
	}
	if slices.ContainsFunc(l.Elements, func(v hujson.Value) bool { return equal(v, value) }) {
		a.Was = true
		return doc, nil
	}
	w.addElement(l, a.Value, len(a.Path), a)
	return root.pack(), nil
}

// Remove returns doc without the value that Add added, and without the containers
// that Add created for it if nothing else is in them now. It reports whether doc
// had the value. If somebody changed the value, it stays.
//
// The error says where doc is not JSON with comments.
func Remove(doc []byte, a Addition) ([]byte, bool, error) {
	if a.Was {
		return doc, false, nil
	}
	root, err := parse(doc)
	if err != nil {
		return nil, false, err
	}
	var value any
	if err := json.Unmarshal(a.Value, &value); err != nil {
		return nil, false, err
	}
	on := []*hujson.Value{&root.Value} // what is on the path
	for _, name := range a.Path {
		o, ok := on[len(on)-1].Value.(*hujson.Object)
		if !ok {
			return doc, false, nil
		}
		m := member(o, name)
		if m < 0 {
			return doc, false, nil
		}
		on = append(on, &o.Members[m].Value)
	}
	if a.Element {
		l, ok := on[len(on)-1].Value.(*hujson.Array)
		if !ok {
			return doc, false, nil
		}
		i := slices.IndexFunc(l.Elements, func(v hujson.Value) bool { return equal(v, value) })
		if i < 0 {
			return doc, false, nil
		}
		removeElement(l, i, a.Empty)
	} else {
		if !equal(*on[len(on)-1], value) {
			return doc, false, nil
		}
		on = on[:len(on)-1]
		removeMember(on[len(on)-1].Value.(*hujson.Object), a.Path[len(a.Path)-1], a.Empty)
	}
	for made := a.Made; made > 0 && emptied(on[len(on)-1]); made-- {
		name := a.Path[len(on)-2]
		on = on[:len(on)-1]
		removeMember(on[len(on)-1].Value.(*hujson.Object), name, a.Empty)
	}
	return root.pack(), true, nil
}

// A parsed is a parsed file.
type parsed struct{ hujson.Value }

// parse parses a file; the parser wants a line feed after the last comment.
func parse(doc []byte) (*parsed, error) {
	v, err := hujson.Parse(slices.Concat(doc, []byte("\n")))
	if err != nil {
		err = errors.New("invalid JSON: " + strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return &parsed{v}, err
}

func (d *parsed) pack() []byte { return bytes.TrimSuffix(d.Pack(), []byte("\n")) }

// emptied reports whether nothing is in a container, not even a comment.
func emptied(v *hujson.Value) bool {
	switch c := v.Value.(type) {
	case *hujson.Object:
		return len(c.Members) == 0 && len(bytes.TrimSpace(c.AfterExtra)) == 0
	case *hujson.Array:
		return len(c.Elements) == 0 && len(bytes.TrimSpace(c.AfterExtra)) == 0
	}
	return false
}

func member(o *hujson.Object, name string) int {
	return slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return m.Name.Value.(hujson.Literal).String() == name })
}

// equal reports whether v says the same as value.
func equal(v hujson.Value, value any) bool {
	c := v.Clone()
	c.Standardize()
	var have any
	return json.Unmarshal(c.Pack(), &have) == nil && reflect.DeepEqual(have, value)
}

func pathText(path []string) string {
	if len(path) == 0 {
		return "the file"
	}
	return strings.Join(path, ".")
}

// A writer writes values as the rest of the file is written.
type writer struct {
	unit string // of indentation
	flat bool   // the whole file is one line
}

// unitOf returns the indentation of the first line that has one.
func unitOf(doc []byte) string {
	for line := range bytes.Lines(doc) {
		if n := len(line) - len(bytes.TrimLeft(line, " \t")); n > 0 && len(bytes.TrimSpace(line)) > 0 {
			return string(line[:n])
		}
	}
	return "  "
}

func (w *writer) addMember(o *hujson.Object, name string, value []byte, depth int, a *Addition) {
	var last *hujson.Value
	var first hujson.Extra
	if n := len(o.Members); n > 0 {
		last, first = &o.Members[n-1].Value, o.Members[n-1].Name.BeforeExtra
	}
	before := w.place(last, first, &o.AfterExtra, depth, a)
	v := hujson.Value{Value: w.value(value, before)}
	if !w.flat {
		v.BeforeExtra = hujson.Extra(" ")
	}
	v.AfterExtra = trailing(last)
	o.Members = append(o.Members, hujson.ObjectMember{Name: hujson.Value{BeforeExtra: before, Value: hujson.String(name)}, Value: v})
}

func (w *writer) addElement(l *hujson.Array, value []byte, depth int, a *Addition) {
	var last *hujson.Value
	var first hujson.Extra
	if n := len(l.Elements); n > 0 {
		last, first = &l.Elements[n-1], l.Elements[n-1].BeforeExtra
	}
	before := w.place(last, first, &l.AfterExtra, depth, a)
	after := trailing(last)
	l.Elements = append(l.Elements, hujson.Value{BeforeExtra: before, Value: w.value(value, before), AfterExtra: after})
}

// trailing moves the mark of a comma after the last value of a container to the
// one that follows it now.
func trailing(last *hujson.Value) hujson.Extra {
	if last == nil || last.AfterExtra == nil {
		return nil
	}
	return hujson.Extra{}
}

// place returns what stands before a value that is added to the end of a container,
// whose last value so far is last, with before before it; after is what stands
// before the closing bracket. Comments stay where they are.
func (w *writer) place(last *hujson.Value, before hujson.Extra, after *hujson.Extra, depth int, a *Addition) hujson.Extra {
	if last == nil && a.Made == 0 {
		a.Empty = string(*after)
	}
	nl := bytes.LastIndexByte(*after, '\n')
	lines := bytes.IndexByte(before, '\n') >= 0 || nl >= 0 || last == nil && !w.flat
	if !lines {
		if last == nil {
			return nil
		}
		return hujson.Extra(" ")
	}
	indent := strings.Repeat(w.unit, depth+1)
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 {
		indent = string(before[i+1:])
		if j := len(indent) - len(strings.TrimLeft(indent, " \t")); j < len(indent) {
			indent = indent[:j]
		}
	}
	kept := hujson.Extra(nil)
	if nl >= 0 {
		kept, *after = bytes.Clone((*after)[:nl]), bytes.Clone((*after)[nl:])
	} else {
		if len(bytes.TrimSpace(*after)) > 0 {
			kept = bytes.Clone(*after)
		}
		*after = hujson.Extra("\n" + strings.Repeat(w.unit, depth))
	}
	return append(kept, "\n"+indent...)
}

// value returns a value, indented like what stands before it.
func (w *writer) value(value []byte, before hujson.Extra) hujson.ValueTrimmed {
	var b bytes.Buffer
	if nl := bytes.LastIndexByte(before, '\n'); nl < 0 || w.flat {
		_ = json.Compact(&b, value) //nolint:errcheck // Add has parsed it
	} else {
		_ = json.Indent(&b, value, string(before[nl+1:]), w.unit) //nolint:errcheck // Add has parsed it
	}
	v, err := hujson.Parse(b.Bytes())
	if err != nil {
		return hujson.Literal(value)
	}
	return v.Value
}

func removeMember(o *hujson.Object, name, empty string) {
	i := member(o, name)
	m := o.Members[i]
	o.Members = slices.Delete(o.Members, i, i+1)
	switch {
	case i < len(o.Members):
		next := &o.Members[i].Name
		next.BeforeExtra = rejoin(m.Name.BeforeExtra, next.BeforeExtra)
	case i > 0:
		comma(&o.Members[i-1].Value, m.Value)
		o.AfterExtra = rejoin(m.Name.BeforeExtra, o.AfterExtra)
	default:
		if o.AfterExtra = rejoin(m.Name.BeforeExtra, o.AfterExtra); blank(o.AfterExtra) && blank([]byte(empty)) {
			o.AfterExtra = hujson.Extra(empty)
		}
	}
}

func removeElement(l *hujson.Array, i int, empty string) {
	v := l.Elements[i]
	l.Elements = slices.Delete(l.Elements, i, i+1)
	switch {
	case i < len(l.Elements):
		next := &l.Elements[i]
		next.BeforeExtra = rejoin(v.BeforeExtra, next.BeforeExtra)
	case i > 0:
		comma(&l.Elements[i-1], v)
		l.AfterExtra = rejoin(v.BeforeExtra, l.AfterExtra)
	default:
		if l.AfterExtra = rejoin(v.BeforeExtra, l.AfterExtra); blank(l.AfterExtra) && blank([]byte(empty)) {
			l.AfterExtra = hujson.Extra(empty)
		}
	}
}

func blank(b []byte) bool { return len(bytes.TrimSpace(b)) == 0 }

// comma keeps the comma after the last value of a container, if it had one.
func comma(now *hujson.Value, removed hujson.Value) {
	if removed.AfterExtra == nil {
		now.AfterExtra = nil
	} else if now.AfterExtra == nil {
		now.AfterExtra = hujson.Extra{}
	}
}

// rejoin returns what stands before something after what stood before the value in
// front of it was put in front of that: the comments of both.
func rejoin(gone, next hujson.Extra) hujson.Extra {
	if nl := bytes.LastIndexByte(gone, '\n'); nl >= 0 && bytes.IndexByte(next, '\n') >= 0 {
		gone = gone[:nl]
	} else if blank(gone) {
		gone = nil
	}
	return slices.Concat(gone, next)
}
