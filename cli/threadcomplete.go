package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/roster"
)

// completeThreadFlags adds completion for the flags of threadOptions.
func (f *frame) completeThreadFlags(c *cobra.Command) {
	for flag, by := range map[string]completer{
		"resume":  f.names(),
		"session": f.names(),
		"key":     f.seen(func(s *skein.Session) []string { return []string{s.Key} }),
		"user":    f.seen(func(s *skein.Session) []string { return []string{string(s.User)} }),
		"allow":   func(context.Context, string) []string { return roster.New(roster.Options{}).ToolNames() },
	} {
		if c.Flags().Lookup(flag) != nil {
			f.complete(c, flag, by)
		}
	}
	for flag, of := range map[string]func(ctx context.Context, typed string) ([]string, cobra.ShellCompDirective){
		"agent": func(ctx context.Context, typed string) ([]string, cobra.ShellCompDirective) {
			return f.agents(ctx, typed)
		},
		"profile": func(ctx context.Context, typed string) ([]string, cobra.ShellCompDirective) {
			return f.agents(ctx, typed)
		},
		"model": func(ctx context.Context, typed string) ([]string, cobra.ShellCompDirective) {
			return f.models(ctx, typed)
		},
		"cwd": func(context.Context, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	} {
		mustComplete(c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return of(c.Context(), typed)
		}))
	}
}

// agents completes the name of an agent, or a file.
func (f *frame) agents(_ context.Context, typed string) (words []string, then cobra.ShellCompDirective) {
	j, err := f.job()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	cwd, err := j.Getwd()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	all, _, err := j.roster(nil, cwd).Definitions()
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
func (f *frame) models(ctx context.Context, typed string) (words []string, then cobra.ShellCompDirective) {
	words = f.seen(func(s *skein.Session) []string { return []string{ownModel(s)} })(ctx, typed)
	j, err := f.job()
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
	for _, p := range append(j.roster(nil, cwd).Providers(), "replay") {
		if strings.HasPrefix(p, typed) {
			words = append(words, p+":")
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
