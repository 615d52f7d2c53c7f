package search

import (
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// Limits of substrings and regular expressions: anybody who may read may send
// one, and it is matched against every text.
const (
	maxPattern = maxQuery // bytes
	maxProgram = 5000     // instructions that it is compiled to

	byteWork = 40 * time.Nanosecond // work for one byte
	stepWork = 5 * time.Nanosecond  // and for each instruction, usually
	mostWork = 20 * time.Nanosecond // and in large programs: repetitions such as (a?){900} do all of them for each byte
	large    = 500                  // instructions of a large program
	blind    = 5 * time.Millisecond // the longest work that is not interrupted
	gulp     = 1 << 10              // bytes that are read between two checks of the budget
)

// A pattern is a regular expression whose work is limited.
type pattern struct {
	*regexp.Regexp
	begins string        // what every match begins with
	each   time.Duration // work for each byte
}

// newPattern compiles the substring or regular expression of q.
func newPattern(q *skein.Query) (*pattern, error) {
	what, expr := "regular expression", q.Regex
	if q.Substring != "" {
		what, expr = "substring", q.Substring
	}
	if len(expr) > maxPattern {
		return nil, skein.Invalidf("%s of %d bytes: at most %d are allowed", what, len(expr), maxPattern)
	}
	p := &pattern{each: byteWork}
	if q.Substring != "" {
		expr = "(?i)" + literal(expr)
	} else {
		n, err := instructions(expr)
		if err != nil {
			return nil, err
		}
		step := stepWork
		if n > large {
			step = mostWork
		}
		p.each = max(p.each, time.Duration(n)*step)
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, malformed(expr, err)
	}
	p.Regexp = re
	p.begins, _ = re.LiteralPrefix()
	return p, nil
}

// malformed returns an error that says what is wrong with a regular expression.
func malformed(expr string, err error) error {
	return skein.Invalidf("regular expression %q: %s", expr, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
}

// instructions returns how many instructions a regular expression is compiled to.
func instructions(expr string) (int, error) {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return 0, malformed(expr, err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, malformed(expr, err)
	}
	if n := len(program.Inst); n > maxProgram {
		return 0, skein.Invalidf("regular expression %q: it is too long, written out it has %d steps, and at most %d are allowed; repeat less", expr, n, maxProgram)
	}
	return len(program.Inst), nil
}

// matches reports whether text matches. If b is spent first, it returns false; b may
// be nil.
func (p *pattern) matches(text string, b *Budget) bool {
	if b == nil {
		return p.MatchString(text)
	}
	if !strings.Contains(text, p.begins) {
		b.Spend(time.Duration(len(text)))
		return false
	}
	if work := p.work(text); work <= blind {
		b.Spend(work)
		return p.MatchString(text)
	}
	r := &spender{text: text, each: p.each, budget: b}
	return p.MatchReader(r) && !r.cut
}

// find returns the ranges that match; only the first if the text is long.
func (p *pattern) find(text string, b *Budget) [][]int {
	if b == nil {
		return p.FindAllStringIndex(text, maxStretches)
	}
	if work := p.work(text); work <= blind {
		b.Spend(work)
		return p.FindAllStringIndex(text, maxStretches)
	}
	r := &spender{text: text, each: p.each, budget: b}
	if at := p.FindReaderIndex(r); at != nil && !r.cut {
		return [][]int{at}
	}
	return nil
}

func (p *pattern) work(text string) time.Duration { return time.Duration(len(text)) * p.each }

// A spender reads a text and spends the budget for it. A match cannot be
// interrupted, but it ends when the text does.
type spender struct {
	text   string
	at     int
	each   time.Duration
	budget *Budget
	paid   int // bytes
	cut    bool
}

// ReadRune implements [io.RuneReader].
func (s *spender) ReadRune() (r rune, size int, err error) {
	if s.at == len(s.text) {
		return 0, 0, io.EOF
	}
	if s.at >= s.paid {
		if s.cut = s.cut || s.budget.Spent(); s.cut {
			return 0, 0, io.EOF
		}
		s.budget.Spend(gulp * s.each)
		s.paid += gulp
	}
	r, size = utf8.DecodeRuneInString(s.text[s.at:])
	s.at += size
	return r, size, nil
}
