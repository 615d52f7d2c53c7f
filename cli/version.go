package cli

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

type versionOptions struct{ json bool }

func newVersion(f *frame) *cobra.Command {
	var o versionOptions
	c := &cobra.Command{
		Use:   "version",
		Short: "say which skein this is",
		Args:  words(0, 0, ""),
		RunE:  f.plain(o.run),
	}
	jsonFlag(c, &o.json)
	return c
}

func (o *versionOptions) run(_ context.Context, j *job, _ []string) error {
	if o.json {
		return writeJSON(j.Stdout, map[string]string{"version": j.Version, "go": runtime.Version(), "os": j.OS, "arch": runtime.GOARCH})
	}
	_, err := fmt.Fprintf(j.Stdout, "skein %s (%s, %s/%s)\n", j.Version, runtime.Version(), j.OS, runtime.GOARCH)
	return err
}
