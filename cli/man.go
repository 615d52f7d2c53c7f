package cli

import (
	"context"
	"io"

	mango "github.com/muesli/mango-cobra"
	"github.com/muesli/roff"
	"github.com/spf13/cobra"
)

func newMan(f *frame) *cobra.Command {
	c := &cobra.Command{
		Use:     "man",
		Short:   "print the manual page",
		Long:    "Print the manual page, as man reads it.",
		Example: `skein man | man -l -`,
		Args:    words(0, 0, ""),
	}
	c.RunE = f.plain(func(_ context.Context, j *job, _ []string) error {
		page, err := mango.NewManPage(1, c.Root())
		if err != nil {
			return err
		}
		_, err = io.WriteString(j.Stdout, page.Build(roff.NewDocument()))
		return err
	})
	return c
}
