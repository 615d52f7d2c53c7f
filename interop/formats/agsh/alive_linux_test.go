package agsh

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"testing"
)

// Another user's process may not be signaled, but is alive.
func TestAProcessOfAnotherPersonIsAlive(t *testing.T) {
	if os.Geteuid() != 0 { // then PID 1 is another user's, or in a container our own
		if !alive(1) {
			t.Error("alive(1) = false, want true: it always runs")
		}
		return
	}
	err, is := make(chan error), false
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends as nobody
		if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, 65534, 65534, 65534); e != 0 {
			err <- e
			return
		}
		is = alive(1)
		err <- syscall.Kill(1, 0)
	}()
	if e := <-err; !errors.Is(e, syscall.EPERM) || !is {
		t.Errorf("alive(1) = %t where kill says %v, want true and EPERM", is, e)
	}
}
