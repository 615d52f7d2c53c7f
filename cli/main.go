package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/keep"
	"github.com/skein-dev/skein/cli/read"
	"github.com/skein-dev/skein/cli/serve"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/setup"
	"github.com/skein-dev/skein/cli/status"
	"github.com/skein-dev/skein/cli/talk"
	"github.com/skein-dev/skein/cli/trace"
	"github.com/skein-dev/skein/cli/write"
)

// Main runs the command in args and returns the exit code: 0 success, 1 failure, 2
// the command line was wrong or the name ambiguous, 3 not found, 4 locked by
// another program, 130 interrupted. When ctx is canceled, the command stops; what
// it had stored stays stored.
func Main(ctx context.Context, env *config.Env, args []string) int {
	frugal()
	f := &job.Frame{Env: env}
	root := newRoot(f)
	root.SetArgs(protect(root, understand(root, args)))
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return fault.ExitDone
	}
	if ctx.Err() != nil {
		err = givenUp(err)
	}
	if !f.Started && !errors.Is(err, fault.ErrUsage) {
		err = fault.Usage("%s", fault.FlagText(err)) // an error of cobra's about flags
	}
	return report(f, err, cmd.CommandPath())
}

// givenUp returns the error to report for a command that was interrupted and ended
// with err. What an interruption can cause is not worth mentioning: that something
// was cut short, or an error of no known kind. Every other kind of error says what the
// command found out.
func givenUp(err error) error {
	for _, o := range fault.Outcomes {
		if slices.Contains(fault.CutShort, o.Err) || !errors.Is(err, o.Err) {
			continue
		}
		found := error(&fault.StatedError{Text: fault.Sentence(err), Kind: o.Err})
		if a := (*fault.AdvisedError)(nil); errors.As(err, &a) {
			found = &fault.AdvisedError{Err: found, Hint: a.Hint}
		}
		return found
	}
	return context.Canceled
}

// report prints err for people and returns its exit code.
func report(f *job.Frame, err error, cmd string) int {
	env, w := f.Env, f.Env.Stderr
	code, hint := fault.Outcome(err, cmd)
	switch {
	case errors.Is(err, fault.ErrSilent):
	case code == fault.ExitInterrupted:
		fmt.Fprintln(w, "skein: interrupted")
	default:
		job.Tell(env, "skein: "+strings.TrimSpace(fault.Sentence(err)))
		if f.Verbose {
			job.Tell(env, "the error's path: "+strings.TrimSpace(err.Error()))
		}
		sessions.WriteCandidates(w, err, env.Now())
		if hint != "" {
			job.Tell(env, hint)
		}
	}
	return code
}

// newRoot returns the root command, skein, with all its commands.
func newRoot(f *job.Frame) *cobra.Command {
	root := newOverview(f)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = f.Env.Version
	root.Flags().Bool("version", false, "print skein's version")
	root.SetVersionTemplate(versionLine(f.Env))
	root.SetIn(f.Env.Stdin)
	root.SetOut(f.Env.Stdout)
	root.SetErr(f.Env.Stderr)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fault.Usage("%s", fault.FlagText(err)) })
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { help(f, c) })
	root.SetHelpCommand(newHelp())
	g := root.PersistentFlags()
	g.StringVar(&f.Store, "store", "", "use the store at this `path`, or on a server: postgres://HOST/NAME or https://HOST:PORT")
	g.StringVar(&f.Color, "color", "", "`when` to use colors: auto, always or never")
	g.BoolVar(&f.NoPager, "no-pager", false, "do not use a pager for long output")
	g.BoolVar(&f.Verbose, "verbose", false, "show errors in full, with every step that led to them")
	g.BoolP("help", "h", false, "show help for the command")
	for _, group := range groups {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, command := range group.commands {
			c := command(f)
			c.GroupID = group.title
			c.Annotations = map[string]string{order: strconv.Itoa(len(root.Commands()))}
			sessions.CompleteNames(f, c)
			completeSessionFlags(f, c)
			if c.HasSubCommands() && !c.Runnable() {
				c.RunE = groupHelp
			}
			root.AddCommand(c)
		}
	}
	return root
}

// groupHelp is what a command does that is only a group of others: it shows its help,
// and refuses words that name none of these.
func groupHelp(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fault.Usage("no command %q", c.Name()+" "+args[0])
	}
	c.HelpFunc()(c, nil)
	return nil
}

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:    "help [COMMAND]",
		Short:  "show help for a command",
		Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			of, _, err := c.Root().Find(args)
			if err != nil || of == c.Root() && len(args) > 0 {
				return fault.Usage("no command %q", strings.Join(args, " "))
			}
			of.HelpFunc()(of, nil)
			return nil
		},
	}
}

