package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// minus stands for a hyphen that begins a word that is not a flag. No program
// argument can contain this character.
const minus = "\x00"

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
			args[i] = minus + args[i][1:]
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

// unprotect returns word as it was typed.
func unprotect(word string) string {
	if rest, ok := strings.CutPrefix(word, minus); ok {
		return "-" + rest
	}
	return word
}
