package claudecode_test

import (
	"testing"

	"github.com/skein-dev/skein/interop/formats/claudecode"
	"github.com/skein-dev/skein/interop/interoptest"
)

var suite = interoptest.Suite{Format: claudecode.Format(), Dir: "testdata", Lacks: []string{"a system prompt", "a repository", "a commit", "what is known of a message's request later", "what another request used", "a recorded cost", "that it has no folder", "a description", "a profile", "an agent's settings", "a key", "a pin", "tags", "a status", "a request that failed", "when a tool ran", "that it was resumed", "that it ended", "a note", "reasoning", "instructions", "what it used"}, Recorded: true, Count: count}

func TestFormat(t *testing.T) { interoptest.Run(t, suite) }

func FuzzFormat(f *testing.F) { interoptest.Fuzz(f, suite) }
