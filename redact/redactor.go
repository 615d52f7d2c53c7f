package redact

import (
	"strings"
)

// A Kind says what a secret is: github-token, private-key, password. It has
// only a-z, 0-9 and hyphens.
type Kind string

// A Secret is where one stands in a text.
type Secret struct {
	Kind  Kind
	Start int // of its first byte
	End   int // after its last
}

// A Redactor finds secrets. Many goroutines may use one.
type Redactor struct {
	words  *automaton
	rules  []rule  // by the number of their word in words
	tokens []token // that are known by how they begin
}

// A rule says what may be a secret where its word stands.
type rule struct {
	word  string // in lower case
	find  finder
	vague bool // it goes by the name before the secret: one that knows the secret itself says better what it is
}

// A finder looks for a secret at s[at:end], where its word stands in some case.
type finder func(s string, at, end int) (Secret, bool)

// New returns a Redactor. It takes about a millisecond: make one when it is
// needed, and keep it.
func New() *Redactor {
	r := &Redactor{tokens: services()}
	r.rules = append(r.rules, serviceRules(r.tokens)...)
	r.rules = append(r.rules, keyRules()...)
	r.rules = append(r.rules, assignRules()...)
	r.rules = append(r.rules, headerRules()...)
	r.rules = append(r.rules, urlRules()...)
	words := make([]string, len(r.rules))
	for i, rule := range r.rules {
		words[i] = rule.word
	}
	r.words = newAutomaton(words)
	return r
}

// Find returns where secrets stand in s, in order; they do not overlap.
func (r *Redactor) Find(s string) (found []Secret) {
	state, done, vague := 0, 0, false
	for i := range len(s) {
		state = r.words.step(state, s[i])
		if !r.words.ends(state) || i < done && !vague {
			continue
		}
		for _, n := range r.words.at(state) {
			rule := &r.rules[n]
			got, ok := rule.find(s, i+1-len(rule.word), i+1)
			if !ok {
				continue
			}
			if last := len(found) - 1; vague && !rule.vague && got.Start == found[last].Start {
				found = found[:last]
			} else if got.Start < done {
				continue
			}
			found, done, vague = append(found, got), max(got.End, done), rule.vague
			break
		}
	}
	return found
}

// Has reports whether there is a secret in s.
func (r *Redactor) Has(s string) bool { return len(r.Find(s)) > 0 }

// Text returns s with a mark in place of every secret.
func (r *Redactor) Text(s string) string {
	if found := r.Find(s); len(found) > 0 {
		return without(s, found)
	}
	return s
}

// without returns s with marks in place of found.
func without(s string, found []Secret) string {
	var b strings.Builder
	from := 0
	for _, f := range found {
		b.WriteString(s[from:f.Start])
		b.WriteString(f.Kind.Mark())
		from = f.End
	}
	b.WriteString(s[from:])
	return b.String()
}

// Mark returns what stands in place of a secret of that kind.
func (k Kind) Mark() string { return "[redacted:" + string(k) + "]" }

// Start returns the beginning of a longer text without secrets: also one that
// is cut off at its end, if it is one that is known by how it begins.
func (r *Redactor) Start(s string) string {
	s = r.Text(s)
	last := strings.LastIndexAny(s, " \t\n\"'=:") + 1
	text := strings.TrimSuffix(s[last:], "…")
	for i := range r.tokens {
		if t := &r.tokens[i]; len(t.prefix) > 3 && strings.HasPrefix(text, t.prefix) {
			return s[:last] + t.kind.Mark()
		}
	}
	return s
}
