package disktest

import (
	"os/exec"
	"testing"
)

// Small mounts a disk of a size, such as "4m", at the folder dir until the test
// ends. If that is not permitted, it skips the test.
func Small(t testing.TB, dir, size string) {
	t.Helper()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "mode=700,size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: a small tmpfs cannot be mounted (that takes root): %v %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
}
