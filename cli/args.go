package cli

import (
	"slices"
	"strings"
)

// minus stands for a hyphen that begins a word and no flag. No program can be
// handed this character.
const minus = "\x00"

// protect marks the words of args that begin with one hyphen and are meant as
// words: after search what is not to be found, after tag what is taken off. No
// flag of these two is a single letter but -h.
func protect(args []string) []string {
	at := slices.IndexFunc(args, func(a string) bool { return a == "search" || a == "tag" })
	if at < 0 || slices.ContainsFunc(args[:at], func(a string) bool { return !strings.HasPrefix(a, "-") }) && !afterStore(args[:at]) {
		return args
	}
	args = slices.Clone(args)
	for i := at + 1; i < len(args); i++ {
		if args[i] == "--" {
			break
		}
		if len(args[i]) > 1 && args[i][0] == '-' && args[i][1] != '-' && args[i] != "-h" {
			args[i] = minus + args[i][1:]
		}
	}
	return args
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
