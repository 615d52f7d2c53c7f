package claudecode

import (
	"strings"

	"github.com/skein-dev/skein"
)

// command returns what a user typed who called a command with arguments: "/review the
// parser" for the envelope
//
//	<command-message>review</command-message>
//	<command-name>/review</command-name>
//	<command-args>the parser</command-args>
//
// whose elements come in any order. Such a command is a prompt. One without
// arguments, such as /clear, may be a prompt too, but that cannot be known, so it is
// not taken for one.
func command(m *making, parts []skein.Part) (words string, ok bool) {
	if len(parts) != 1 || parts[0].Kind != skein.PartText || bool(m.Meta) {
		return "", false
	}
	text := string(parts[0].Text)
	if !strings.HasPrefix(strings.TrimSpace(text), "<command-") {
		return "", false
	}
	name, args := element(text, "command-name"), element(text, "command-args")
	if name == "" || args == "" || builtin[name] {
		return "", false
	}
	return name + " " + args, true
}

// element returns the trimmed text between the tags of a name; "" if they are
// missing.
func element(text, name string) string {
	_, rest, ok := strings.Cut(text, "<"+name+">")
	inner, _, closed := strings.Cut(rest, "</"+name+">")
	if !ok || !closed {
		return ""
	}
	return strings.TrimSpace(inner)
}

// builtin are the commands that the program runs itself, whatever their arguments.
var builtin = map[string]bool{
	"/add-dir": true, "/agents": true, "/clear": true, "/config": true, "/effort": true, "/export": true, "/mcp": true, "/model": true,
	"/output-style": true, "/permissions": true, "/plugin": true, "/rename": true, "/resume": true, "/theme": true,
}
