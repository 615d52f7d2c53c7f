package sessions

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/render"
)

// A Completer returns completions of a word that begins with typed: each is the
// word, and after a tab a description.
type Completer func(ctx context.Context, typed string) []string

// Most is how many sessions are read, and at most offered.
const Most = 200

// recently returns the newest sessions. If that fails it returns nil: there is no
// place to show an error.
func recently(ctx context.Context, f *job.Frame, of skein.Filter) []skein.Session {
	j, err := f.NewJob()
	if err != nil {
		return nil
	}
	if err = j.Begin(ctx); err != nil {
		return nil
	}
	defer func() { _ = j.Whole.Close() }()
	of.Limit = Most
	found, err := Matching(ctx, j, of)
	if err != nil {
		return nil
	}
	return found
}

// Names completes the name of a session: its ID as lists show it, or its title.
func Names(f *job.Frame) Completer {
	return func(ctx context.Context, typed string) []string {
		return NamesOf(recently(ctx, f, skein.Filter{NoChildren: true}), typed)
	}
}

// binned completes the name of a session in the bin.
func binned(f *job.Frame) Completer {
	return func(ctx context.Context, typed string) []string {
		return NamesOf(recently(ctx, f, skein.Filter{Bin: true}), typed)
	}
}

// NamesOf returns the names of found that begin with typed, each with its title
// after a tab.
func NamesOf(found []skein.Session, typed string) (words []string) {
	short := shortIDs(found)
	for i, s := range Secrets(false).Mask().Sessions(found) {
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

// SeenIn completes to the values that the newest sessions have in one field.
func SeenIn(f *job.Frame, of func(*skein.Session) []string) Completer {
	return func(ctx context.Context, typed string) []string {
		var words []string
		for _, s := range recently(ctx, f, skein.Filter{}) {
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

// CompleteNames completes NAME where it is in a command's use line, unless the
// command has its own completion.
func CompleteNames(f *job.Frame, c *cobra.Command) {
	switch words := strings.Fields(c.Use); {
	case c.ValidArgsFunction != nil || len(words) < 2:
	case c.Name() == "restore":
		completeArgs(f, c, binned(f))
	case words[1] == "NAME":
		CompleteArg(f, c, Names(f))
	case words[1] == "NAME...", words[1] == "NAME…":
		completeArgs(f, c, Names(f))
	}
}

// CompleteArg completes the first argument with by, and the others as files.
func CompleteArg(f *job.Frame, c *cobra.Command, by Completer) {
	c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return by(c.Context(), typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeArgs completes every argument with by.
func completeArgs(f *job.Frame, c *cobra.Command, by Completer) {
	c.ValidArgsFunction = func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return by(c.Context(), typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteFlag completes the value of a flag with by.
func CompleteFlag(f *job.Frame, c *cobra.Command, flag string, by Completer) {
	job.MustComplete(c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return by(c.Context(), typed), cobra.ShellCompDirectiveNoFileComp
	}))
}

// RoleNames returns every role.
func RoleNames() []string {
	return []string{string(skein.RoleUser), string(skein.RoleAssistant), string(skein.RoleTool), string(skein.RoleSystem), string(skein.RoleSteer)}
}

// CheckRole returns an error, which wraps fault.ErrUsage, if r is no role.
func CheckRole(r skein.Role) error {
	if !slices.Contains(RoleNames(), string(r)) {
		return fault.Usage("--role %q: want user, assistant, tool, system or steer", r)
	}
	return nil
}
