package search

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// A Matcher determines which events match a [Query]. It defines what a query means:
// an index may find more, by the stem of a word, but not less. It is safe for use by
// many goroutines, unless it is [Matcher.Within] a budget.
type Matcher struct {
	query   skein.Query
	terms   []matchTerm
	phrases phrases  // of all terms
	text    *pattern // of Substring or Regex; nil if there is none
	budget  *Budget  // nil for no limit
}

// tokenWork is the work of looking for words in one byte.
const tokenWork = 30 * time.Nanosecond

type matchTerm struct {
	ways  [][]int // phrases of the matcher: the term occurs if all phrases of one way do
	not   bool
	typed *regexp.Regexp // finds a word of it inside another word, for Find
}

// NewMatcher returns a matcher for q.
//
// The error wraps [ErrInvalid] if q.Regex is not a regular expression, or if it or
// q.Substring is too long.
func NewMatcher(q skein.Query) (*Matcher, error) {
	m := &Matcher{query: q}
	if q.Substring != "" || q.Regex != "" {
		var err error
		m.text, err = newPattern(&q)
		return m, err
	}
	for _, t := range q.Terms {
		words := wordsOf(t)
		for i, w := range words {
			words[i] = literal(w)
		}
		typed, err := regexp.Compile("(?i)" + strings.Join(words, "|"))
		if err != nil {
			return nil, skein.Invalidf("term %q: %v", t.Words, err)
		}
		term := matchTerm{not: t.Not, typed: typed}
		for _, way := range Phrases(t) {
			var at []int
			for _, p := range way {
				at = append(at, len(m.phrases))
				m.phrases = append(m.phrases, p)
			}
			term.ways = append(term.ways, at)
		}
		m.terms = append(m.terms, term)
	}
	return m, nil
}

// Within returns a matcher whose work is taken from b. When b is spent, which
// [Budget.Spent] reports, texts count as not matching.
func (m *Matcher) Within(b *Budget) *Matcher {
	within := *m
	within.budget = b
	return &within
}

// literal returns an expression that matches only text. Bytes that are not UTF-8
// count as U+FFFD, as in [skein.Facts].
func literal(text string) string {
	return regexp.QuoteMeta(strings.ToValidUTF8(text, "\ufffd"))
}

// Matches reports whether the event e with the facts f, of the session s,
// matches. It ignores the query's Session, because a fork shows events of its
// parent, and Each, Limit and Deadline.
func (m *Matcher) Matches(s *skein.Session, e skein.Event, f *skein.Facts) bool {
	q := &m.query
	if Empty(q) || f.Text == "" && len(f.Tools) == 0 && len(f.Paths) == 0 && !f.Failed {
		return false
	}
	agent := s.Agent
	if f.Message != nil {
		agent = cmp.Or(f.Message.Agent, agent)
	}
	switch {
	case q.User != "" && q.User != s.User,
		q.Origin != "" && (s.Origin == nil || s.Origin.Format != q.Origin),
		!InProject(q, s),
		q.Agent != "" && agent != q.Agent,
		q.Role != "" && f.Role != q.Role,
		q.Tool != "" && !slices.ContainsFunc(f.Tools, func(t string) bool { return sameASCII(t, q.Tool) }),
		q.Failed && !f.Failed,
		q.Since != 0 && e.Time < q.Since,
		q.Until != 0 && (e.Time >= q.Until || e.Time == 0):
		return false
	}
	within := func(path string) bool { return strings.Contains(path, q.Path) }
	if q.Path != "" && !slices.ContainsFunc(f.Paths, within) {
		return false
	}
	return m.MatchesText(f.Text)
}

// sameASCII reports whether a and b are equal if the case of A to Z is ignored,
// like SQLite's lower.
func sameASCII(a, b string) bool {
	return len(a) == len(b) && lowerASCII(a) == lowerASCII(b)
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// InProject reports whether s is in the project or the repository that q asks for.
// q.Project names a project by its path and a repository as in [skein.Checkout], or
// either by the end of it after a slash or backslash.
func InProject(q *skein.Query, s *skein.Session) bool {
	return q.Project == "" && q.Repository == "" ||
		q.Project != "" && (endsWith(s.Project, q.Project) || endsWith(s.Checkout.Repository, q.Project)) ||
		q.Repository != "" && q.Repository == s.Checkout.Repository
}

func endsWith(path, want string) bool {
	before, ok := strings.CutSuffix(path, want)
	return ok && (before == "" || strings.HasSuffix(before, "/") || strings.HasSuffix(before, `\`))
}

// MatchesText reports whether the words of the query occur in text, and none of
// those that must not occur.
func (m *Matcher) MatchesText(text string) bool {
	if m.text != nil {
		return m.text.matches(text, m.budget)
	}
	if m.budget != nil {
		m.budget.Spend(time.Duration(len(text)) * tokenWork)
	}
	seen, missing := make([]bool, len(m.phrases)), len(m.phrases)
	see := func(i int, _ ByteRange) bool {
		if !seen[i] {
			seen[i] = true
			missing--
		}
		return missing > 0
	}
	for p := range Passages(text) {
		if m.phrases.in(text[p.Start:p.End], see); missing > 0 {
			m.phrases.in(Extra(text[p.Start:p.End]), see)
		}
		if missing == 0 {
			break
		}
	}
	for i := range m.terms {
		if t := &m.terms[i]; t.in(seen) == t.not {
			return false
		}
	}
	return true
}

// in reports whether the term occurs, given the phrases that were seen.
func (t *matchTerm) in(seen []bool) bool {
	return slices.ContainsFunc(t.ways, func(way []int) bool {
		return !slices.ContainsFunc(way, func(i int) bool { return !seen[i] })
	})
}

// A wordToken is a word of a text, folded, and its position.
type wordToken struct {
	word string
	at   ByteRange
}

type phrases []Phrase

// in calls told for each occurrence in text of one of the phrases, in the order of
// their last words, until told returns false. It keeps only as many words as the
// longest phrase has, because all words of a long text take several times its bytes.
func (ps phrases) in(text string, told func(i int, at ByteRange) bool) {
	longest := 0
	for _, p := range ps {
		longest = max(longest, len(p.Words))
	}
	if longest == 0 {
		return
	}
	last := make([]wordToken, 0, longest)
	for at, word := range Words(text) {
		if len(last) == longest {
			last = last[:copy(last, last[1:])]
		}
		last = append(last, wordToken{word, at})
		for i, p := range ps {
			first := len(last) - len(p.Words)
			if first >= 0 && first < len(last) && p.at(last[first:]) && !told(i, ByteRange{last[first].at.Start, at.End}) {
				return
			}
		}
	}
}

func (p Phrase) at(words []wordToken) bool {
	for i, w := range p.Words {
		if words[i].word == w || p.Prefix && i == len(p.Words)-1 && strings.HasPrefix(words[i].word, w) {
			continue
		}
		return false
	}
	return true
}
