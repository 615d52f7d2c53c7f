package acptest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// A MessageGenerator makes messages of an editor that the protocol's schema allows, and
// ones that it does not allow.
type MessageGenerator struct {
	*rand.Rand
	Words map[string][]string // texts for members with these names, besides others
	raw   map[string]any      // the definitions
	names []string            // of what an editor sends
	s     *MessageSchema
}

// Generate returns a generator of messages.
func (s *MessageSchema) Generate(seed uint64, words map[string][]string) *MessageGenerator {
	g := &MessageGenerator{Rand: rand.New(rand.NewPCG(seed, 0)), Words: words, raw: s.raw, s: s}
	for key := range s.named {
		if side, rest, _ := strings.Cut(key, " "); side == "agent" && !strings.HasSuffix(rest, " Response") || side == "protocol" {
			g.names = append(g.names, key)
		}
	}
	slices.Sort(g.names)
	return g
}

// Methods returns how many kinds of message there are.
func (g *MessageGenerator) Methods() int { return len(g.names) }

// Message returns message n, with this ID if it is a request; method is "" for a
// notification. Every other one is broken.
func (g *MessageGenerator) Message(n int, id string) (line, method string) {
	key := strings.Split(g.names[n%len(g.names)], " ")
	params := g.value(map[string]any{"$ref": "#/$defs/" + g.s.named[g.names[n%len(g.names)]]}, "", 0)
	if n/len(g.names)%2 == 1 {
		params = g.spoil(params)
	}
	m := map[string]any{"jsonrpc": "2.0", "method": key[1], "params": params}
	if key[2] == "Request" {
		m["id"], method = id, key[1]
	}
	return encode(m), method
}

// Answer returns what an editor may answer to a request; one in three is broken.
func (g *MessageGenerator) Answer(method string) json.RawMessage {
	v := g.value(map[string]any{"$ref": "#/$defs/" + g.s.named[defKey("client", method, "Response")]}, "", 0)
	if g.IntN(3) == 0 {
		v = g.spoil(v)
	}
	return json.RawMessage(encode(v))
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// maxNested is how deep a value is nested before only what must be there is.
const maxNested = 6

// value returns a value that a schema allows. name is that of the member.
func (g *MessageGenerator) value(schema any, name string, depth int) any {
	s, ok := schema.(map[string]any)
	if !ok {
		return g.any()
	}
	if ref, ok := s["$ref"].(string); ok {
		return g.value(g.raw[strings.TrimPrefix(ref, "#/$defs/")], name, depth)
	}
	if v, ok := s["const"]; ok {
		return v
	}
	if all, ok := s["enum"].([]any); ok {
		return all[g.IntN(len(all))]
	}
	var made any
	for _, word := range []string{"oneOf", "anyOf"} {
		if all, ok := s[word].([]any); ok {
			made = g.value(all[g.IntN(len(all))], name, depth)
		}
	}
	if all, ok := s["allOf"].([]any); ok {
		for _, one := range all {
			made = merged(made, g.value(one, name, depth))
		}
	}
	if _, ok := s["properties"].(map[string]any); !ok && made != nil {
		return made
	}
	return merged(made, g.typed(s, name, depth))
}

// merged returns an object with the members of both, or b if they are no objects.
func merged(a, b any) any {
	x, ok := a.(map[string]any)
	if y, also := b.(map[string]any); ok && also {
		x = maps.Clone(x)
		maps.Copy(x, y)
		return x
	}
	return b
}

// typed returns a value of the type that a schema names.
func (g *MessageGenerator) typed(s map[string]any, name string, depth int) any {
	kind, _ := s["type"].(string) //nolint:errcheck // "" if there are several
	if all, ok := s["type"].([]any); ok {
		kind, _ = all[g.IntN(len(all))].(string) //nolint:errcheck // they are texts
	}
	switch kind {
	case "null":
		return nil
	case "boolean":
		return g.IntN(2) == 0
	case "integer", "number":
		return g.IntN(70000)
	case "string":
		return g.text(name)
	case "array":
		all := []any{}
		for range g.IntN(3) {
			if depth < maxNested {
				all = append(all, g.value(s["items"], name, depth+1))
			}
		}
		return all
	}
	return g.object(s, depth)
}

func (g *MessageGenerator) object(s map[string]any, depth int) any {
	o := map[string]any{}
	members, _ := s["properties"].(map[string]any) //nolint:errcheck // nil if it has none
	must, _ := s["required"].([]any)               //nolint:errcheck // as above
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if slices.Contains(must, any(name)) || depth < maxNested && g.IntN(2) == 0 {
			o[name] = g.value(members[name], name, depth+1)
		}
	}
	return o
}

func (g *MessageGenerator) text(name string) string {
	all := append([]string{"", "word", "é\u0000\ufffd", "/", strings.Repeat("long ", 300)}, g.Words[name]...)
	if known := g.Words[name]; len(known) > 0 && g.IntN(4) > 0 {
		all = known
	}
	return all[g.IntN(len(all))]
}

func (g *MessageGenerator) any() any {
	return []any{nil, true, -1, 1e300, "text", []any{}, map[string]any{"a": []any{nil}}}[g.IntN(7)]
}

// spoil changes a value somewhere.
func (g *MessageGenerator) spoil(v any) any {
	switch x := v.(type) {
	case map[string]any:
		if len(x) == 0 || g.IntN(4) == 0 {
			return g.any()
		}
		x = maps.Clone(x)
		name := slices.Sorted(maps.Keys(x))[g.IntN(len(x))]
		if g.IntN(3) == 0 {
			delete(x, name)
		} else {
			x[name] = g.spoil(x[name])
		}
		return x
	case []any:
		if len(x) == 0 || g.IntN(4) == 0 {
			return g.any()
		}
		x = slices.Clone(x)
		i := g.IntN(len(x))
		x[i] = g.spoil(x[i])
		return x
	}
	for {
		if other := g.any(); fmt.Sprint(other) != fmt.Sprint(v) {
			return other
		}
	}
}
