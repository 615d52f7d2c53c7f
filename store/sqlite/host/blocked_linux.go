package host

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// A shmLock is a range of bytes of the -shm file, and the name of the lock on
// it. Writers lock byte 120, checkpoints 121, recovery of the write-ahead log 122,
// and readers the next five. See https://sqlite.org/walformat.html#locks.
type shmLock struct {
	kind        string
	first, last int
}

// writers returns the processes that hold a lock to write to the file.
func writers(path string) []Blocker { return locking(path, shmLock{"WRITE", 120, 122}) }

// Readers returns the processes that are reading from the file.
func Readers(path string) []Blocker { return locking(path, shmLock{"READ", 123, 127}) }

// locking returns the processes that hold the lock, according to
// /proc/PID/fdinfo. It opens none of the store's own files.
func locking(path string, l shmLock) (found []Blocker) {
	shm, err := os.Stat(path + "-shm")
	if err != nil {
		return nil
	}
	fds, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return nil
	}
	for _, fd := range fds {
		to, err := os.Readlink(fd) // links of other users' processes cannot be read
		if err != nil || filepath.Base(to) != filepath.Base(path)+"-shm" {
			continue
		}
		if st, err := os.Stat(fd); err != nil || !os.SameFile(st, shm) {
			continue
		}
		info, err := os.ReadFile(strings.Replace(fd, "/fd/", "/fdinfo/", 1))
		if err != nil || !l.in(info) {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(fd, "/")[2]); err == nil {
			found = append(found, describe(pid))
		}
	}
	return found
}

// in reports whether the text of an fdinfo file lists the lock, in a line such
// as "lock:	1: OFDLCK ADVISORY  WRITE -1 08:01:131 120 120".
func (l shmLock) in(info []byte) bool {
	for line := range bytes.Lines(info) {
		f := strings.Fields(string(line))
		if len(f) < 9 || f[0] != "lock:" || f[4] != l.kind {
			continue
		}
		from, err := strconv.Atoi(f[7])
		if to, terr := strconv.Atoi(f[8]); err == nil && terr == nil && from <= l.last && to >= l.first {
			return true
		}
	}
	return false
}

// ticksPerSecond is the unit of the times in /proc, which is the same on every Linux.
const ticksPerSecond = 100

// describe returns what is known about a process.
func describe(pid int) Blocker {
	p := Blocker{PID: pid, program: "a program"}
	dir := fmt.Sprintf("/proc/%d/", pid)
	if b, err := os.ReadFile(dir + "cmdline"); err == nil && len(b) > 0 {
		args := strings.Split(strings.TrimRight(string(b), "\x00"), "\x00")
		p.program = filepath.Base(args[0])
		if len(args) > 1 && isCommand(args[1]) {
			p.program += " " + args[1]
		}
	}
	// The second field is the program in parentheses and may contain any
	// character; the third is the state and the 22nd is the start time.
	b, err := os.ReadFile(dir + "stat")
	if err != nil {
		return p
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 20 {
		return p
	}
	p.stopped = fields[0] == "T" || fields[0] == "t"
	ticks, err := strconv.ParseInt(fields[19], 10, 64)
	if boot := bootTime(); err == nil && boot != 0 {
		p.since = skein.At(time.Unix(boot, 0).Add(time.Duration(ticks) * (time.Second / ticksPerSecond)))
	}
	return p
}

// isCommand reports whether an argument is the name of a command, as opposed to
// something private.
func isCommand(arg string) bool {
	return len(arg) < 20 && strings.Trim(arg, "abcdefghijklmnopqrstuvwxyz-") == "" && !strings.HasPrefix(arg, "-")
}

// bootTime returns when the system was started, in seconds since 1970; 0 if unknown.
func bootTime() int64 {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "btime "); ok {
			t, _ := strconv.ParseInt(strings.TrimSpace(rest), 10, 64) //nolint:errcheck // then it is 0
			return t
		}
	}
	return 0
}
