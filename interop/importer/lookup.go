package importer

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/repository"
)

// lookups are those of folders on this machine, each looked up once. What is
// looked up goes only into the created event of a session, which is never compared
// with what its source says later. nil looks nothing up.
type lookups map[string]skein.Checkout

// fill adds to the event that begins a session what its records do not say, and its
// folder does.
func (c lookups) fill(created *skein.Created) {
	dir := cmp.Or(created.Cwd, created.Project)
	if c == nil || !local(dir) {
		return
	}
	found, known := c[dir]
	if !known {
		found = checkoutOf(dir)
		c[dir] = found
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

// checkoutOf returns what a folder says about a session that worked there: nothing
// if it is gone.
func checkoutOf(dir string) skein.Checkout {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return skein.Checkout{}
	}
	at, _ := repository.At(dir) //nolint:errcheck // it has the rest
	host, _ := os.Hostname()    //nolint:errcheck // only for people; may be empty
	return skein.Checkout{Repository: string(at.Repository), Worktree: at.Worktree, Subfolder: at.Folder, Host: host}
}
