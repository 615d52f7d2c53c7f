package exchange

import (
	"fmt"
	"strings"

	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/interop"
)

// TellSynced says what was written.
func TellSynced(j *job.Job, f interop.Format, done interop.Synced) {
	what := "nothing new for " + j.Tilde(done.Path)
	if done.Events > 0 {
		what = fmt.Sprintf("wrote %s to %s", terminal.Count(done.Events, "event"), j.Tilde(done.Path))
	}
	j.Say("%s", strings.Join(append([]string{sessions.ShortID(done.Session) + ": " + what}, lossLines(f, done.Losses, "stays here")...), "\n"))
	tellDamaged(j, done.Damaged)
}
