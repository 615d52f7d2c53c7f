package opencode

import (
	"testing"

	"github.com/skein-dev/skein/interop/interoptest"
)

var tables = []string{"session", "message", "part", "todo", "session_message", "project", "migration", "event"}

func suite() interoptest.Suite {
	return interoptest.Suite{Format: Format(), Dir: "testdata/db", Lacks: []string{"a repository", "a branch", "a commit", "a change of branch", "what is known of a message's request later", "what another request used", "what a cache keeps for an hour", "a service tier", "a description", "a profile", "a key", "a pin", "tags", "a status", "that it was resumed", "that it ended", "a note", "steering", "instructions"}, Tables: tables}
}

func TestFormat(t *testing.T) { interoptest.Run(t, suite()) }

func TestTheFolderOfOld(t *testing.T) {
	f := Format()
	f.Write = nil // it is only read
	interoptest.Run(t, interoptest.Suite{Format: f, Dir: "testdata/tree"})
}
