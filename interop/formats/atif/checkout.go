package atif

import (
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// checkoutOf reads what was checked out where a session began, which is in skein's own
// extra fields.
func checkoutOf(o loose.Object) skein.Checkout {
	repository := o.Str("repository")
	x := interop.Recorded("https://"+repository, o.Str("branch"), o.Str("commit"))
	if strings.HasPrefix(repository, "root:") {
		x.Repository = repository
	}
	x.Worktree, x.Subfolder, x.Host = o.Str("worktree"), o.Str("subfolder"), o.Str("host")
	return x
}
