package edits

import (
	"slices"
	"strings"
)

var (
	interpreter = compiled(`(^|[\s;&|(/])(python[0-9.]*|node|ruby|deno|bun)(\s|$)`)
	inline      = compiled(`(?:^|[;&|(]\s*)(?:\S*/)?(?:python[0-9.]*|node|ruby|bun)\s+-[ce]\s+(["'])`)
	pathLike    = compiled(`^[\w@~./\\:-]*[\w-]+\.\w{1,8}$`)
	assigned    = compiled(`(\w+)\s*=\s*[rRfFbBuU]{0,2}$`)
	cmdlet      = compiled(`(?i)\b(set-content|add-content|out-file)\b`)
	cmdletPath  = compiled(`(?i)(?:-(?:literalpath|path|filepath)\s+|(?:set-content|add-content|out-file)\s+)("[^"]+"|'[^']+'|[^\s|;'"-][^\s|;]*)`)
)

// inlineProgram returns the program that an interpreter is given as an argument, and how
// many lines the command goes on; 0 if the first line begins none.
func inlineProgram(lines []string) (text string, n int) {
	if !strings.Contains(lines[0], " -c") && !strings.Contains(lines[0], " -e") {
		return "", 0
	}
	at := inline().FindStringSubmatchIndex(lines[0])
	if at == nil {
		return "", 0
	}
	quote := lines[0][at[2]]
	rest := strings.Join(lines, "\n")[at[3]:]
	end := closing(rest, quote)
	if end < 0 {
		return "", 0
	}
	n = 1 + strings.Count(rest[:end], "\n")
	if text = rest[:end]; quote == '"' {
		text = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, `$`, "\\`", "`").Replace(text)
	}
	return text, n
}

// A literal is a string in a program.
type literal struct {
	text   string
	before string // the program's text between it and the literal before
}

// program returns which lines a program may put into the files that it names, if it writes
// any: those of its strings, but for the strings that it looks for.
func program(text, dir string) (all []Edit) {
	if !strings.Contains(text, "write") && !strings.Contains(text, `'w'`) && !strings.Contains(text, `"w"`) {
		return nil
	}
	var files, added, removed []string
	for _, l := range literals(text) {
		name := assigned().FindStringSubmatch(l.before)
		code := strings.TrimRight(l.before, " \t\nrRfFbBuU")
		switch {
		case pathLike().MatchString(l.text) && len(l.text) < 256:
			if !slices.Contains(files, l.text) {
				files = append(files, l.text)
			}
		case strings.HasSuffix(code, "replace(") || strings.HasSuffix(code, "replaceAll(") || strings.HasSuffix(code, "assert") ||
			name != nil && (strings.HasPrefix(name[1], "old") || strings.HasPrefix(name[1], "before") || strings.HasPrefix(name[1], "anchor")):
			removed = append(removed, Lines(l.text)...)
		default:
			for _, line := range Lines(l.text) {
				if !slices.Contains(removed, line) { // what stays is not new
					added = append(added, line)
				}
			}
		}
	}
	for _, f := range files {
		all = append(all, Edit{Path: f, Dir: dir, Added: added, Removed: removed})
	}
	return all
}

// literals returns the strings in a program of Python, JavaScript or Ruby.
func literals(text string) (all []literal) {
	last := 0
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '#' && (i == 0 || text[i-1] == '\n' || text[i-1] == ' '), c == '/' && strings.HasPrefix(text[i:], "// "):
			n := strings.IndexByte(text[i:], '\n')
			if n < 0 {
				return all
			}
			i += n
		case c == '\'' || c == '"' || c == '`':
			quote := text[i : i+1]
			if triple := strings.Repeat(quote, 3); c != '`' && strings.HasPrefix(text[i:], triple) {
				quote = triple
			}
			begin := i + len(quote)
			end := endOf(text[begin:], quote)
			if end < 0 {
				i++
				continue
			}
			body := text[begin : begin+end]
			if i == 0 || text[i-1] != 'r' {
				body = unescaped(body)
			}
			all = append(all, literal{body, text[last:i]})
			i = begin + end + len(quote)
			last = i
		default:
			i++
		}
	}
	return all
}

// endOf returns where a string ends that was begun by quote; negative if it does not.
func endOf(text, quote string) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '\n' && len(quote) == 1 && quote != "`":
			return -1
		case strings.HasPrefix(text[i:], quote):
			return i
		}
	}
	return -1
}

func unescaped(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, `'`, "\\\n", "", "\\`", "`").Replace(s)
}

// hereString returns what PowerShell writes of the string between @' and '@, each at a
// line's end and beginning, and how many lines that goes on; 0 if the first line begins
// none.
func hereString(lines []string, dir string) (all []Edit, n int) {
	first := strings.TrimSpace(lines[0])
	if !strings.HasSuffix(first, "@'") && !strings.HasSuffix(first, `@"`) {
		return nil, 0
	}
	quote := first[len(first)-1:]
	end := slices.IndexFunc(lines[1:], func(l string) bool { return strings.HasPrefix(l, quote+"@") })
	if end < 0 {
		return nil, 0
	}
	body, around := lines[1:1+end], first+"\n"+lines[1+end]
	verb, at := cmdlet().FindString(around), cmdletPath().FindStringSubmatch(around)
	if quote == `"` && strings.ContainsAny(strings.Join(body, ""), "$`") || at == nil || strings.ContainsAny(at[1], "$`*?") {
		return nil, 2 + end
	}
	text := strings.Join(body, "\n") + "\n"
	appended := strings.EqualFold(verb, "add-content") || strings.Contains(strings.ToLower(around), "-append")
	return []Edit{{Path: unquote(at[1]), Dir: dir, Added: body, Whole: !appended, Hunks: []Hunk{{New: text}}}}, 2 + end
}
