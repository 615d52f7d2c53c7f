package interop

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/repository"
)

// maxRef is the longest name of a branch that is taken from a file, in bytes, and
// that of a commit.
const maxRef = 1024

// Recorded returns what a record says about a repository by its remote's address, a
// branch and a commit; "" for what it does not say. Nothing of an address is kept but
// host and path: users and passwords are not, and neither are folders of a machine. A
// branch that is "HEAD", as Git calls what is not one, is none.
func Recorded(address, branch, commit string) skein.Checkout {
	x := skein.Checkout{Repository: string(repository.Normalize(address)), Branch: strings.TrimPrefix(branch, "refs/heads/"), Commit: strings.ToLower(commit)}
	if x.Branch == "HEAD" || len(x.Branch) > maxRef || !utf8.ValidString(x.Branch) || strings.ContainsFunc(x.Branch, unicode.IsControl) {
		x.Branch = ""
	}
	if len(x.Commit) > maxRef || strings.Trim(x.Commit, "0123456789abcdef") != "" {
		x.Commit = ""
	}
	return x
}

// Address returns an address that Recorded reads as the session's repository; "" if
// it has none.
func Address(x skein.Checkout) string {
	if x.Repository == "" || strings.HasPrefix(x.Repository, "root:") {
		return ""
	}
	return "https://" + x.Repository
}

// Checkouts are what was checked out in the course of a session.
type Checkouts []checkoutFrom

// A checkoutFrom is what is checked out from a seq on.
type checkoutFrom struct {
	seq skein.Seq
	is  skein.Checkout
}

// Checkouts returns what was checked out in the course of the session.
func (d Draft) Checkouts() (all Checkouts) {
	var now skein.Shown
	for _, e := range d.Events {
		if e.Kind != skein.KindCreated && e.Kind != skein.KindChanged {
			continue
		}
		facts, err := skein.FactsOf(e)
		if err != nil {
			continue
		}
		was := now.Checkout
		if now.Set(facts); now.Checkout != was {
			all = append(all, checkoutFrom{e.Seq, now.Checkout})
		}
	}
	return all
}

// At returns what was checked out at a seq.
func (c Checkouts) At(seq skein.Seq) skein.Checkout {
	i := sort.Search(len(c), func(i int) bool { return c[i].seq > seq })
	if i == 0 {
		return skein.Checkout{}
	}
	return c[i-1].is
}
