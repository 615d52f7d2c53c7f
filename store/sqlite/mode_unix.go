//go:build !windows

package sqlite

import (
	"errors"
	"syscall"
)

// readOnlyFS reports whether err says that the file system is read-only.
func readOnlyFS(err error) bool { return errors.Is(err, syscall.EROFS) }
