package atif

import (
	"testing"

	"github.com/skein-dev/skein/interop/interoptest"
)

func TestFormat(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: Format(), Dir: "testdata", Lacks: []string{"a system prompt", "a fork's parent", "a change of branch", "what is known of a message's request later", "what another request used", "what a cache keeps for an hour", "a service tier", "a description", "a profile", "an agent's settings", "a key", "a pin", "tags", "a status", "a request that failed", "when a tool ran", "that it was resumed", "that it ended", "a note"}, Recorded: true})
}
