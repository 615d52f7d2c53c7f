package importer

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skein-dev/skein"
)

// lookups are those of folders on this machine, each looked up once. What is
// looked up goes only into the created event of a session, which is never compared
// with what its source says later. nil looks nothing up.
type lookups struct {
	checkout func(dir string) skein.Checkout
	found    map[string]skein.Checkout
	known    []string // folders that stored sessions name; nil if that was not looked up
}

// forget has everything looked up again.
func (c *lookups) forget() {
	if c != nil {
		*c = lookups{checkout: c.checkout}
	}
}

// identify enters the folder that the records of a session identify, if it is known
// here: from another session, of whatever agent.
//
// The error is the store's.
func (c *lookups) identify(ctx context.Context, s skein.Store, created *skein.Created, is func(string) bool) error {
	if c == nil || is == nil || created.Cwd != "" || created.Project != "" {
		return nil
	}
	enter := func(dir string) bool {
		if dir == "" || !is(dir) {
			return false
		}
		created.Cwd, created.Project = dir, dir
		return true
	}
	for dir := range c.found {
		if enter(dir) {
			return nil
		}
	}
	if c.known == nil {
		if err := c.learn(ctx, s); err != nil {
			return err
		}
	}
	for _, dir := range c.known {
		if enter(dir) {
			break
		}
	}
	return nil
}

// learn looks up which folders the stored sessions name.
func (c *lookups) learn(ctx context.Context, s skein.Store) error {
	c.known = []string{}
	seen := map[string]bool{}
	for x, err := range s.Sessions(ctx, skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			return err
		}
		for _, dir := range []string{x.Cwd, x.Project} {
			if !seen[dir] {
				seen[dir], c.known = true, append(c.known, dir)
			}
		}
	}
	return nil
}

// fill adds to the event that begins a session what its records do not say, and its
// folder does.
func (c *lookups) fill(created *skein.Created) {
	dir := cmp.Or(created.Cwd, created.Project)
	if c == nil || !local(dir) {
		return
	}
	found, known := c.found[dir]
	if !known {
		if c.found == nil {
			c.found = map[string]skein.Checkout{}
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() { // else one above it may be in a repository
			found = c.checkout(dir)
		}
		c.found[dir] = found
	}
	var said skein.Checkout
	if created.Checkout != nil {
		said = *created.Checkout
	}
	created.Checkout = said.Filled(found).Known()
}

// local reports whether a path that a file names is one of this system, and not on
// a host that merely looking at it would contact.
func local(dir string) bool {
	return filepath.IsAbs(dir) && !strings.HasPrefix(filepath.VolumeName(dir), `\\`) && !(runtime.GOOS == "windows" && strings.HasPrefix(dir, "/"))
}
