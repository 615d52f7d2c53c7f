package leaks

import (
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
)

// A sampler writes texts that match regular expressions.
type sampler struct{ *rand.Rand }

// longest is how often an unbounded repetition is repeated.
const longest = 12

// of returns a text that re matches.
func (s sampler) of(re *syntax.Regexp) string {
	var b strings.Builder
	s.write(&b, re)
	return b.String()
}

func (s sampler) write(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 { // the literal is stored in upper case
			b.WriteString(strings.ToLower(string(re.Rune)))
		} else {
			b.WriteString(string(re.Rune))
		}
	case syntax.OpCharClass:
		b.WriteRune(s.class(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte("abcdefghijklmnopqrstuvwxyz0123456789"[s.IntN(36)])
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			s.write(b, sub)
		}
	case syntax.OpAlternate:
		s.write(b, re.Sub[s.IntN(len(re.Sub))])
	case syntax.OpStar:
		s.repeat(b, re, 0, longest)
	case syntax.OpPlus:
		s.repeat(b, re, 1, longest)
	case syntax.OpQuest:
		s.repeat(b, re, 0, 1)
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 || most > re.Min+longest {
			most = re.Min + longest
		}
		s.repeat(b, re, re.Min, most)
	}
}

func (s sampler) repeat(b *strings.Builder, re *syntax.Regexp, least, most int) {
	for range least + s.IntN(most-least+1) {
		s.write(b, re.Sub[0])
	}
}

// class returns a rune of a class, a printable one if there is any.
func (s sampler) class(ranges []rune) rune {
	var all []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := max(ranges[i], ' '); r <= min(ranges[i+1], '~'); r++ {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return ranges[0]
	}
	if slices.Contains(all, 'a') && slices.Contains(all, 'A') && !slices.Contains(all, 'G') { // hexadecimal
		all = slices.DeleteFunc(all, func(r rune) bool { return 'A' <= r && r <= 'F' })
	}
	return all[s.IntN(len(all))]
}

// named reports whether the expression matches a name with an assigned value,
// as most of gitleaks' rules do, and returns the part for the value.
func named(re *syntax.Regexp) (given *syntax.Regexp, ok bool) {
	if !strings.Contains(re.String(), `:=|=>|`) && !strings.Contains(re.String(), "{1,3}=") {
		return nil, false
	}
	given = captured(re)
	return given, given != nil
}

// captured returns the inside of the first group of re.
func captured(re *syntax.Regexp) *syntax.Regexp {
	if re.Op == syntax.OpCapture {
		return re.Sub[0]
	}
	for _, sub := range re.Sub {
		if c := captured(sub); c != nil {
			return c
		}
	}
	return nil
}

// assigned returns value assigned to a name that contains word, as people write
// it.
func (s sampler) assigned(word, value string) string {
	word = strings.Trim(word, "_.- ")
	what := []string{"token", "api_key", "secret", "key", "access_token"}[s.IntN(5)]
	upper := strings.ToUpper(word + "_" + what)
	name := word + "_" + what
	return []string{
		upper + "=" + value, "export " + upper + "='" + value + "'", name + ` = "` + value + `"`, name + ": " + value,
		`{"` + name + `": "` + value + `"}`, "const " + word + strings.ToUpper(what[:1]) + what[1:] + ` = "` + value + `";`,
	}[s.IntN(6)]
}
