package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
)

type versionOptions struct{ json bool }

func newVersion(f *frame) *cobra.Command {
	var o versionOptions
	c := &cobra.Command{
		Use:   "version",
		Short: "print skein's version",
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
	_, err := io.WriteString(j.Stdout, versionLine(j.Env))
	return err
}

func versionLine(env *Env) string {
	return fmt.Sprintf("skein %s (%s, %s/%s)\n", env.Version, runtime.Version(), env.OS, runtime.GOARCH)
}
