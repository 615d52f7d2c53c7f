package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
)

type renameOptions struct {
	description string
	json        bool
	described   func() bool // whether --description was given
}

func newRename(f *frame) *cobra.Command {
	var o renameOptions
	c := &cobra.Command{
		Use:   "rename NAME TITLE [flags]",
		Short: "give a session a title",
		Long: `Give a session a title and, optionally, a description. Its ID does not change. A
title from a person is never replaced by one from a model or an import.`,
		Example: `skein rename - "the parser, third try"`,
		Args:    words(2, -1, "the NAME of a session and a TITLE"),
		RunE:    f.withStore(o.run),
	}
	c.Flags().StringVar(&o.description, "description", "", "`text` that describes the session")
	o.described = func() bool { return c.Flags().Changed("description") }
	jsonFlag(c, &o.json)
	return c
}

func (o *renameOptions) run(ctx context.Context, j *job, args []string) error {
	s, err := j.session(ctx, args[0])
	if err != nil {
		return err
	}
	to := skein.Titled{Title: skein.ShortTitle(strings.Join(args[1:], " ")), Description: s.Description, By: skein.ByPerson}
	if to.Title == "" {
		return usagef("rename %s: the title is empty", args[0])
	}
	if o.described() {
		to.Description = o.description
	}
	if _, err := skein.Add(ctx, j.store, s.ID, skein.NewEvent(skein.KindTitled, skein.At(j.Now()), to)); err != nil {
		return err
	}
	j.catchUp(ctx, &s)
	if o.json {
		return j.writeSession(ctx, s.ID)
	}
	j.say("%s is now %q, it was %q", shortID(s.ID), to.Title, s.Name())
	return nil
}

// writeSession prints the current state of session id as JSON.
func (j *job) writeSession(ctx context.Context, id skein.SessionID) error {
	s, err := j.store.Session(ctx, id)
	if err != nil {
		return err
	}
	costs, err := j.costs(ctx, []skein.Session{s})
	if err != nil {
		return err
	}
	return writeSessions(j.Stdout, []skein.Session{s}, costs)
}
