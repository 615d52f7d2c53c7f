//go:build unix

package write

import (
	"syscall"

	"github.com/skein-dev/skein/cli/config"
)

// replace replaces this process with another program, which has the same terminal
// and streams. It returns only if that fails.
func replace(_ *config.Env, path string, args, vars []string) error {
	return syscall.Exec(path, args, vars)
}
