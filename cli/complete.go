package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

// A completer returns completions of a word that begins with typed: each is the
// word, and after a tab a description.
type completer func(ctx context.Context, typed string) []string

// most is how many sessions are read, and at most offered.
const most = 200

// recently returns the newest sessions. If that fails it returns nil: there is no
// place to show an error.
func (f *frame) recently(ctx context.Context, of skein.Filter) []skein.Session {
	j, err := f.job()
	if err != nil {
		return nil
	}
	if err = j.begin(ctx); err != nil {
		return nil
	}
	defer func() { _ = j.whole.Close() }()
	of.Limit = most
	found, err := j.sessions(ctx, of)
	if err != nil {
		return nil
	}
	return found
}

// names completes the name of a session: its ID as lists show it, or its title.
func (f *frame) names() completer {
	return func(ctx context.Context, typed string) []string {
		return namesOf(f.recently(ctx, skein.Filter{NoChildren: true}), typed)
	}
}

// binned completes the name of a session in the bin.
func (f *frame) binned() completer {
	return func(ctx context.Context, typed string) []string {
		return namesOf(f.recently(ctx, skein.Filter{Bin: true}), typed)
	}
}

func namesOf(found []skein.Session, typed string) (words []string) {
	short := shortIDs(found)
	for i, s := range found {
		name := render.Line(s.Name())
		for _, w := range []string{short[i], string(s.ID), s.Key, render.Line(s.Title)} {
			if w != "" && strings.HasPrefix(strings.ToLower(w), strings.ToLower(typed)) {
				words = append(words, w+"\t"+name)
				break
			}
		}
	}
	return words
}

// seen completes to the values that the newest sessions have in one field.
func (f *frame) seen(of func(*skein.Session) []string) completer {
	return func(ctx context.Context, typed string) []string {
		var words []string
		for _, s := range f.recently(ctx, skein.Filter{}) {
			for _, w := range of(&s) {
				if w = render.Line(w); w != "" && strings.HasPrefix(w, typed) {
					words = append(words, w)
				}
			}
		}
		slices.Sort(words)
		return slices.Compact(words)
	}
}

// completeSessionFlags completes those flags of c that filter sessions.
func (f *frame) completeSessionFlags(c *cobra.Command) {
	if c.Flags().Lookup("take-over") != nil { // there these flags choose who answers
		f.completeThreadFlags(c)
		return
	}
	for flag, of := range map[string]func(*skein.Session) []string{
		"agent":   func(s *skein.Session) []string { return []string{s.Agent} },
		"model":   func(s *skein.Session) []string { return []string{s.Model} },
		"profile": func(s *skein.Session) []string { return []string{s.Profile} },
		"tag":     func(s *skein.Session) []string { return s.Tags },
		"origin": func(s *skein.Session) []string {
			if s.Origin == nil {
				return nil
			}
			return []string{s.Origin.Format}
		},
	} {
		if c.Flags().Lookup(flag) != nil {
			f.complete(c, flag, f.seen(of))
		}
	}
}

// completeNames completes NAME where it is in a command's use line, unless the
// command has its own completion.
func (f *frame) completeNames(c *cobra.Command) {
	switch words := strings.Fields(c.Use); {
	case c.ValidArgsFunction != nil || len(words) < 2:
	case c.Name() == "restore":
		f.completeArgs(c, f.binned())
	case words[1] == "NAME":
		f.completeArg(c, f.names())
	case words[1] == "NAME...", words[1] == "NAME…":
		f.completeArgs(c, f.names())
	}
}

// completeArg completes the first argument with by, and the others as files.
func (f *frame) completeArg(c *cobra.Command, by completer) {
	c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return by(c.Context(), typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeArgs completes every argument with by.
func (f *frame) completeArgs(c *cobra.Command, by completer) {
	c.ValidArgsFunction = func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return by(c.Context(), typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// complete completes the value of a flag with by.
func (f *frame) complete(c *cobra.Command, flag string, by completer) {
	mustComplete(c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return by(c.Context(), typed), cobra.ShellCompDirectiveNoFileComp
	}))
}

// fixed completes the value of a flag to one of values.
func fixed(c *cobra.Command, flag string, values ...string) {
	mustComplete(c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// mustComplete panics if a completion is registered for a flag that does not exist.
func mustComplete(err error) {
	if err != nil {
		panic("cli: " + err.Error())
	}
}
