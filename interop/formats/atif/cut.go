package atif

import (
	"bytes"
	"slices"
	"strings"

	"github.com/skein-dev/skein/internal/loose"
)

// The arrays of a document that are read element by element.
const (
	steps    = "steps"
	embedded = "subagent_trajectories"
)

// cut splits a trajectory into its steps, the trajectories inside it, and the text
// before, between and after them.
func cut(data []byte) ([][]byte, bool) {
	plain := plain(data)
	first, whole := loose.Cut(plain, steps)
	second, _ := loose.Cut(plain, embedded)
	ends := slices.Concat(endsOf(first), endsOf(second))
	slices.Sort(ends)
	var pieces [][]byte
	was := 0
	for _, at := range slices.Compact(ends) {
		if at > was {
			pieces = append(pieces, data[was:at:at])
		}
		was = at
	}
	return pieces, whole
}

func endsOf(pieces [][]byte) (ends []int) {
	at := 0
	for _, p := range pieces {
		at += len(p)
		ends = append(ends, at)
	}
	return ends
}

// plain returns data with zeros in place of the numbers that only Python reads (NaN,
// Infinity), at unchanged offsets.
func plain(data []byte) []byte {
	if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
		return data
	}
	out := bytes.Clone(data)
	inside := false
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
		case c == 'N' && bytes.HasPrefix(out[i:], []byte("NaN")):
			copy(out[i:], "0.0")
		case c == 'I' && bytes.HasPrefix(out[i:], []byte("Infinity")):
			copy(out[i:], "0.000000")
		}
	}
	return out
}

// A section is the array whose elements the next pieces are; "" for none.
type section string

// after returns the section that begins at the end of text, which is not an element.
func after(text []byte) section {
	rest, opens := bytes.CutSuffix(bytes.TrimSpace(text), []byte("["))
	rest, named := bytes.CutSuffix(bytes.TrimSpace(rest), []byte(":"))
	if !opens || !named {
		return ""
	}
	rest = bytes.TrimSpace(rest)
	for _, name := range []string{steps, embedded} {
		if bytes.HasSuffix(rest, []byte(`"`+name+`"`)) {
			return section(name)
		}
	}
	return ""
}

// members returns the members in text, which is the beginning, the middle or the end
// of a document.
func members(text []byte) loose.Object {
	s := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(text)), "\xef\xbb\xbf"))
	if !strings.HasPrefix(s, "{") {
		s = "{" + strings.TrimLeft(s, "], \t\r\n")
	}
	o, _ := parse([]byte(s)) // if it is cut off, what can be read
	return o
}

// parse reads an object, including one that Python wrote.
func parse(text []byte) (loose.Object, error) {
	o, err := loose.Parse(text)
	if err == nil {
		return o, nil
	}
	vs, bad := loose.Values(text)
	if bad != nil || len(vs) != 1 {
		return o, err
	}
	return loose.Parse(vs[0])
}
