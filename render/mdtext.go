package render

import (
	"regexp"
	"strings"
	"sync"
)

// inline returns s, which is one line, escaped so that Markdown shows it
// literally.
func inline(s string) string { return special().ReplaceAllString(s, `\$0`) }

var special = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[\\\\`*_\\[\\]<>&#|~]") })

// code returns s as a code span on one line.
func code(s string) string {
	s = strings.ReplaceAll(s, "\n", " ")
	if strings.TrimSpace(s) == "" {
		return ""
	}
	run := longestRun(s, '`')
	if run == 0 {
		return "`" + s + "`"
	}
	mark := strings.Repeat("`", run+1)
	return mark + " " + s + " " + mark
}

// quote returns text as a quotation.
func quote(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n> ")
}

// longestRun returns the length of the longest run of c in s.
func longestRun(s string, c byte) (longest int) {
	for i, run := 0, 0; i < len(s); i++ {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// closed returns Markdown text that cannot affect what follows: a code fence
// that is open at its end is closed, and outside code a line that begins with
// an HTML tag or comment is escaped.
func closed(text string) string {
	var b strings.Builder
	open := ""
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		body := strings.TrimLeft(line, " ")
		switch mark := fenceOf(line); {
		case open != "":
			if strings.HasPrefix(mark, open) && strings.TrimSpace(body) == mark {
				open = ""
			}
		case mark != "":
			open = mark
		case markup().MatchString(body):
			line = line[:len(line)-len(body)] + `\` + body
		}
		b.WriteString(line)
	}
	if open != "" {
		b.WriteString("\n" + open)
	}
	return b.String()
}

var markup = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^<[a-zA-Z/!?]`) })

// fenceOf returns the fence that line begins with, "" if there is none.
func fenceOf(line string) string {
	body := strings.TrimLeft(line, " ")
	if len(line)-len(body) > 3 || body == "" {
		return ""
	}
	c := body[0]
	mark := body[:len(body)-len(strings.TrimLeft(body, string(rune(c))))]
	if c != '`' && c != '~' || len(mark) < 3 || c == '`' && strings.Contains(body[len(mark):], "`") {
		return ""
	}
	return mark
}
