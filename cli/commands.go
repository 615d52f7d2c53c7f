package cli

import "github.com/spf13/cobra"

// groups is every command, in the order of the help.
var groups = []struct {
	title    string
	commands []func(*frame) *cobra.Command
}{
	{"read", []func(*frame) *cobra.Command{
		newList, newShow, newSearch,
	}},
	{"write", []func(*frame) *cobra.Command{
		newAppend, newRename, newTag, newPin, newUnpin,
	}},
	{"the program", []func(*frame) *cobra.Command{
		newConfig, newCompletion, newMan, newVersion,
	}},
}
