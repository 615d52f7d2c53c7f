//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skein-dev/skein/internal/disktest"
	"github.com/skein-dev/skein/llm/llmtest"
)

// long is a command whose output does not compress well.
const long = "head -c 1500000 /dev/urandom | od -An -v -tx1"

const roomless = "make room on the disk"

// A limit on the size of files is reached in the middle of a turn.
func TestARunWhoseFilesMayNotGrowLosesNothing(t *testing.T) {
	at(t, []llmtest.Reply{llmtest.Says("Well."), runs(long)}, func(d *desk) {
		d.types("run", "--key", "k", "--model", d.model, "so", "far").want(0, "")
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		limited := append([]string{"-c", `ulimit -f 1600; exec "$@"`, "sh", self}, d.first()...)
		d.launch("1", exec.Command("sh", limited...)).wait().want(1, "", roomless)
		d.afterRoom()
	})
}

// The disk fills in the middle of a turn, and later there is room again.
func TestARunWhoseDiskFillsLosesNothing(t *testing.T) {
	at(t, []llmtest.Reply{llmtest.Says("Well."), runs(held + long)}, func(d *desk) {
		disktest.Small(d, d.home, "6m")
		d.types("run", "--key", "k", "--model", d.model, "so", "far").want(0, "Well.\n")
		g := d.gate()
		p := d.start("1", d.first()...)
		g.reached(p)
		fill := filepath.Join(d.home, "fill")
		if err := os.WriteFile(fill, make([]byte, 64<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("the disk is not full: %v", err)
		}
		g.open()
		p.wait().want(1, "", roomless)
		d.types("show", "k").want(0, "so far")                    // reading still works
		if p := d.types("resume", "k", "one more"); p.code != 0 { // a short prompt may still fit
			p.want(1, "", roomless)
		}
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
		d.afterRoom()
	})
}

// afterRoom resumes the session k after there was no room for the result of a tool
// call.
func (d *desk) afterRoom() {
	d.Helper()
	had := len(d.server.Requests())
	d.goOn().want(0, "It is so.\n")
	if n := len(d.server.Requests()); n != had+1 {
		d.Errorf("the provider was asked %d times, want once", n-had)
	}
	shows := d.types("show", "k").want(0, "").out.String()
	for _, said := range []string{"so far", "go ahead", "It is so."} {
		if !strings.Contains(shows, said) {
			d.Errorf("show says\n%s\nwant %q in it", shows, said)
		}
	}
	if n := d.effects(); n != 1 {
		d.Errorf("the tool ran %d times, want once", n)
	}
	d.whole()
	d.wantUncertain(true)
}
