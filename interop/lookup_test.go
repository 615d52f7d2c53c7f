package interop_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/repository"
	"github.com/skein-dev/skein/interop"
)

// clone makes a folder that is a clone of a repository, and returns it.
func (p *place) clone(name, remote string) string {
	p.Helper()
	dir := p.path(name)
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
		p.Fatal(err)
	}
	p.raw(name+"/.git/HEAD", "ref: refs/heads/now\n")
	p.raw(name+"/.git/config", "[remote \"origin\"]\n\turl = "+remote+"\n")
	return dir
}

// lookedUp returns what a folder says about a session.
func lookedUp(dir string) skein.Checkout {
	at, err := repository.At(dir)
	if err != nil {
		return skein.Checkout{}
	}
	return skein.Checkout{Repository: string(at.Repository), Subfolder: at.Folder, Worktree: at.Worktree, Host: "here"}
}

func (p *place) checkout(id skein.SessionID) skein.Checkout {
	p.Helper()
	s, err := p.store.Session(p.Context(), id)
	if err != nil {
		p.Fatal(err)
	}
	x := s.Checkout
	x.Host = ""
	return x
}

func TestWhatAFolderSaysIsLookedUpOnceWhenItsSessionIsImportedHere(t *testing.T) {
	p := newPlace(t)
	dir := p.clone("clone", "https://ada:secret@example.com/ada/app.git")
	in := func(id string) string { return fmt.Sprintf(`{"id":%q,"say":%q,"cwd":%q}`+"\n", id, id, dir) }
	p.write("a.toy", in("a1"), "a2")
	p.bring(interop.Options{})
	if got := p.checkout("a"); got != (skein.Checkout{}) {
		t.Errorf("Checkout of a session that was made elsewhere = %+v, want none", got)
	}

	p.write("b.toy", in("b1"), "b2")
	p.bring(interop.Options{Checkout: lookedUp})
	want := skein.Checkout{Repository: "example.com/ada/app", LookedUp: "repository host"}
	if got := p.checkout("b"); got != want {
		t.Errorf("Checkout = %+v, want %+v", got, want)
	}
	if got := p.checkout("a"); got != (skein.Checkout{}) {
		t.Errorf("Checkout of a session that was imported before = %+v, want none", got)
	}

	// It is not looked up again, and what has become of the folder changes nothing.
	p.clone("clone", "https://example.com/ada/other.git")
	p.write("b.toy", in("b1"), "b2", "b3")
	p.bring(interop.Options{Checkout: lookedUp})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	p.write("b.toy", in("b1"), "b2=new", "b3")
	p.bring(interop.Options{Checkout: lookedUp})
	p.wants("b", "created b1 b2 b3 3:=new")
	if got := p.checkout("b"); got != want {
		t.Errorf("Checkout after its folder is gone = %+v, want %+v", got, want)
	}

	// A folder that is gone says nothing, although one above it is a repository.
	p.clone(".", "https://example.com/ada/home.git")
	p.write("c.toy", in("c1"))
	p.bring(interop.Options{Checkout: lookedUp})
	if got := p.checkout("c"); got != (skein.Checkout{}) {
		t.Errorf("Checkout of a session whose folder is gone = %+v, want none", got)
	}
}
