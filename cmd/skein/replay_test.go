//go:build unix

package main

import (
	"strings"
	"testing"
)

// While a session is replayed in a terminal, single keys are read: Ctrl-C shows the
// rest at once, and the terminal is restored.
func TestCtrlCShowsTheRestOfAReplay(t *testing.T) {
	p := newPane(t, 60, 40)
	p.enter("for n in one two three four; do echo message $n | skein append k --create --role user >/dev/null; done")
	p.code(0)
	p.clear()
	p.enter("skein replay k --speed 0.0001; echo code $?")
	p.keys("Space") // so that the first pause lasts until a key ends it
	if s := p.await("message one"); strings.Contains(s, "message two") {
		t.Fatalf("the replay shows without a pause:\n%s", s)
	}
	p.keys("C-c")
	p.await(`(?s)\nmessage two\n.*\nmessage three\n.*\nmessage four\n+code 0\n`)
	p.clear()
	p.enter("echo is it cooked")
	p.await(`(?m)^\$ echo is it cooked\nis it cooked$`)
}
