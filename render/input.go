package render

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/skein-dev/skein"
)

// A field is a member of a tool's input.
type field struct {
	name  string // "" if the input is not an object
	value string // cleaned
	json  bool   // value is JSON
}

// long reports whether f needs a block of its own.
func (f field) long() bool {
	return f.json && f.value != "" || len(f.value) > 100 || strings.Contains(f.value, "\n")
}

// fields returns the input of a tool for people: the members of an object in
// order, strings as their text, nested values as indented JSON.
func fields(input json.RawMessage) []field {
	if len(input) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(input))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return []field{newField("", input)}
	}
	var fs []field
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			return []field{{value: Clean(string(input))}}
		}
		s, _ := name.(string)
		fs = append(fs, newField(Line(s), value))
	}
	return fs
}

func newField(name string, v json.RawMessage) field {
	if s, ok := skein.Unquote(v); ok {
		return field{name: name, value: Clean(skein.Text(s).UTF8())}
	}
	if v[0] != '{' && v[0] != '[' {
		return field{name: name, value: Clean(string(v))}
	}
	var b bytes.Buffer
	if json.Indent(&b, v, "", "  ") != nil {
		return field{name: name, value: Clean(string(v))}
	}
	return field{name: name, value: Clean(b.String()), json: true}
}

// gist returns the first short text of fields, such as a command or a path, on
// one line of at most 80 characters.
func gist(fs []field) string {
	for _, f := range fs {
		if f.json {
			f.value = commandLine(f.value)
		}
		if f.value == "" {
			continue
		}
		r := []rune(Line(f.value[:min(len(f.value), 400)]))
		if len(r) > 80 {
			return string(r[:79]) + "…"
		}
		return string(r)
	}
	return ""
}

// commandLine returns the words of a command given as a JSON list, or the
// command passed to a shell; "" if the JSON is something else.
func commandLine(list string) string {
	var words []string
	if json.Unmarshal([]byte(list), &words) != nil {
		return ""
	}
	if len(words) == 3 && (words[1] == "-c" || words[1] == "-lc") {
		return words[2]
	}
	return strings.Join(words, " ")
}
