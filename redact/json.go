package redact

import (
	"bytes"
	"encoding/json"

	"github.com/skein-dev/skein"
)

// JSON returns the JSON text b with a mark in place of every secret in its
// strings, including the values of members such as password. The result is
// valid JSON, and bytes without secrets are unchanged; b itself is not
// modified. If b is not valid JSON, it is redacted as text.
func (r *Redactor) JSON(b []byte) []byte {
	if !json.Valid(b) {
		return []byte(r.Text(string(b)))
	}
	w := r.walk(b)
	if w.out == nil {
		return b
	}
	return append(w.out, b[w.done:]...)
}

// A KnownSecret is a secret's own text.
type KnownSecret struct {
	Kind Kind
	Text string
}

// Values returns the secrets that [Redactor.JSON] masks in b, in order.
func (r *Redactor) Values(b []byte) (all []KnownSecret) {
	if json.Valid(b) {
		return r.walk(b).found
	}
	s := string(b)
	for _, f := range r.Find(s) {
		all = append(all, KnownSecret{f.Kind, s[f.Start:f.End]})
	}
	return all
}

func (r *Redactor) walk(b []byte) *jsonWalk {
	w := &jsonWalk{Redactor: r, in: b}
	for at := 0; at < len(b); {
		end := tokenEnd(b, at)
		if b[at] == '"' {
			w.text(at, end)
		} else {
			w.between(b[at:end])
		}
		at = end
	}
	return w
}

// A jsonWalk visits the strings of a JSON text and the text between them.
type jsonWalk struct {
	*Redactor
	in   []byte
	out  []byte // nil while no secret was found
	done int    // how much of in was copied to out
	last string // previous string
	name string // of the member whose value is next; "" if there is none

	found []KnownSecret
}

// between looks at the text between two strings: if it is only a colon, the
// first string is the name of the second.
func (w *jsonWalk) between(b []byte) {
	if b = bytes.TrimSpace(b); len(b) == 1 && b[0] == ':' {
		w.name = w.last
	}
}

// text handles the string in[at:end].
func (w *jsonWalk) text(at, end int) {
	raw := w.in[at:end]
	s, _ := skein.Unquote(raw)
	name := w.name
	w.last, w.name = s, ""
	found := w.secrets(name, s)
	if len(found) == 0 {
		return
	}
	for _, f := range found {
		w.found = append(w.found, KnownSecret{f.Kind, s[f.Start:f.End]})
	}
	w.out = append(w.out, w.in[w.done:at]...)
	w.out = skein.AppendQuoted(w.out, without(s, found))
	w.done = end
}

// secrets returns the positions of secrets in s, the value of a member of that
// name, if any.
func (w *jsonWalk) secrets(name, s string) []Secret {
	found := w.matches(s)
	header, state := false, 0
	for i := range len(name) {
		if state = w.words.step(state, name[i]); !w.words.ends(state) {
			continue
		}
		for _, n := range w.words.at(state) {
			rule := &w.rules[n]
			if rule.given == nil {
				header = true
			} else if kind, ok := rule.given(name, i+1-len(rule.word), i+1, s); ok {
				found = append(found, ruleMatch{Secret{kind, 0, len(s)}, true})
			}
		}
	}
	if header {
		found = append(found, w.header(name+": ", s)...)
	}
	return joined(found)
}

// header returns what is found in s after head, except by rules that go only by
// the name.
func (w *jsonWalk) header(head, s string) (found []ruleMatch) {
	for _, m := range w.matches(head + s) {
		if m.Start -= len(head); m.Start >= 0 && !m.vague {
			m.End -= len(head)
			found = append(found, m)
		}
	}
	return found
}

// tokenEnd returns the end of the string, or of the text between strings, that
// begins at i in the valid JSON b.
func tokenEnd(b []byte, i int) int {
	if b[i] != '"' {
		if n := bytes.IndexByte(b[i:], '"'); n >= 0 {
			return i + n
		}
		return len(b)
	}
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}
