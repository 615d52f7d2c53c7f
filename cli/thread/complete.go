package thread

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
)

// CompleteFlags adds completion for the flags of threadOptions.
func CompleteFlags(f *job.Frame, c *cobra.Command) {
	for flag, by := range map[string]sessions.Completer{
		"resume":  sessions.Names(f),
		"session": sessions.Names(f),
		"key":     sessions.SeenIn(f, func(s *skein.Session) []string { return []string{s.Key} }),
		"user":    sessions.SeenIn(f, func(s *skein.Session) []string { return []string{string(s.User)} }),
		"allow":   func(context.Context, string) []string { return roster.New(roster.Options{}).ToolNames() },
	} {
		if c.Flags().Lookup(flag) != nil {
			sessions.CompleteFlag(f, c, flag, by)
		}
	}
	for flag, of := range map[string]func(ctx context.Context, typed string) ([]string, cobra.ShellCompDirective){
		"agent": func(ctx context.Context, typed string) ([]string, cobra.ShellCompDirective) {
			return agents(ctx, f, typed)
		},
		"profile": func(ctx context.Context, typed string) ([]string, cobra.ShellCompDirective) {
			return agents(ctx, f, typed)
		},
		"model": func(ctx context.Context, typed string) ([]string, cobra.ShellCompDirective) {
			return models(ctx, f, typed)
		},
		"cwd": func(context.Context, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	} {
		job.MustComplete(c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return of(c.Context(), typed)
		}))
	}
}

// agents completes the name of an agent, or a file.
func agents(_ context.Context, f *job.Frame, typed string) (words []string, then cobra.ShellCompDirective) {
	j, err := f.NewJob()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	cwd, err := j.Getwd()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	all, _, err := Roster(j, nil, cwd).Definitions()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	for _, d := range all {
		if strings.HasPrefix(d.Name, typed) {
			words = append(words, d.Name+"\t"+d.Description)
		}
	}
	return words, cobra.ShellCompDirectiveDefault
}

// models completes the name of a model: one that answered before, or a provider.
func models(ctx context.Context, f *job.Frame, typed string) (words []string, then cobra.ShellCompDirective) {
	words = sessions.SeenIn(f, func(s *skein.Session) []string { return []string{OwnModel(s)} })(ctx, typed)
	j, err := f.NewJob()
	if err != nil {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	cwd, err := j.Getwd()
	if err != nil {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	if strings.HasPrefix("echo", typed) {
		words = append(words, "echo\tsays again what it is told")
	}
	for _, p := range append(Roster(j, nil, cwd).Providers(), "replay") {
		if strings.HasPrefix(p, typed) {
			words = append(words, p+":")
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
