//go:build !linux

package child

import "os/exec"

// start starts cmd. On Windows closing the job ends it when we die; other
// systems have no way to.
func start(cmd *exec.Cmd, _ <-chan struct{}) error { return cmd.Start() }
