//go:build unix

package child

import (
	"os"
	"strconv"
	"syscall"
)

// sealEach marks the descriptors that folder lists.
func sealEach(folder string) error {
	open, err := os.ReadDir(folder)
	for _, e := range open {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > 2 {
			syscall.CloseOnExec(n)
		}
	}
	return err
}
