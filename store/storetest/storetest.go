package storetest

import (
	"fmt"
	"slices"
	"strings"
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
	// enough even for a slow and busy machine. A store that hangs in a check
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
}

// Run tests the stores that open makes, each new and empty, for every promise.
// It closes them.
func Run(t *testing.T, open func(*testing.T) skein.Store, o Options) {
	for _, p := range promises() {
		if number, _, _ := strings.Cut(p.name, " "); o.Promises != nil && !slices.Contains(o.Promises, number) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			for _, c := range p.checks {
				if c.fits(o) {
					t.Run(c.name, func(t *testing.T) {
						t.Cleanup(within(o.Deadline, t.Name())) // after the check's own cleanup
						c.put(&test{asker: asker{t, open(t)}, open: open, options: o})
					})
				}
			}
		})
	}
}

// within ends the process if the check called name is not done after d. A call
// that hangs cannot be made to return, so the test cannot end otherwise.
func within(d time.Duration, name string) (done func()) {
	if d == 0 {
		d = 15 * time.Minute
	}
	hangs := time.AfterFunc(d, func() { panic(fmt.Sprintf("storetest: %s is not done after %s: the store hangs", name, d)) })
	return func() { hangs.Stop() }
}

// A promise is one sentence that the Store promises, and the checks that test
// it.
type promise struct {
	name   string
	checks []check
}

// A check has exactly one of these functions.
type check struct {
	name      string
	run       func(*test)
	two       func(t *test, other skein.Store) // with a second handle on the same data
	processes func(*test)                      // with other processes
	newer     func(*test)                      // with data of a newer version
	hurt      func(*test)                      // with data that was damaged behind the store's back
}

// fits reports whether c can run on a store with the options o.
func (c check) fits(o Options) bool {
	return c.run != nil || o.Address != nil && (c.newer == nil || o.Newer != nil) && (c.hurt == nil || o.Hurt != nil)
}

func (c check) put(t *test) {
	t.Cleanup(func() { t.s.Close() })
	if t.options.Address != nil {
		t.address = t.options.Address(t.s)
	}
	switch {
	case c.two != nil:
		c.two(t, t.dial())
	case c.processes != nil:
		c.processes(t)
	case c.newer != nil:
		c.newer(t)
	case c.hurt != nil:
		c.hurt(t)
	default:
		c.run(t)
	}
}

// A test is one check of a new and empty store.
type test struct {
	asker
	open    func(*testing.T) skein.Store // opens a new, empty store
	options Options
	address string // of the store's data; "" if there can be no other handle
}

func promises() []promise {
	return slices.Clone([]promise{
		{"01 The answer agrees with the disk", answer()},
		{"02 All or none", allOrNone()},
		{"03 Seq is the order", order()},
		{"04 Same client ID twice is one event", clientIDs()},
		{"05 After is checked", after()},
		{"06 A stale lease cannot write", leases()},
		{"07 Newest N", newest()},
		{"08 Fork is a pointer", forks()},
		{"09 Delete leaves nothing behind", deletion()},
		{"10 Nothing is deleted by itself", bin()},
		{"11 Bytes in are bytes out", exactly()},
		{"12 Two processes lose nothing", processes()},
		{"13 Search finds", searching()},
		{"14 Watch gives what was, then what comes", watching()},
		{"15 IDs never change", steadyIDs()},
		{"16 A newer version is refused", newer()},
		{"17 After Close every method says closed", closing()},
		{"18 A session is what its events add up to", folding()},
		{"19 Usage counts each request once", usages()},
		{"20 Blobs", blobs()},
		{"21 Source records", sources()},
		{"22 Scrub leaves no trace", scrubbing()},
		{"23 A view is one user's", append(views(), apart()...)},
		{"24 Lists", listing()},
		{"25 Whatever is done, in any order", anything()},
		{"26 A window has the context", windows()},
		{"27 The feed has every event", feeding()},
		{"28 What is read is what was written", damage()},
		{"29 A session's row says what is live in it", liveMessages()},
	})
}

// dial opens the data of the test's store again.
func (t *test) dial() skein.Store {
	t.Helper()
	s, err := t.options.Dial(t.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
