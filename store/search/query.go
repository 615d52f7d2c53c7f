package search

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/skein-dev/skein"
)

// Limits of what a person may type as a query.
const (
	maxQuery = 4096 // bytes
	maxTerms = 64
)

// Parse parses what a person typed to search:
//
//	fork pointer          both words
//	"fork pointer"        the phrase
//	snap*  "to the sna"*  words that begin like this
//	-draft -"first draft" without it
//	tool:bash             calls and results of a tool
//	status:error          errors only
//	file:store.go         messages whose tools name a path that contains this
//	role:user             user, assistant, tool, system or steer
//	agent:codex           an agent, by its name in the session
//	project:api           a project: its path, or the end of it
//	session:NAME          left in Query.Session as typed, for the caller to [lookup.Resolve]
//	since:7d until:2026-11-21
//	rewound:yes           also what was taken back
//
// Times are 30m, 2h, 7d, 3w before now, today, yesterday, a date, a date and
// time (2026-11-21T14:30), in the local zone, or RFC 3339. until: with a date
// includes that day. A value with spaces needs quotes: project:"my app".
//
// Nothing else is syntax. A word is a run of letters and digits; a term with
// other characters inside, such as foo-bar, foo_bar or a/b.go, is a phrase of
// its words; what has no letter or digit is left out; a quote that is not
// closed ends with the text; an unknown name before a colon is a word. Two
// hyphens do not exclude: --all is the word all.
//
// The error wraps [ErrInvalid] and can be shown to the person: a value that a
// field cannot have, a field given twice, only words to leave out, more than
// 4096 bytes or 64 terms.
func Parse(s string) (skein.Query, error) { return ParseAt(s, time.Now()) }

// ParseAt is [Parse] at the time now, in now's zone. Errors as [Parse].
func ParseAt(s string, now time.Time) (skein.Query, error) {
	if len(s) > maxQuery {
		return skein.Query{}, skein.Invalidf("query of %d bytes: at most %d are allowed", len(s), maxQuery)
	}
	p := queryParser{rest: plainQuotes(s), now: now}
	for p.space(); p.rest != ""; p.space() {
		if err := p.item(); err != nil {
			return skein.Query{}, err
		}
	}
	q := p.query
	if len(q.Terms) > maxTerms {
		return skein.Query{}, skein.Invalidf("query of %d terms: at most %d are allowed", len(q.Terms), maxTerms)
	}
	found := func(t skein.Term) bool { return !t.Not }
	if len(q.Terms) > 0 && !slices.ContainsFunc(q.Terms, found) && !narrowed(&q) {
		return skein.Query{}, skein.Invalidf("query %q: only says what to leave out", s)
	}
	return q, nil
}

// Empty reports whether q has no words and no conditions, so that it matches nothing.
func Empty(q *skein.Query) bool {
	return len(q.Terms) == 0 && q.Substring == "" && q.Regex == "" && !narrowed(q)
}

// narrowed reports whether q has a condition that is enough without words.
func narrowed(q *skein.Query) bool {
	return q.Session != "" || q.Role != "" || q.Agent != "" || q.Project != "" || q.Repository != "" || q.Origin != "" ||
		q.Tool != "" || q.Path != "" || q.Failed || q.Since != 0 || q.Until != 0
}

type queryParser struct {
	rest  string
	query skein.Query
	given []string // fields that were set so far
	now   time.Time
}

func (p *queryParser) space() { p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace) }

// item parses one term or field.
func (p *queryParser) item() error {
	not := false
	if after, ok := strings.CutPrefix(p.rest, "-"); ok {
		p.rest = after
		not = after != "" && after[0] != '-' && !unicode.IsSpace(rune(after[0]))
	}
	if name, after, ok := strings.Cut(p.rest, ":"); ok && slices.Contains(queryFields, name) {
		p.rest = after
		value, _ := p.value()
		if strings.TrimSpace(value) == "" {
			p.term(skein.Term{Words: []string{name}, Not: not})
			return nil
		}
		if not {
			return skein.Invalidf("-%s:%s: only words and phrases can be left out", name, value)
		}
		return p.field(name, value)
	}
	value, quoted := p.value()
	prefix := !quoted && strings.HasSuffix(value, "*")
	if quoted && strings.HasPrefix(p.rest, "*") {
		prefix, p.rest = true, p.rest[1:]
	}
	p.term(skein.Term{Words: split(value), Prefix: prefix, Not: not})
	return nil
}

func (p *queryParser) term(t skein.Term) {
	if len(t.Words) > 0 {
		p.query.Terms = append(p.query.Terms, t)
	}
}

// value reads up to the next space, or between quotes.
func (p *queryParser) value() (value string, quoted bool) {
	if after, ok := strings.CutPrefix(p.rest, `"`); ok {
		value, p.rest, _ = strings.Cut(after, `"`)
		return value, true
	}
	end := strings.IndexFunc(p.rest, unicode.IsSpace)
	if end < 0 {
		end = len(p.rest)
	}
	value, p.rest = p.rest[:end], p.rest[end:]
	return value, false
}

var queryFields = []string{"tool", "status", "file", "role", "agent", "project", "session", "since", "until", "rewound"}

func (p *queryParser) field(name, value string) (err error) {
	if slices.Contains(p.given, name) {
		return skein.Invalidf("%s:%s: %s: is given more than once", name, value, name)
	}
	p.given = append(p.given, name)
	q := &p.query
	switch name {
	case "tool":
		q.Tool = value
	case "file":
		q.Path = value
	case "agent":
		q.Agent = value
	case "project":
		q.Project = value
	case "session":
		q.Session = skein.SessionID(value)
	case "status":
		if q.Failed = value == "error"; !q.Failed {
			return skein.Invalidf("status:%s: the status to search for is error; put it in quotes to look for the words", value)
		}
	case "role":
		q.Role = skein.Role(value)
		if !slices.Contains([]skein.Role{skein.RoleUser, skein.RoleAssistant, skein.RoleTool, skein.RoleSystem, skein.RoleSteer}, q.Role) {
			return skein.Invalidf("role:%s: roles are user, assistant, tool, system and steer", value)
		}
	case "rewound":
		if q.Rewound = value == "yes"; !q.Rewound && value != "no" {
			return skein.Invalidf("rewound:%s: want rewound:yes, which includes messages that were taken back; put it in quotes to look for the words", value)
		}
	case "since":
		q.Since, err = ParseSince(value, p.now)
	case "until":
		q.Until, err = ParseUntil(value, p.now)
	}
	return err
}
