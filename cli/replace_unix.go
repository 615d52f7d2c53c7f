//go:build unix

package cli

import "syscall"

// replace replaces this process with another program, which has the same terminal
// and streams. It returns only if that fails.
func replace(_ *Env, path string, args, vars []string) error { return syscall.Exec(path, args, vars) }
