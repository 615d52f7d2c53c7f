package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/appends"
	"github.com/skein-dev/skein/store/storetest/harness"
	"github.com/skein-dev/skein/store/storetest/reads"
	"github.com/skein-dev/skein/store/storetest/removal"
	"github.com/skein-dev/skein/store/storetest/whole"
)

// Run tests the stores that open makes, each new and empty, for every promise.
// It closes them.
func Run(t *testing.T, open func(*testing.T) skein.Store, o Options) {
	all := slices.Concat(appends.Promises(), reads.Promises(), removal.Promises(), whole.Promises())
	slices.SortFunc(all, func(a, b harness.Promise) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range all {
		if number, _, _ := strings.Cut(p.Name, " "); o.Promises != nil && !slices.Contains(o.Promises, number) {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			for _, c := range p.Checks {
				if c.Fits(o) {
					t.Run(c.Name, func(t *testing.T) {
						t.Cleanup(within(t, o.Deadline)) // after the check's own cleanup
						c.Do(harness.NewTest(t, open, o))
					})
				}
			}
		})
	}
}

// within ends the process if the check t is not done after d, or shortly before the test
// binary's own deadline. A call that hangs cannot be made to return, so the test cannot
// end otherwise.
func within(t *testing.T, d time.Duration) (done func()) {
	if d == 0 {
		d = 15 * time.Minute
	}
	if end, ok := t.Deadline(); ok {
		d = min(d, time.Until(end)*9/10)
	}
	name := t.Name()
	hangs := time.AfterFunc(d, func() { panic(fmt.Sprintf("storetest: %s is not done after %s: the store hangs", name, d)) })
	return func() { hangs.Stop() }
}
