package cli

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
)

// protect marks the words of args that begin with one hyphen but are not flags:
// after search, a word to exclude; after tag, a tag to remove. The only one-letter
// flag of these two commands is -h. The values of flags stay as they are.
func protect(root *cobra.Command, args []string) []string {
	at := slices.IndexFunc(args, func(a string) bool { return a == "search" || a == "tag" })
	if at < 0 || slices.ContainsFunc(args[:at], func(a string) bool { return !strings.HasPrefix(a, "-") }) && !afterStore(args[:at]) {
		return args
	}
	c, _, err := root.Find(args[at : at+1])
	if err != nil {
		return args
	}
	args = slices.Clone(args)
	for i := at + 1; i < len(args); i++ {
		if args[i] == "--" {
			break
		}
		if name, ok := strings.CutPrefix(args[i-1], "--"); ok && takesValue(c, name) {
			continue
		}
		if len(args[i]) > 1 && args[i][0] == '-' && args[i][1] != '-' && args[i] != "-h" {
			args[i] = job.Minus + args[i][1:]
		}
	}
	return args
}

// takesValue reports whether the word after --name is the flag's value.
func takesValue(c *cobra.Command, name string) bool {
	f := c.Flag(name)
	return f != nil && f.NoOptDefVal == ""
}

// afterStore reports whether args consists only of global flags and their values.
func afterStore(args []string) bool {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--store" || args[i] == "--color":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return false
		}
	}
	return true
}

// understand returns args in skein's words where a person typed those of another
// program: session list, sessions, session show NAME; and, without a command, -c, -s
// NAME, -r NAME for a chat, with a prompt after them or -p PROMPT for one answer. (Run
// takes -p too. Commands and flags have aliases of their own, such as delete.)
func understand(root *cobra.Command, args []string) []string {
	at := 0
	for at < len(args) && strings.HasPrefix(args[at], "--") && root.PersistentFlags().Lookup(strings.SplitN(args[at][2:], "=", 2)[0]) != nil {
		if takesValue(root, args[at][2:]) {
			at++
		}
		at++
	}
	if at >= len(args) {
		return args
	}
	before, rest := args[:at:at], args[at:]
	switch flag, _, _ := strings.Cut(rest[0], "="); flag {
	case "session", "sessions":
		switch {
		case len(rest) == 1 || strings.HasPrefix(rest[1], "-"):
			return append(append(before, "list"), rest[1:]...)
		case isCommand(root, rest[1]):
			return append(before, rest[1:]...)
		}
	case "-c", "-s", "-r", "-p", "--continue", "--resume", "--session":
		if i := slices.Index(rest, "-p"); i >= 0 {
			return append(append(append(before, "run"), rest[:i]...), rest[i+1:]...)
		}
		return append(append(before, asks(rest)), rest...)
	case "run":
		if i := slices.Index(rest, "-p"); i >= 0 && !slices.Contains(rest[:i], "--") {
			return append(append(before, rest[:i]...), rest[i+1:]...)
		}
	}
	return args
}

// asks returns the command that args without one are for, which begin with a flag that
// names a session: run if a prompt follows, else chat.
func asks(args []string) string {
	after := args[1:]
	if flag := args[0]; flag != "-c" && flag != "--continue" && !strings.Contains(flag, "=") {
		after = after[min(1, len(after)):] // the name
	}
	if len(after) > 0 && !strings.HasPrefix(after[0], "-") {
		return "run"
	}
	return "chat"
}

func isCommand(root *cobra.Command, word string) bool {
	return slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == word || c.HasAlias(word) })
}

// meanings maps words that skein does not have to the command that does what they
// mean.
var meanings = map[string]string{
	"ask": "run", "prompt": "run", "exec": "run", "talk": "chat", "new": "chat", "start": "chat",
	"view": "show", "cat": "show", "print": "show", "read": "show", "info": "show", "get": "show", "history": "show",
	"find": "search", "grep": "search", "query": "search",
	"stats": "usage", "cost": "usage", "costs": "usage", "tokens": "usage",
	"undo": "fork", "branch": "fork", "copy": "fork", "clone": "fork", "title": "rename", "name": "rename",
	"undelete": "restore", "cleanup": "prune", "clean": "prune", "gc": "prune", "trash": "list --bin", "bin": "list --bin",
	"save": "export", "dump": "export", "load": "import", "migrate": "convert", "web": "open", "dashboard": "open", "server": "serve",
	"check": "doctor", "repair": "doctor --repair", "verify": "doctor", "login": "key", "settings": "config", "update": "version",
	"session": "list", "sessions": "list",
}

// meant returns the command nearest to what args say, by the meaning of the words,
// else by their spelling; "" if there is none.
func meant(root *cobra.Command, args []string) string {
	typed := strings.ToLower(args[0])
	word, command := typed, meanings[typed]
	if command == "" {
		word, command = nearestWord(root, typed)
	}
	if len(args) > 1 && (word == "session" || word == "sessions") {
		return cmp.Or(meant(root, args[1:2]), command)
	}
	return command
}

// nearestWord returns the word with the spelling nearest to typed, and the command
// that it means; "" if no word is near.
func nearestWord(root *cobra.Command, typed string) (word, command string) {
	least := len(typed)/3 + 2 // fewer wrong letters than this
	consider := func(w, of string) {
		d := terminal.Distance(typed, w)
		if strings.HasPrefix(w, typed) {
			d = 0
		}
		if d < least {
			word, command, least = w, of, d
		}
	}
	for _, c := range inOrder(root) {
		if !c.IsAvailableCommand() {
			continue
		}
		for _, w := range append([]string{c.Name()}, c.Aliases...) {
			consider(w, c.Name())
		}
	}
	for _, w := range slices.Sorted(maps.Keys(meanings)) {
		consider(w, meanings[w])
	}
	return word, command
}
