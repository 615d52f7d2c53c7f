package search

import (
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// A QueryItem is one of the words, phrases and fields that a person typed as a query.
type QueryItem struct {
	Text  string     // as it was typed
	Field string     // such as agent; "" for a word or phrase
	Value string     // of the field
	Term  skein.Term // without a Field: what is looked for; no Words if it has no letter or digit
	Since skein.Time // of the field since
	Until skein.Time // of the field until
	Err   error      // what is wrong with it; nil if nothing is
}

// Items returns what [ParseAt] reads of s, one by one, also what it refuses.
func Items(s string, now time.Time) (all []QueryItem) {
	p := queryParser{rest: plainQuotes(s[:min(len(s), maxQuery)]), now: now}
	for p.space(); p.rest != ""; p.space() {
		before, terms, given := p.rest, len(p.query.Terms), len(p.given)
		i := QueryItem{Err: p.item()}
		i.Text = strings.TrimSpace(before[:len(before)-len(p.rest)])
		if len(p.query.Terms) > terms {
			i.Term = p.query.Terms[terms]
		}
		if len(p.given) > given || i.Err != nil {
			name, value, _ := strings.Cut(i.Text, ":")
			i.Field, i.Value = strings.TrimPrefix(name, "-"), strings.Trim(value, `"`)
		}
		switch i.Field {
		case "since":
			i.Since = p.query.Since
		case "until":
			i.Until = p.query.Until
		}
		all = append(all, i)
	}
	return all
}

// plainQuotes returns s with the quotes that keyboards of many languages have as the
// plain ones.
func plainQuotes(s string) string {
	return strings.NewReplacer("“", `"`, "”", `"`, "„", `"`).Replace(s)
}
