package host

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// A Blocker is a process that has the file locked, as far as the system reports it.
type Blocker struct {
	PID     int
	program string     // such as "skein import"
	since   skein.Time // when it was started; 0 if unknown
	stopped bool       // stopped with Ctrl-Z or SIGSTOP, or being debugged
}

// String describes p for people.
func (p Blocker) String() string {
	about := []string{p.program}
	if p.since != 0 {
		about = append(about, "since "+p.since.Std().In(time.Local).Format("15:04"))
	}
	if p.stopped {
		about = append(about, "stopped")
	}
	return fmt.Sprintf("PID %d (%s)", p.PID, strings.Join(about, ", "))
}

// BlockedBy returns an error saying that another process has kept the file from being
// written to for as long as waited, which process that is, and what to do about it. It wraps [skein.ErrLocked].
func BlockedBy(path string, waited time.Duration) error {
	found := writers(path)
	if len(found) == 0 {
		return fmt.Errorf("the store is %w for %s: an unknown process is writing to %s; find and end it",
			skein.ErrLocked, waited.Round(time.Second), path)
	}
	p := found[0]
	way := fmt.Sprintf("end it with: kill %d", p.PID)
	switch {
	case p.PID == os.Getpid():
		way = "this process has opened the file twice"
	case p.stopped:
		way = fmt.Sprintf("resume it with: kill -CONT %d, or %s", p.PID, way)
	}
	return fmt.Errorf("the store is %w for %s: %s is writing to %s; %s", skein.ErrLocked, waited.Round(time.Second), p, path, way)
}
