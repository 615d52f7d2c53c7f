package cli

import (
	"slices"
	"strconv"

	"github.com/spf13/cobra"
)

// groups lists every command, in the order of the help.
var groups = []struct {
	title    string
	commands []func(*frame) *cobra.Command
}{
	{"talk", []func(*frame) *cobra.Command{
		newChat, newRun, newContinue, newResume,
	}},
	{"read", []func(*frame) *cobra.Command{
		newList, newShow, newTail, newReplay, newLog, newSearch, newTree, newUsage, newExport, newConvert,
	}},
	{"write", []func(*frame) *cobra.Command{
		newImport, newSync, newHandoff, newPush, newPull, newAppend, newRename, newTag, newPin, newUnpin, newFork,
	}},
	{"keep", []func(*frame) *cobra.Command{
		newRm, newRestore, newPrune, newClear, newScan, newScrub, newBackup, newRestoreBackup, newDoctor,
	}},
	{"serve", []func(*frame) *cobra.Command{
		newServe, newOpen, newMCP, newGateway, newLink, newToken, newUser,
	}},
	{"the program", []func(*frame) *cobra.Command{
		newAgents, newKey, newConfig, newCompletion, newMan, newVersion,
	}},
}

// order is an annotation: the position of a command in the help. cobra itself sorts
// commands by name.
const order = "order"

// inOrder returns the commands of c in the order of groups.
func inOrder(c *cobra.Command) []*cobra.Command {
	return slices.SortedStableFunc(slices.Values(c.Commands()), func(a, b *cobra.Command) int {
		return place(a) - place(b)
	})
}

func place(c *cobra.Command) int {
	n, err := strconv.Atoi(c.Annotations[order])
	if err != nil {
		return -1
	}
	return n
}
