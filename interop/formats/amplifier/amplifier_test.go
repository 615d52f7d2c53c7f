package amplifier_test

import (
	"testing"

	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/interop/interoptest"
)

func TestFormat(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: amplifier.Format(), Dir: "testdata", Lacks: []string{"which model answered", "a system prompt", "a message that failed", "a repository", "a branch", "a commit", "a change of branch", "what a cache keeps for an hour", "a service tier", "a profile", "an agent's settings", "a key", "a pin", "tags", "a status", "a note", "steering", "instructions", "a compaction"}, Recorded: true, Head: func(_, name string) bool {
		return name == "metadata.json"
	}})
}
