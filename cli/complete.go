package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

// A completer returns what a word that begins with typed may become: each the
// word, and after a tab what it is.
type completer func(ctx context.Context, typed string) []string

// most is how many sessions are offered, and looked at.
const most = 200

// names completes the name of a session: its ID as lists show it, or its
// title. What goes wrong gives no completions: nobody could read an error.
func (f *frame) names(ctx context.Context, typed string) (words []string) {
	j, err := f.job()
	if err != nil {
		return nil
	}
	if j.store, err = j.Open(ctx, j.place); err != nil {
		return nil
	}
	defer func() { _ = j.store.Close() }()
	found, err := j.sessions(ctx, skein.Filter{NoChildren: true, Limit: most})
	if err != nil {
		return nil
	}
	for _, s := range found {
		name := render.Line(s.Name())
		for _, w := range []string{shortID(s.ID), string(s.ID), s.Key, render.Line(s.Title)} {
			if w != "" && strings.HasPrefix(strings.ToLower(w), strings.ToLower(typed)) {
				words = append(words, w+"\t"+name)
				break
			}
		}
	}
	return words
}

// completeArg completes the first word after the command by by, others as
// files.
func (f *frame) completeArg(c *cobra.Command, by completer) {
	c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return by(c.Context(), typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeArgs completes every word after the command by by.
func (f *frame) completeArgs(c *cobra.Command, by completer) {
	c.ValidArgsFunction = func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return by(c.Context(), typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// complete completes the value of a flag by by.
func (f *frame) complete(c *cobra.Command, flag string, by completer) {
	mustComplete(c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return by(c.Context(), typed), cobra.ShellCompDirectiveNoFileComp
	}))
}

// fixed completes the value of a flag to one of values.
func fixed(c *cobra.Command, flag string, values ...string) {
	mustComplete(c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// mustComplete panics if a command completes a flag that it does not have.
func mustComplete(err error) {
	if err != nil {
		panic("cli: " + err.Error())
	}
}
