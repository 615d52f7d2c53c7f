package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

func newMan(f *frame) *cobra.Command {
	c := &cobra.Command{
		Use:     "man",
		Short:   "print the manual page",
		Long:    "Print the manual page in the format that man reads.",
		Example: `skein man | man -l -`,
		Args:    words(0, 0, ""),
	}
	c.RunE = f.plain(func(_ context.Context, j *job, _ []string) error {
		var m manual
		m.write(c.Root(), j.Version)
		_, err := io.WriteString(j.Stdout, m.String())
		return err
	})
	return c
}
