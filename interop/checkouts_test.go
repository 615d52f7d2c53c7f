package interop_test

import (
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

func TestOfAnAddressOnlyHostAndPathAreKept(t *testing.T) {
	for _, c := range []struct {
		address, branch, commit string
		want                    skein.Checkout
	}{
		{"https://ada:s3cret@github.com/Ada/App.git", "refs/heads/main", "64F8", skein.Checkout{Repository: "github.com/ada/app", Branch: "main", Commit: "64f8"}},
		{"git@git.example.com:Ada/App", "a/b", "", skein.Checkout{Repository: "git.example.com/Ada/App", Branch: "a/b"}},
		{"/home/ada/app", "HEAD", "not a hash", skein.Checkout{}},
		{"", "a\x1bb", "", skein.Checkout{}},
	} {
		got := interop.Recorded(c.address, c.branch, c.commit)
		if got != c.want {
			t.Errorf("Recorded(%q, %q, %q) = %+v, want %+v", c.address, c.branch, c.commit, got, c.want)
		}
		if back := interop.Recorded(interop.Address(got), "", "").Repository; back != got.Repository {
			t.Errorf("Recorded(Address(%+v)) = %q", got, back)
		}
	}
}
