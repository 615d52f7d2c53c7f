//go:build unix

package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
)

// minder ends the cluster in folder $1 when no process holds its door open any
// longer. A process that enters writes a line, and knows by the file of that name
// that the minder saw it before it left.
const minder = `
while read -r who; do : >"$1/in.$who"; done <"$1/door"
rm -f "$1/door"
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
n=0
while [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null && [ $n -lt 100 ]; do n=$((n+1)); sleep 0.1; done
umount "$1/data" 2>/dev/null
rm -rf "$1"
`

// Where Linux has files in memory. The hundreds of files of a new database are
// created there ten times as fast as on a disk.
const (
	memory     = "/dev/shm"
	memoryRoom = 4 << 30 // bytes that must be free: the files of large tests are there too
)

// base returns the folder of our clusters and lock, which no other user may own.
func base() (string, error) {
	parent := os.TempDir()
	var st unix.Statfs_t
	if unix.Statfs(memory, &st) == nil && uint64(st.Bavail)*uint64(st.Bsize) >= memoryRoom && unix.Access(memory, unix.W_OK|unix.X_OK) == nil { //nolint:unconvert,gosec // the types differ between systems
		parent = memory
	}
	dir := filepath.Join(parent, fmt.Sprintf("skein-tests-%d", os.Getuid()))
	if err := os.Mkdir(dir, 0o711); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || int(s.Uid) != os.Getuid() {
		return "", fmt.Errorf("%s is not a folder of ours", dir)
	}
	return dir, os.Chmod(dir, 0o711) // regardless of the umask; the server's own user must pass through
}

// alone calls do while no other process makes or joins a cluster.
func alone(do func(base string) error) error {
	dir, err := base()
	if err != nil {
		return err
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // a first one may be installing
	defer cancel()
	if ok, err := lock.TryLockContext(ctx, 20*time.Millisecond); !ok {
		return fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	defer lock.Unlock() //nolint:errcheck // closing it is what counts
	sweep(dir)
	return do(dir)
}

// sweep ends the clusters that have no minder.
func sweep(base string) {
	dirs, err := filepath.Glob(filepath.Join(base, "c*"))
	if err != nil {
		return // the pattern is right
	}
	for _, dir := range dirs {
		door, err := os.OpenFile(filepath.Join(dir, "door"), os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			door.Close()
			continue
		}
		if errors.Is(err, syscall.ENXIO) {
			_ = exec.Command("sh", "-c", minder[strings.Index(minder, "rm -f"):], "minder", dir).Run() // the next one tries again
		}
	}
}

// foundation creates a folder below base, starts its minder and opens its door, which
// stays open for as long as we use the cluster.
func foundation(base string) (dir string, door *os.File, err error) {
	dir = filepath.Join(base, "c"+strings.ToLower(rand.Text())[:10])
	if err := os.Mkdir(dir, 0o711); err != nil {
		return "", nil, err
	}
	path := filepath.Join(dir, "door")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return "", nil, err
	}
	cmd := exec.Command("sh", "-c", minder, "minder", dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is for the tests
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	go reap(cmd)
	err = until(func() error {
		door, err = os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		return err
	})
	return dir, door, err
}

// reap waits for a minder, which ends before us only in fault tests, so that it does
// not become a zombie there. Tests that look for leaked goroutines ignore this one.
func reap(cmd *exec.Cmd) {
	cmd.Wait() //nolint:errcheck // nobody asks how it ended
}

// enter holds the door of another process's cluster open. It is an error if
// its minder has left or is about to.
func enter(dir string) (*os.File, error) {
	door, err := os.OpenFile(filepath.Join(dir, "door"), os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	name := strings.ToLower(rand.Text())
	if _, err := fmt.Fprintln(door, name); err != nil {
		door.Close()
		return nil, err
	}
	seen := filepath.Join(dir, "in."+name)
	err = until(func() error {
		err := os.Remove(seen)
		if _, left := os.Lstat(door.Name()); errors.Is(left, os.ErrNotExist) {
			return nil // the next check of the cluster says so
		}
		return err
	})
	if err != nil {
		door.Close()
		return nil, err
	}
	return door, nil
}

// until calls try until it returns no error, or patience ends.
func until(try func() error) error {
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-deadline:
			return err
		case <-tick.C:
		}
	}
}
