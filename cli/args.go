package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// minus stands for a hyphen that begins a word and no flag. No program can be
// handed this character.
const minus = "\x00"

// protect marks the words of args that begin with one hyphen and are meant as
// words: after search what is not to be found, after tag what is taken off. No
// flag of these two is a single letter but -h; the value of one of root's or
// theirs stays as it is.
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

// afterStore reports whether all that args has are global flags and their
// values.
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
