package interop_test

import (
	"context"
	"os"
	"testing"

	"github.com/skein-dev/skein/interop"
)

func TestANamedPathThatCannotBeLookedAtKeepsNoOther(t *testing.T) {
	p := newPlace(t)
	p.write("b.toy", "b1")
	if err := os.Symlink("loop", p.path("loop")); err != nil {
		t.Skipf("no symbolic link can be made here: %v", err)
	}
	for range 2 {
		if rep := p.names(interop.Options{}, "loop", "b.toy"); rep.Failed != 1 || len(rep.Skips) != 1 || rep.Skips[0].Path != p.path("loop") {
			t.Errorf("Import = %+v, want the link named", rep)
		}
	}
	p.wants("b", "created b1")
}

func TestASourceWhoseSideFileCannotBeReadIsTriedAgain(t *testing.T) {
	f := toy()
	f.Write = func(context.Context, interop.Draft) (interop.Written, error) { return interop.Written{}, nil }
	p := newPlace(t)
	p.write("a.toy", "a1")
	if err := os.Mkdir(p.path(".a.toy.skein"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if rep := p.bringAs(f); rep.Failed != 1 || rep.Sessions != 0 || rep.Skips[0].Path != p.path("a.toy") {
			t.Errorf("Import = %+v, want it named, and nothing taken", rep)
		}
	}
	if err := os.Remove(p.path(".a.toy.skein")); err != nil {
		t.Fatal(err)
	}
	if rep := p.bringAs(f); rep.Failed != 0 || rep.Sessions != 1 {
		t.Errorf("Import after that = %+v, want its session", rep)
	}
}
