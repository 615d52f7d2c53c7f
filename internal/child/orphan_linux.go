package child

import (
	"os/exec"
	"runtime"
	"syscall"
)

// start starts cmd so that it is killed when we die without a chance to do it.
// The system takes the end of the thread that started it for our end, so that
// thread stays until over is closed.
func start(cmd *exec.Cmd, over <-chan struct{}) error {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			<-over
		}
	}()
	return <-started
}
