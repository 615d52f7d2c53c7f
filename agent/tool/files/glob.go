package files

import (
	"fmt"
	"regexp"
	"strings"
)

// A glob matches paths with slashes. * matches any text without a slash, ** any
// folders, ? one character, [a-z] one of a range, {a,b} either alternative.
type glob struct {
	re   *regexp.Regexp
	name bool // it has no slash: only the last element of a path has to match
}

const maxGlob = 1024 // bytes

// parseGlob parses a model's pattern. The error says what is wrong.
func parseGlob(s string) (glob, error) {
	if len(s) > maxGlob {
		return glob{}, fmt.Errorf("pattern of %d bytes: at most %d are allowed", len(s), maxGlob)
	}
	s = strings.TrimPrefix(s, "./")
	re, err := regexp.Compile("^" + expression(s, braces) + "$")
	if err != nil {
		return glob{}, fmt.Errorf("pattern %q: not a glob", s)
	}
	return glob{re, !strings.Contains(s, "/")}, nil
}

func (g glob) match(path string) bool {
	if g.name {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	return g.re.MatchString(path)
}

// A patternSyntax says which special characters a pattern has.
type patternSyntax int

const (
	gitignore patternSyntax = iota
	braces                  // {a,b} too
)

// expression returns s as a regular expression.
func expression(s string, d patternSyntax) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '*' && strings.HasPrefix(s[i:], "**") && (i == 0 || s[i-1] == '/'):
			n, text := anyFolders(s[i:])
			b.WriteString(text)
			i += n - 1
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?':
			b.WriteString("[^/]")
		case c == '[':
			n, text := class(s[i:])
			b.WriteString(text)
			i += n - 1
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteString(regexp.QuoteMeta(s[i : i+1]))
		case c == '{' && d == braces:
			depth++
			b.WriteString("(?:")
		case c == '}' && depth > 0:
			depth--
			b.WriteString(")")
		case c == ',' && depth > 0:
			b.WriteString("|")
		default:
			b.WriteString(regexp.QuoteMeta(s[i : i+1]))
		}
	}
	return "(?s:" + b.String() + ")"
}

// anyFolders parses the ** at the start of s, which is at the start of a path
// element, and returns its length and expression.
func anyFolders(s string) (n int, text string) {
	switch {
	case strings.HasPrefix(s, "**/"):
		return 3, "(?:.*/)?"
	case s == "**":
		return 2, ".*"
	}
	return 2, "[^/]*"
}

// class parses the [...] at the start of s, and returns its length and
// expression; a bracket that is not closed stands for itself.
func class(s string) (n int, text string) {
	i, not := 1, ""
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i, not = 2, "^/"
	}
	end := strings.IndexByte(s[min(i+1, len(s)):], ']')
	if end < 0 {
		return 1, `\[`
	}
	end += i + 1
	in := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`, `&`, `\&`, `~`, `\~`).Replace(s[i:end])
	return end + 1, "[" + not + in + "]"
}