func newShow(f *job.Frame) *cobra.Command { return read.NewShow(f, trace.ShowCommit) }

func newLog(f *job.Frame) *cobra.Command { return read.NewLog(f, trace.ListCommits) }

// groups lists every command, in the order of the help.
var groups = []struct {
	title    string
	commands []func(*job.Frame) *cobra.Command
}{
	{"talk", []func(*job.Frame) *cobra.Command{
		talk.NewChat, talk.NewRun, talk.NewContinue, talk.NewResume,
	}},
	{"read", []func(*job.Frame) *cobra.Command{
		read.NewList, read.NewNow, status.NewStatusline, newShow, read.NewTail, read.NewReplay, newLog, read.NewSearch, read.NewTree, read.NewUsage, read.NewExport, read.NewConvert,
	}},
	{"trace", []func(*job.Frame) *cobra.Command{
		trace.NewBlame, trace.NewWhy, trace.NewCommits, trace.NewPR, trace.NewDiff, trace.NewRewind, trace.NewTrailer,
	}},
	{"write", []func(*job.Frame) *cobra.Command{
		write.NewImport, write.NewSync, write.NewHandoff, write.NewPush, write.NewPull, write.NewAppend, write.NewRename, write.NewTag, write.NewPin, write.NewUnpin, write.NewFork, write.NewProject,
	}},
	{"keep", []func(*job.Frame) *cobra.Command{
		keep.NewRm, keep.NewRestore, keep.NewPrune, keep.NewClear, keep.NewScan, keep.NewScrub, keep.NewBackup, keep.NewRestoreBackup, keep.NewDoctor,
	}},
	{"serve", []func(*job.Frame) *cobra.Command{
		serve.NewServe, serve.NewOpen, serve.NewMCP, serve.NewACP, serve.NewGateway, serve.NewShare, serve.NewLink, serve.NewToken, serve.NewUser,
	}},
	{"the program", []func(*job.Frame) *cobra.Command{
		newSetup, setup.NewHook, newAgents, newKey, newConfig, newCompletion, newMan, newVersion,
	}},
}

// order is an annotation: the position of a command in the help. cobra itself sorts
// commands by name.
const order = "order"

// inOrder returns the commands of c in the order of groups.
func inOrder(c *cobra.Command) []*cobra.Command {
	return slices.SortedStableFunc(slices.Values(c.Commands()), func(a, b *cobra.Command) int {
		return place(a) - place(b)
	})
}

func place(c *cobra.Command) int {
	n, err := strconv.Atoi(c.Annotations[order])
	if err != nil {
		return -1
	}
	return n
}

// heapGoal is the memory use, in bytes, above which garbage is collected more often
// than usual: what is made from a long message is large, soon garbage, and has few
// pointers to follow.
const heapGoal = 48 << 20

// frugal keeps memory use small whatever is read, unless GOMEMLIMIT sets a limit.
var frugal = sync.OnceFunc(func() {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	debug.SetMemoryLimit(heapGoal)
	var g goal
	atEachCollection(func() {
		now := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(now)
		debug.SetMemoryLimit(g.after(int64(now[0].Value.Uint64()), int64(now[1].Value.Uint64())))
	})
})

// A goal is the memory use above which garbage is collected at once. If most of the
// memory is still in use, collections follow so closely that little else gets done: then
// the goal is raised for a while.
type goal struct {
	made int64 // total bytes ever allocated, at the last collection
	soon int   // how many collections in a row came early
	high int64 // 0 for the usual one
}

const (
	soonAfter = heapGoal / 12 // bytes allocated between two collections
	tooSoon   = 4             // collections in a row
)

// after returns the goal after a collection that found live bytes in use; made is
// how many bytes were ever allocated.
func (g *goal) after(live, made int64) int64 {
	if made-g.made < soonAfter {
		g.soon++
	} else {
		g.soon = 0
	}
	g.made = made
	switch {
	case g.soon >= tooSoon:
		g.high = live + min(live, heapGoal)/4 + heapGoal/4
	case live < heapGoal/2:
		g.high = 0
	}
	return max(heapGoal, g.high)
}

// atEachCollection calls do after each garbage collection from now on.
func atEachCollection(do func()) {
	type sentinel struct{ _ [16]byte }
	runtime.SetFinalizer(new(sentinel), func(*sentinel) {
		do()
		atEachCollection(do)
	})
}
