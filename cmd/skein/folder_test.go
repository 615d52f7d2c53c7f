//go:build unix

package main

import (
	"os"
	"testing"
)

// If a session's folder is gone, the person is asked, and can continue in their own.
func TestAChatAsksWhereToGoOnWhenTheFolderIsGone(t *testing.T) {
	p := newPane(t, 160, 40)
	old := p.home + "/old"
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	p.enter("skein run --model echo --key k --cwd " + old + " hello")
	p.await(`^Resume with: .*\n\$ *\z`)
	if err := os.Remove(old); err != nil {
		t.Fatal(err)
	}

	p.clear()
	p.enter("skein chat --key k")
	p.await(`^\? The session's folder .* is gone\. Go on in .*\?\n\[y\] yes  \[n\] no`)
	p.keys("n")
	p.await(`^go on in another one: --cwd FOLDER\n\$ *\z`)
	p.code(3)

	p.clear()
	p.enter("skein chat --key k --allow shell --no-history")
	p.await(`^\[y\] yes  \[n\] no`)
	p.keys("y")
	p.prompt()
	p.enter(`echo: call shell {"command": "basename $PWD"}`)
	p.await(`^api$`)
	p.leave()
	p.clear()
	p.chat("--key k --no-history") // asked only once
	p.leave()
}
