package redact

import (
	"cmp"
	"slices"
	"strings"
)

// A Kind says what a secret is: github-token, private-key, password. It has
// only a-z, 0-9 and hyphens.
type Kind string

// A Secret is the position of a secret in a text.
type Secret struct {
	Kind  Kind
	Start int // of its first byte
	End   int // after its last
}

// A Redactor finds secrets. It is safe for concurrent use.
type Redactor struct {
	words  *automaton
	rules  []secretRule          // by the number of their word in words
	tokens []tokenShape          // recognized by their beginning
	more   func(string) []Secret // of [Redactor.With]; may be nil
}

// A secretRule finds possible secrets at the places of its word.
type secretRule struct {
	word  string // in lower case
	find  findFunc
	vague bool // it goes by the name before the secret, so a rule that recognizes the secret itself knows its kind better
	given givenFunc
}

// A givenFunc reports whether the name with the word at name[at:end] makes the
// value of a member a secret, and of which kind.
type givenFunc func(name string, at, end int, value string) (Kind, bool)

// A findFunc returns the secrets at s[at:end], which is the rule's word in any
// case.
type findFunc func(s string, at, end int) []Secret

// New returns a Redactor. It takes about a millisecond, so make one when it is
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

// Find returns the positions of secrets in s, in order; they do not overlap.
func (r *Redactor) Find(s string) []Secret { return joined(r.matches(s)) }

// matches returns what the rules find in s, in the order in which their words
// end.
func (r *Redactor) matches(s string) (found []ruleMatch) {
	if r.more != nil {
		for _, got := range r.more(s) {
			if !marked(s, got.Start) {
				found = append(found, ruleMatch{got, true})
			}
		}
	}
	var reach []int // by rule number: where its last match ends
	state := 0
	for i := range len(s) {
		state = r.words.step(state, s[i])
		if !r.words.ends(state) {
			continue
		}
		for _, n := range r.words.at(state) {
			// Inside a long secret, the same rule would find the same end
			// again.
			if reach != nil && reach[n] > i+maxValue {
				continue
			}
			rule := &r.rules[n]
			at := i + 1 - len(rule.word)
			for _, got := range rule.find(s, at, i+1) {
				if marked(s, at) {
					break
				}
				if reach == nil {
					reach = make([]int, len(r.rules))
				}
				reach[n] = got.End
				found = append(found, ruleMatch{got, rule.vague})
			}
		}
	}
	return found
}

// A ruleMatch is a secret found by a rule.
type ruleMatch struct {
	Secret
	vague bool
}

// joined returns found in order, with overlapping secrets merged. A merged
// secret has the kind of the first one that is not vague.
func joined(found []ruleMatch) (all []Secret) {
	slices.SortStableFunc(found, func(a, b ruleMatch) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	vague := false
	for _, f := range found {
		last := len(all) - 1
		if last < 0 || f.Start >= all[last].End {
			all, vague = append(all, f.Secret), f.vague
			continue
		}
		if vague && !f.vague {
			all[last].Kind, vague = f.Kind, false
		}
		all[last].End = max(all[last].End, f.End)
	}
	return all
}

// marked reports whether s[at] is in the kind of a mark.
func marked(s string, at int) bool {
	from := at
	for from > 0 && at-from < maxName && (s[from-1] == '-' || 'a' <= s[from-1] && s[from-1] <= 'z' || '0' <= s[from-1] && s[from-1] <= '9') {
		from--
	}
	return strings.HasSuffix(s[:from], markHead)
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

// without returns s with found replaced by marks.
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

// Mark returns the text that replaces a secret of this kind.
func (k Kind) Mark() string { return markHead + string(k) + "]" }

// markHead is the beginning of a mark.
const markHead = "[redacted:"

// Start returns the beginning of a longer text without secrets, including a
// secret that is cut off at its end, if it is recognized by its beginning.
func (r *Redactor) Start(s string) string {
	s = r.Text(s)
	last := strings.LastIndexAny(s, " \t\n\"'=:") + 1
	text := s[last:]
	for i := range r.tokens {
		t := &r.tokens[i]
		if at := strings.Index(text, t.prefix); len(t.prefix) > 3 && at >= 0 && begins(text, at) {
			return s[:last+at] + t.kind.Mark()
		}
	}
	return s
}
