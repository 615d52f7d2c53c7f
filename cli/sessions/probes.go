package sessions

import (
	"os"

	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/internal/hooknews"
	"github.com/skein-dev/skein/store/activity"
)

// Probes returns where to look on this machine what sessions are doing: at their
// source files, and at what the hooks of agents say.
func Probes(j *job.Job) activity.Probes {
	return activity.Probes{File: os.Stat, News: hooknews.At(j.Dirs.State).Of}
}
