package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// Main runs the command in args and returns the exit code: 0 success, 1 failure, 2
// the command line was wrong or the name ambiguous, 3 not found, 4 locked by
// another program, 130 interrupted. When ctx is canceled, the command stops; what
// it had stored stays stored.
func Main(ctx context.Context, env *Env, args []string) int {
	frugal()
	f := &frame{env: env}
	root := newRoot(f)
	root.SetArgs(protect(root, understand(root, args)))
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if ctx.Err() != nil {
		err = givenUp(err)
	}
	if !f.started && !errors.Is(err, errUsage) {
		err = usagef("%v", err) // an error of cobra's about flags
	}
	return f.report(err, cmd.CommandPath())
}

// givenUp returns the error to report for a command that was interrupted and ended
// with err. What an interruption can cause is not worth mentioning: that something
// was cut short, or an error of no known kind. Every other kind of error says what the
// command found out.
func givenUp(err error) error {
	for _, o := range outcomes {
		if slices.Contains(cutShort, o.err) || !errors.Is(err, o.err) {
			continue
		}
		found := error(&told{sentence(err), o.err})
		if a := (*advised)(nil); errors.As(err, &a) {
			found = &advised{found, a.hint}
		}
		return found
	}
	return context.Canceled
}

// report prints err for people and returns its exit code.
func (f *frame) report(err error, cmd string) int {
	env, w := f.env, f.env.Stderr
	code, hint := outcome(err, cmd)
	switch {
	case errors.Is(err, errSilent):
	case code == exitInterrupted:
		fmt.Fprintln(w, "skein: interrupted")
	default:
		env.tell("skein: " + strings.TrimSpace(sentence(err)))
		if f.verbose {
			env.tell("the error's path: " + strings.TrimSpace(err.Error()))
		}
		writeCandidates(w, err, env.Now())
		if hint != "" {
			env.tell(hint)
		}
	}
	return code
}

// newRoot returns the root command, skein, with all its commands.
func newRoot(f *frame) *cobra.Command {
	root := newOverview(f)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = f.env.Version
	root.Flags().Bool("version", false, "print skein's version")
	root.SetVersionTemplate(versionLine(f.env))
	root.SetIn(f.env.Stdin)
	root.SetOut(f.env.Stdout)
	root.SetErr(f.env.Stderr)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usagef("%s", flagText(err)) })
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { f.help(c) })
	root.SetHelpCommand(newHelp())
	g := root.PersistentFlags()
	g.StringVar(&f.store, "store", "", "use the store at this `path`, or on a server: postgres://HOST/NAME or https://HOST:PORT")
	g.StringVar(&f.color, "color", "", "`when` to use colors: auto, always or never")
	g.BoolVar(&f.noPager, "no-pager", false, "do not use a pager for long output")
	g.BoolVar(&f.verbose, "verbose", false, "show errors in full, with every step that led to them")
	g.BoolP("help", "h", false, "show help for the command")
	for _, group := range groups {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, command := range group.commands {
			c := command(f)
			c.GroupID = group.title
			c.Annotations = map[string]string{order: strconv.Itoa(len(root.Commands()))}
			f.completeNames(c)
			f.completeSessionFlags(c)
			root.AddCommand(c)
		}
	}
	return root
}

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:    "help [COMMAND]",
		Short:  "show help for a command",
		Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			of, _, err := c.Root().Find(args)
			if err != nil || of == c.Root() && len(args) > 0 {
				return usagef("no command %q", strings.Join(args, " "))
			}
			of.HelpFunc()(of, nil)
			return nil
		},
	}
}
