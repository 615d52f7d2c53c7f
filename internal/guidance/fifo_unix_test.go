//go:build unix

package guidance

import (
	"os"
	"syscall"
	"testing"
)

func TestAFIFOIsNotWaitedFor(t *testing.T) {
	d := newDesk(t)
	d.write("shop/CLAUDE.md", "@pipe.md\nhere")
	for _, name := range []string{"shop/AGENTS.md", "shop/pipe.md", "own-MEMORY.md"} {
		if err := syscall.Mkfifo(d.path(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(d.path("own"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.link("../own-MEMORY.md", "own/MEMORY.md")
	d.wants("shop", []string{"CLAUDE.md: here"}, []string{
		d.path("own/MEMORY.md") + ": it is not read: not a regular file",
		"AGENTS.md: it is not read: not a regular file",
		"CLAUDE.md: @pipe.md is not read: not a regular file",
	})
}
