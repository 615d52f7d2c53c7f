package cli

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/skein-dev/skein/cli/screen"
)

// A slash is a command in a conversation, such as /undo 2.
type slash struct {
	name  string
	also  []string // aliases
	args  string   // as shown in the help
	doc   string
	run   func(c *chat, ctx context.Context, args string) error
	words func(c *chat, ctx context.Context, typed string) []screen.Word // completions of args; nil for none
}

// slashes returns every command, in the order of the help.
func slashes() []slash {
	return []slash{
		{"new", nil, "", "begin a fresh thread; this one stays listed", (*chat).fresh, nil},
		{"resume", nil, "NAME", "go on in another session", (*chat).resume, (*chat).sessionWords},
		{"fork", nil, "[TURN] [TITLE]", "go on in a fork of this session, up to the end of a turn", (*chat).fork, nil},
		{"undo", nil, "[N]", "take back the last N turns; the first of them can be typed anew", (*chat).undo, nil},
		{"redo", nil, "", "bring back what /undo or /clear took away", (*chat).redo, nil},
		{"retry", nil, "", "ask again for an answer that did not come", (*chat).retry, nil},
		{"clear", nil, "", "let the model forget what was said; nothing is deleted", (*chat).clear, nil},
		{"compact", nil, "", "let the model sum up what is older", (*chat).compact, nil},
		{"rename", []string{"title"}, "TITLE", "give this session a title", (*chat).rename, nil},
		{"personality", []string{"agent"}, "NAME", "let another agent answer; the thread goes on", (*chat).personality, (*chat).agentWords},
		{"model", nil, "NAME", "let another model answer", (*chat).model, (*chat).modelWords},
		{"tools", nil, "[N]", "list the tools, or show the N-th last call whole (Ctrl-O: the last)", (*chat).tools, nil},
		{"context", nil, "", "what the model is told before the conversation, and from which files", (*chat).told, nil},
		{"history", nil, "[N|all]", "show the last N messages", (*chat).history, nil},
		{"sessions", nil, "[all]", "list this project's sessions", (*chat).sessionList, nil},
		{"search", nil, "WORDS", "search all sessions", (*chat).find, nil},
		{"usage", nil, "", "what this session used and cost", (*chat).usage, nil},
		{"export", nil, "FORMAT [FILE]", "write this session as md, html, json or skein", (*chat).export, (*chat).formatWords},
		{"help", nil, "", "list the commands", (*chat).help, nil},
		{"exit", []string{"quit"}, "", "leave, as Ctrl-D", func(*chat, context.Context, string) error { return errLeave }, nil},
	}
}

// slashed splits a command. A path such as /usr/bin is not a command.
func slashed(text string) (name, args string, ok bool) {
	m := regexp.MustCompile(`^/([a-zA-Z]+|\?)(?:\s+(.*))?$`).FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	return strings.ToLower(m[1]), strings.TrimSpace(m[2]), true
}

// command runs the command with this name.
func (c *chat) command(ctx context.Context, name, args string) error {
	if name == "?" {
		name = "help"
	}
	for _, s := range slashes() {
		if s.name != name && !slices.Contains(s.also, name) {
			continue
		}
		if s.args == "" && args != "" {
			return usagef("/%s takes no %q", name, args)
		}
		return s.run(c, ctx, args)
	}
	err := usagef("there is no command /%s", name)
	if near := nearestSlash(name); near != "" {
		return advise(err, "did you mean /%s? /help lists all", near)
	}
	return advise(err, "/help lists what there is")
}

// nearestSlash returns the command with the name nearest to name; "" if none is
// near.
func nearestSlash(name string) (best string) {
	least := len(name)/3 + 2 // fewer wrong letters than this
	for _, s := range slashes() {
		for _, n := range append([]string{s.name}, s.also...) {
			d := distance(name, n)
			if strings.HasPrefix(n, name) {
				d = 0
			}
			if d < least {
				best, least = n, d
			}
		}
	}
	return best
}

// distance returns how many letters must be inserted, removed, replaced or swapped
// with the next one to turn a into b.
func distance(a, b string) int {
	before, last := []int(nil), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j], row[j-1]) + 1
			if a[i-1] == b[j-1] {
				row[j] = min(row[j], last[j-1])
			} else {
				row[j] = min(row[j], last[j-1]+1)
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// help lists the commands and keys.
func (c *chat) help(_ context.Context, _ string) error {
	var rows [][2]string
	for _, s := range slashes() {
		name := "/" + s.name
		for _, a := range s.also {
			name += ", /" + a
		}
		rows = append(rows, [2]string{strings.TrimSpace(name + " " + s.args), s.doc})
	}
	rows = append(rows, [][2]string{
		{"@PATH, @PATH:10-20", "attach a file, or lines of it"},
		{"Alt-Enter, Ctrl-J", "begin a new line, as a backslash before Enter does"},
		{"Tab", "complete a command, a name, a path"},
		{"Up, Down, Ctrl-R", "what was typed before; search it"},
		{"Ctrl-O", "show the last tool call whole; again: the one before"},
		{"Ctrl-C", "stop the answer; twice: leave, as Ctrl-D does"},
	}...)
	c.print(c.pairs(rows))
	return nil
}

// pairs returns rows of names and descriptions, aligned and wrapped.
func (c *chat) pairs(rows [][2]string) string {
	wide := 0
	for _, r := range rows {
		wide = max(wide, ansi.StringWidth(r[0]))
	}
	room := 0
	if width := c.width(); width > 0 {
		room = max(width-wide-3, 20)
	}
	var b strings.Builder
	for _, r := range rows {
		doc := r[1]
		if room > 0 {
			doc = ansi.Wrap(doc, room, "")
		}
		pad := strings.Repeat(" ", wide-ansi.StringWidth(r[0])+2)
		b.WriteString(c.paint.Cyan(r[0]) + pad + strings.ReplaceAll(doc, "\n", "\n"+strings.Repeat(" ", wide+2)) + "\n")
	}
	return b.String()
}

// print shows the output of a command.
func (c *chat) print(text string) {
	if text = strings.Trim(text, "\n"); text != "" {
		c.gap("command")
		c.screen.Print(text)
	}
}

// done says what a command did.
func (c *chat) done(format string, args ...any) {
	c.gap("note")
	c.screen.Note(c.paint.Dim(c.fitted(cleanText(fmt.Sprintf(format, args...)))))
}
