package harness

import (
	"testing"
	"time"

	"github.com/skein-dev/skein"
)

// Options say what a store can do beyond what every store can.
type Options struct {
	// Address returns where s, which open made, keeps its data. Nil means that
	// only s itself can access it; tests that need a second handle are skipped.
	Address func(s skein.Store) string

	// Dial opens the data at an address again, as another process does.
	// TestMain passes the same function to Main or Child.
	Dial func(address string) (skein.Store, error)

	// Frees is how long the lease that a killed process held as its own may
	// remain, if no kernel tells the store that the process is gone. 0 means
	// that it is free at once.
	Frees time.Duration

	// Newer makes the data at an address, which a store may have open, look as
	// if a newer version of the program had migrated its schema. Nil means that
	// the store has no versions.
	Newer func(t *testing.T, address string)

	// Unchanged records the data at an address, which no store has open, and
	// returns a function that fails if it was changed since. It is set if Newer
	// is.
	Unchanged func(t *testing.T, address string) func() error

	// Promises are the numbers of the promises to test, such as "06". Nil means
	// all of them.
	Promises []string

	// Deadline is the time limit of one check; 0 means 15 minutes, which is
	// enough even for a slow and busy machine, or nine tenths of the time that
	// is left to the test binary, if that is less. A store that hangs in a check
	// ends the test binary with a message that names the promise.
	Deadline time.Duration

	// Hurt replaces old with new, which has the same length, in the stored
	// events at an address, behind the back of the store that has it open. Nil
	// means that only the store can access them.
	Hurt func(t *testing.T, address, old, new string)

	// HurtRow does the same in the rows of the sessions, where they have texts that
	// people read. It is set if Hurt is.
	HurtRow func(t *testing.T, address, old, new string)

	// HurtRecord flips a bit in the middle of the stored data of the source
	// file at path where record n is. It is set if Hurt is.
	HurtRecord func(t *testing.T, address, path string, n int)

	// HurtBlobs has the ways to damage or lose what is stored of all blobs at an
	// address, by name; LostRefs must be one of them. It is set if Hurt is.
	HurtBlobs map[string]func(t *testing.T, address string)
}

// LostRefs names the damage that loses which events refer to the blobs, and leaves the
// blobs themselves.
const LostRefs = "references"

// A Promise is one sentence that the Store promises, and the checks that test
// it.
type Promise struct {
	Name   string
	Checks []Check
}

// A Check has exactly one of these functions.
type Check struct {
	Name      string
	Run       func(*Test)
	Two       func(t *Test, other skein.Store) // with a second handle on the same data
	Processes func(*Test)                      // with other processes
	Newer     func(*Test)                      // with data of a newer version
	Hurt      func(*Test)                      // with data that was damaged behind the store's back
}

// Fits reports whether c can run on a store with the options o.
func (c Check) Fits(o Options) bool {
	return c.Run != nil || o.Address != nil && (c.Newer == nil || o.Newer != nil) && (c.Hurt == nil || o.Hurt != nil)
}

// Do runs the check that c is, and closes the store afterward.
func (c Check) Do(t *Test) {
	t.Cleanup(func() { t.Store.Close() })
	if t.Options.Address != nil {
		t.Address = t.Options.Address(t.Store)
	}
	switch {
	case c.Two != nil:
		c.Two(t, t.Dial())
	case c.Processes != nil:
		c.Processes(t)
	case c.Newer != nil:
		c.Newer(t)
	case c.Hurt != nil:
		c.Hurt(t)
	default:
		c.Run(t)
	}
}

// A Test is one check of a new and empty store.
type Test struct {
	Asker
	Open    func(*testing.T) skein.Store // opens a new, empty store
	Options Options
	Address string // of the store's data; "" if there can be no other handle
}

// NewTest returns a test of a new store that open makes.
func NewTest(t *testing.T, open func(*testing.T) skein.Store, o Options) *Test {
	return &Test{Asker: Asker{Actor{t, open(t)}}, Open: open, Options: o}
}

// Dial opens the data of the test's store again.
func (t *Test) Dial() skein.Store {
	t.Helper()
	s, err := t.Options.Dial(t.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// As runs f with u's view as the store of the test.
func (t *Test) As(u skein.User, f func()) {
	t.Helper()
	was := t.Store
	t.Store = was.As(u)
	f()
	t.Store = was
}
