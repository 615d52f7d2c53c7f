//go:build unix

package cli

import "syscall"

// replace puts another program in the place of this one: it has the same
// process, terminal and streams. It returns only if that fails.
func replace(_ *Env, path string, args, vars []string) error { return syscall.Exec(path, args, vars) }
