package pi_test

import (
	"testing"

	"github.com/skein-dev/skein/interop/formats/pi"
	"github.com/skein-dev/skein/interop/interoptest"
)

var suite = interoptest.Suite{Format: pi.Format(), Dir: "testdata", Lacks: []string{"a system prompt", "a repository", "a branch", "a commit", "a change of branch", "what is known of a message's request later", "what another request used", "what a cache keeps for an hour", "a service tier", "a description", "a profile", "an agent's settings", "a key", "a pin", "tags", "a status", "a request that failed", "when a tool ran", "that it was resumed", "that it ended", "a note", "steering", "what it used"}}

func TestFormat(t *testing.T) { interoptest.Run(t, suite) }

func FuzzFormat(f *testing.F) { interoptest.Fuzz(f, suite) }
