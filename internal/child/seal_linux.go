package child

import (
	"errors"
	"math"

	"golang.org/x/sys/unix"
)

// seal marks all descriptors but the first three as not inheritable: Go marks those
// that it opens, but the process that started us may have left others.
func seal() error {
	err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) { // before Linux 5.11, or forbidden
		return sealEach("/proc/self/fd")
	}
	return err
}
