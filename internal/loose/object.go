package loose

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
)

// Options returns options that accept what other programs write: duplicate names and
// lone surrogates.
func Options() json.Options { return options }

var options = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// An Object is the members of a JSON object, in order.
type Object []Member

// A Member is a name in an object and its value.
type Member struct {
	Name  string
	Value jsontext.Value // points into what was parsed
}

// ErrNoObject says that a value is not an object.
var ErrNoObject = errors.New("it is not a JSON object")

// Parse parses the object that b begins with; it ignores what follows.
//
// The error says what b is instead, in words for people; the members before
// the place that it names are returned with it.
func Parse(b []byte) (Object, error) {
	d := newDecoder(b)
	t, err := d.ReadToken()
	if err != nil {
		return nil, plain(err)
	}
	if t.Kind() != '{' {
		return nil, ErrNoObject
	}
	o := make(Object, 0, 8)
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return o, plain(err)
		}
		m := Member{Name: name.String()}
		if m.Value, err = d.value(b); err != nil {
			return o, plain(err)
		}
		o = append(o, m)
	}
	if _, err := d.ReadToken(); err != nil {
		return o, plain(err)
	}
	return o, nil
}

// plain returns err in words for people.
func plain(err error) error {
	return fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "jsontext: "))
}

// Get returns the last member of this name; nil if there is none.
func (o Object) Get(name string) jsontext.Value {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].Name == name {
			return o[i].Value
		}
	}
	return nil
}

// Has reports whether o has all these names, even if their value is null.
func (o Object) Has(names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return o.Get(n) == nil })
}

// Str returns the first of these members that is a non-empty string, in UTF-8.
func (o Object) Str(names ...string) string {
	for _, n := range names {
		if s := Str(o.Get(n)); s != "" {
			return skein.Text(s).UTF8()
		}
	}
	return ""
}

// Text returns a string, with lone surrogates, and false if there is none.
func (o Object) Text(name string) (string, bool) { return skein.Unquote(o.Get(name)) }

// Obj returns an object; nil if there is none.
func (o Object) Obj(name string) Object {
	if v := o.Get(name); v.Kind() == '{' {
		sub, _ := Parse(v) // it is part of an object that was parsed
		return sub
	}
	return nil
}

// List returns the elements of an array.
func (o Object) List(name string) []jsontext.Value { return Elements(o.Get(name)) }

// Yes reports whether a member is true.
func (o Object) Yes(name string) bool { return o.Get(name).Kind() == 't' }

// Count returns the first of these members that is a whole number and not negative.
func (o Object) Count(names ...string) int64 {
	for _, n := range names {
		if i, ok := count(o.Get(n)); ok {
			return i
		}
	}
	return 0
}

func count(v jsontext.Value) (int64, bool) {
	if v.Kind() != '0' {
		return 0, false
	}
	if i, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return i, i >= 0 && i < 1<<53
	}
	f, err := strconv.ParseFloat(string(v), 64) // 12.0, 1e3
	return int64(f), err == nil && f >= 0 && f < 1<<53 && f == float64(int64(f))
}

// Without returns the object as JSON, without the members of these names.
func (o Object) Without(names ...string) jsontext.Value {
	out := []byte{'{'}
	for _, m := range o {
		if slices.Contains(names, m.Name) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(skein.AppendQuoted(out, m.Name), ':'), m.Value...)
	}
	return append(out, '}')
}
