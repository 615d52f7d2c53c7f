package amplifier

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// options allow what other programs write: duplicate names, lone surrogates.
func options() json.Options {
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// object is the members of a JSON object in order. A member that is missing, or not
// of the requested type, is the zero value: a later version may use it differently,
// and the record is kept whole anyway.
type object []member

type member struct {
	name  string
	value jsontext.Value
}

var errNoObject = errors.New("no object")

// parse reads the object that b begins with.
//
// The error says what b is instead, in words for users.
func parse(b []byte) (object, error) {
	o, _, err := parseFirst(b)
	return o, err
}

// parseFirst is parse, and returns what follows the object.
func parseFirst(b []byte) (o object, rest []byte, err error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(b), options())
	t, err := dec.ReadToken()
	if err != nil {
		return nil, nil, plain(err)
	}
	if t.Kind() != '{' {
		return nil, nil, errNoObject
	}
	o = make(object, 0, 8)
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return o, nil, plain(err)
		}
		m := member{name: name.String()}
		v, err := dec.ReadValue()
		if err != nil {
			return o, nil, plain(err)
		}
		end := dec.InputOffset() // the result of ReadValue does not stay valid
		m.value = b[end-int64(len(v)) : end : end]
		o = append(o, m)
	}
	if _, err := dec.ReadToken(); err != nil {
		return o, nil, plain(err)
	}
	return o, b[dec.InputOffset():], nil
}

// plain returns err in words for users.
func plain(err error) error {
	return fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "jsontext: "))
}

// get returns the last member of this name, as Python does, or nil.
func (o object) get(name string) jsontext.Value {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].name == name {
			return o[i].value
		}
	}
	return nil
}

// str returns a string of readable text.
func (o object) str(name string) string {
	s, _ := skein.Unquote(o.get(name))
	return skein.Text(s).UTF8()
}

// text returns a string that keeps lone surrogates, and false if there is none.
func (o object) text(name string) (string, bool) { return skein.Unquote(o.get(name)) }

// obj returns an object.
func (o object) obj(name string) object {
	if v := o.get(name); v.Kind() == '{' {
		sub, _ := parse(v) // it is part of an object that was read
		return sub
	}
	return nil
}

// list returns the elements of an array.
func (o object) list(name string) []jsontext.Value { return elements(o.get(name)) }

func elements(v jsontext.Value) (all []jsontext.Value) {
	if v.Kind() == '[' {
		_ = json.Unmarshal(v, &all, options()) // it is part of a value that was read
	}
	return all
}

// yes reports whether a member is true.
func (o object) yes(name string) bool { return o.get(name).Kind() == 't' }

// count returns the first member of these names that is a whole number and not
// negative.
func (o object) count(names ...string) int64 {
	for _, n := range names {
		if i, err := strconv.ParseInt(string(o.get(n)), 10, 64); err == nil && i >= 0 && i < 1<<53 {
			return i
		}
	}
	return 0
}

// without returns the object as JSON, less the members of these names.
func (o object) without(names ...string) jsontext.Value {
	size := 2
	for _, m := range o {
		size += len(m.name) + len(m.value) + 4
	}
	out := append(make([]byte, 0, size), '{')
next:
	for _, m := range o {
		for _, n := range names {
			if m.name == n {
				continue next
			}
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(skein.AppendQuoted(out, m.name), ':'), m.value...)
	}
	return append(out, '}')
}

// values splits a line into its JSON values: one, unless a program appended to a line
// that another had not ended. Python's NaN and Infinity, which are not JSON, are read
// as strings.
//
// The error says why there are no more of them.
func values(line []byte) (all [][]byte, err error) {
	found, err := loose.Values(line)
	for _, v := range found {
		all = append(all, v)
	}
	return all, err
}
