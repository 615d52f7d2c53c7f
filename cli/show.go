package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

type showOptions struct{ last int }

func newShow(f *frame) *cobra.Command {
	var o showOptions
	c := &cobra.Command{
		Use:   "show NAME [flags]",
		Short: "read a session",
		Args:  words(1, 1, "the NAME of a session"),
		RunE:  f.withStore(o.run),
	}
	c.Flags().IntVar(&o.last, "last", 0, "only the newest `N` messages")
	return c
}

func (o *showOptions) run(ctx context.Context, j *job, args []string) error {
	s, err := j.session(ctx, args[0])
	if err != nil {
		return err
	}
	entries, err := j.store.Newest(ctx, s.ID, cmpOr(o.last, max(s.Messages, 1)), 0)
	if err != nil {
		return err
	}
	return j.page(ctx, func(w io.Writer) error { return writeEntries(w, entries) })
}

func writeEntries(w io.Writer, entries []skein.Entry) error {
	for _, e := range entries {
		if _, err := fmt.Fprintf(w, "%s: %s\n\n", e.Message.Role, render.Clean(e.Message.Words())); err != nil {
			return err
		}
	}
	return nil
}
