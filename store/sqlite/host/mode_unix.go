//go:build !windows

package host

import (
	"errors"
	"syscall"
)

// ReadOnlyFS reports whether err says that the file system is read-only.
func ReadOnlyFS(err error) bool { return errors.Is(err, syscall.EROFS) }
