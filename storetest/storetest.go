package storetest

import (
	"slices"
	"testing"

	"github.com/skein-dev/skein"
)

// Options say what a store can do besides what every store can.
type Options struct {
	// Address returns where s, which open made, keeps its data. nil: nothing
	// but s itself can get at it, and what needs a second handle is left out.
	Address func(s skein.Store) string

	// Dial opens the data at an address once more, as another process does.
	// It is the function that Main was given.
	Dial func(address string) (skein.Store, error)

	// Newer makes the data at an address, which no store has open, look as if
	// a newer version of the program had written it, and returns what fails
	// if anything there was changed since. nil: the store has no versions.
	Newer func(t *testing.T, address string) (unchanged func() error)
}

// Run puts the stores that open makes, each new and empty, to every promise.
// It closes them.
func Run(t *testing.T, open func(*testing.T) skein.Store, o Options) {
	for _, p := range promises() {
		t.Run(p.name, func(t *testing.T) {
			for _, c := range p.checks {
				if c.two != nil && o.Address == nil {
					continue
				}
				t.Run(c.name, func(t *testing.T) { c.put(t, open(t), o) })
			}
		})
	}
}

// A promise is what the Store promises, in one sentence, and what shows it.
type promise struct {
	name   string
	checks []check
}

// A check has one of these functions.
type check struct {
	name string
	run  func(*test)
	two  func(t *test, other skein.Store) // with a second handle on the same data
}

func (c check) put(t *testing.T, s skein.Store, o Options) {
	t.Cleanup(func() { s.Close() })
	to := &test{T: t, s: s, options: o}
	if c.run != nil {
		c.run(to)
		return
	}
	c.two(to, to.dial())
}

// A test is one check of one store, which is new and empty.
type test struct {
	*testing.T
	s       skein.Store
	options Options
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
	})
}

// dial opens the data of the test's store once more.
func (t *test) dial() skein.Store {
	t.Helper()
	s, err := t.options.Dial(t.options.Address(t.s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
