package storetest

import (
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/harness"
)

// Options say what a store can do beyond what every store can.
type Options = harness.Options

// LostRefs names a damage of [Options.HurtBlobs].
const LostRefs = harness.LostRefs

// Main is a TestMain for the test of a store: it runs the tests, or does what
// [Child] does. It does not return.
func Main(m *testing.M, dial func(address string) (skein.Store, error)) { harness.Main(m, dial) }

// Child runs the test binary as a child process if the suite has started it as
// one: it opens the store with dial, does its job, and ends the process.
// Otherwise it returns at once. It is for a TestMain that has more to do than
// Main.
func Child(dial func(address string) (skein.Store, error)) { harness.Child(dial) }
