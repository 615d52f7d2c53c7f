package pgtest

import (
	"errors"
	"testing"
)

var errWindows = errors.New("on Windows no server is made for tests")

// New skips the test: on Windows there are no clusters.
func New(t testing.TB, _ Options) *Cluster {
	t.Helper()
	without(t, errWindows)
	return nil
}

// Standby skips the test, as [New] does.
func (c *Cluster) Standby(t testing.TB, _ Options) *Cluster { return New(t, Options{}) }

// Kill fails the test: there is no cluster to kill.
func (c *Cluster) Kill(t testing.TB) { t.Fatal(errWindows) }

// Postmaster fails the test: there is no cluster.
func (c *Cluster) Postmaster(t testing.TB) int {
	t.Fatal(errWindows)
	return 0
}

// Enlarge fails the test: there is no cluster.
func (c *Cluster) Enlarge(t testing.TB, _ int64) { t.Fatal(errWindows) }

func (c *Cluster) start() error                { return errWindows }
func (c *Cluster) run(string, ...string) error { return errWindows }
