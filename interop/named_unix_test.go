//go:build unix

package interop_test

import (
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/skein-dev/skein/interop"
)

// A file that may have no end is not read, and if the user named it, it is reported.
func TestWhatIsNoFileFailsIfItIsNamed(t *testing.T) {
	for what, put := range map[string]func(path string) error{
		"a named pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a device":     func(path string) error { return os.Symlink(os.DevNull, path) },
		"a socket": func(path string) error {
			t.Chdir(t.TempDir()) // the path of a socket has to be short
			l, err := net.Listen("unix", "s")
			if err != nil {
				return err
			}
			t.Cleanup(func() { l.Close() })
			return os.Rename("s", path)
		},
	} {
		p := newPlace(t)
		p.write("b.toy", "b1")
		if err := put(p.path("a.toy")); err != nil {
			t.Fatal(err)
		}
		rep := p.names(interop.Options{}, "a.toy", "b.toy")
		if rep.Failed != 1 || len(rep.Skips) != 1 || !strings.Contains(rep.Skips[0].Why, what) {
			t.Errorf("Import of %s = %+v, want it named", what, rep)
		}
		p.wants("b", "created b1")
		if rep := p.names(interop.Options{}, ""); rep.Failed != 0 || rep.Skipped != 1 {
			t.Errorf("Import of a folder with %s = %+v, want it passed over", what, rep)
		}
	}
}
