package trace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/store/provenance"
)

// trailerTime is how long a commit may wait for its trailers.
const trailerTime = 5 * time.Second

// NewTrailer returns the command trailer, which hooks of Git run.
func NewTrailer(f *job.Frame) *cobra.Command {
	var only string
	c := &cobra.Command{
		Use:    "trailer FILE [flags]",
		Short:  "name the sessions of a commit in its message",
		Hidden: true,
		Long: `Add a trailer Skein-Session to the message of a commit that is being made, which is
in FILE, for each session that wrote lines of it, as far as the store has them.
skein setup --git enters this command in hooks of a repository. A commit does not
wait for it for more than 5 seconds.`,
		Args: job.Words(1, 1, "the FILE with the message"),
		RunE: f.WithStore(func(ctx context.Context, j *job.Job, args []string) (err error) {
			ctx, stop := context.WithTimeout(ctx, trailerTime)
			defer stop()
			file, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			t, err := provenance.Open(ctx, j.Store, ".")
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, t.Close()) }()
			if only != "" && !sameFile(t.Tree.Common, only) {
				return nil
			}
			return t.AddTrailers(ctx, file)
		}),
	}
	c.Flags().StringVar(&only, "only", "", "do nothing unless `DIR` is the folder that Git keeps for the repository here")
	return c
}

// sameFile reports whether two paths are of one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
