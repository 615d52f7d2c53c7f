package serve

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/exchange"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/setup"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/server/acp"
	"github.com/skein-dev/skein/server/acp/live"
)

// NewACP returns the command acp.
func NewACP(f *job.Frame) *cobra.Command {
	var in setup.ACPInstall
	var answers ownAgent
	c := &cobra.Command{
		Use:   "acp [flags] [AGENT…]",
		Short: "work with an agent in an editor, over the Agent Client Protocol, and keep what is said",
		Long: `Without an AGENT, let skein's own agent answer in the editor that starts this
program, over stdin and stdout, as skein chat does in a terminal: with the same
agents, models, tools and permissions.

With an AGENT, start that agent, which speaks the Agent Client Protocol over stdin
and stdout, and stand between it and the editor. Everything they say passes; what is
said in a session is stored as it is said: prompts before the agent sees them, and
the whole of a turn before the editor sees its end.

The editor can list, load, resume, fork and delete the sessions of the folder's
repository, of all agents. A session that this agent does not have is written for
it, as skein handoff does, or told to it as text before the next prompt.

AGENT is the word for an agent, or the agent's own command with its arguments after
--. The words are ` + setup.ACPWords() + `. The agent has the editor's environment.

--install enters this command in the configuration of an editor, for the agents named,
or for skein's own, whose word is skein, and all others that are here; --undo takes it back, and so does skein setup --undo. The
editors are ` + strings.Join(setup.Editors(), ", ") + `: in Neovim through CodeCompanion, in VS
Code through the extension ACP Client. Others are told the command in their own way.`,
		Example: `skein acp
	skein acp opencode
	skein acp -- goose acp
	skein acp --install zed
	skein acp --install jetbrains claude`,
		Args: func(c *cobra.Command, args []string) error {
			if in.Editor != "" {
				return nil
			}
			return job.Words(0, 1000, "the word or the command of an AGENT")(c, args)
		},
	}
	own := f.WithStore(func(ctx context.Context, j *job.Job, _ []string) error { return answers.serve(ctx, j) })
	record := f.WithStore(func(ctx context.Context, j *job.Job, args []string) error {
		command, err := agentCommand(args, c.ArgsLenAtDash())
		if err != nil {
			return err
		}
		dir, err := j.Getwd()
		if err != nil {
			return err
		}
		host, _ := os.Hostname() //nolint:errcheck // only for people; may be empty
		return acp.Serve(ctx, acp.Options{
			Store: j.Store, User: j.Owner(), Now: j.Now,
			Program: "skein", Version: j.Version, Host: host,
			Command: command, Env: os.Environ(),
			In: j.Stdin, Out: unclosed{j.Stdout}, Errs: j.Stderr,
			Checkout: j.Here, Write: writeFor(j), Dir: dir, Live: liveSessions(j).Of(j.Owner()),
		})
	})
	install := f.Plain(func(ctx context.Context, j *job.Job, args []string) error {
		in.Agents = args
		return setup.InstallACP(ctx, j, &in)
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		if in.Editor != "" {
			return install(c, args)
		}
		if in.Undo || in.Yes || in.DryRun {
			return fault.Usage("--undo, --yes and --dry-run go with --install")
		}
		switch {
		case len(args) == 0:
			return own(c, args)
		case answers.given():
			return fault.Usage("--model, --agent and --allow are for skein's own agent: they go without an AGENT")
		}
		return record(c, args)
	}
	c.Flags().StringVar(&in.Editor, "install", "", "enter this command in the configuration of an `EDITOR`")
	answers.flags(c)
	c.Flags().BoolVar(&in.Undo, "undo", false, "take back what --install did")
	in.Flags(c)
	job.Fixed(c, "install", setup.Editors()...)
	return c
}

// agentCommand returns the command of an agent, with the path of its program. dash is how
// many of the arguments stand before --, -1 if there is none. A word for an agent stands
// alone or before --.
//
// The error wraps [skein.ErrNotFound] if there is no such program.
func agentCommand(args []string, dash int) ([]string, error) {
	a, known := setup.FindACPAgent(args[0])
	if known = known && (dash == 1 || dash < 0 && len(args) == 1); known {
		args = slices.Concat(a.Command, args[1:])
	}
	at, err := exec.LookPath(args[0])
	switch {
	case err == nil:
		return slices.Concat([]string{at}, args[1:]), nil
	case known:
		return nil, a.Missing()
	}
	return nil, fault.Advise(fault.Missing("there is no program %s on the PATH", args[0]), "install it, or name its path")
}

// liveSessions returns where the sessions of the store are reached while they are open.
func liveSessions(j *job.Job) live.Sockets {
	return live.Sockets{Dir: filepath.Join(j.Dirs.State, "live"), Store: j.Place.Scheme + ":" + j.Place.Path}
}

// writeFor returns a function that writes a session where an agent keeps its own.
func writeFor(j *job.Job) func(ctx context.Context, agent string, id skein.SessionID, cwd string) (string, []string, error) {
	return func(ctx context.Context, agent string, id skein.SessionID, cwd string) (string, []string, error) {
		f, err := exchange.Called("AGENT", agent)
		if err != nil {
			return "", nil, err
		}
		home := interop.HomeOf(f, exchange.Home(j))
		if f.Write == nil || home == "" {
			return "", nil, fmt.Errorf("%w: skein cannot write a session of %s", skein.ErrInvalid, agent)
		}
		// What the agent has of this session, this store has too: it was recorded.
		done, err := writeback.Export(ctx, j.Store, f, id, home, writeback.Exports{Now: j.Now(), Places: f.Places(exchange.Home(j)), Cwd: cwd, Over: true, NoChildren: true, NoSide: true})
		if err != nil {
			return "", nil, err
		}
		var lost []string
		for _, l := range done[0].Losses {
			lost = append(lost, l.What)
		}
		return done[0].Spot.ID, lost, nil
	}
}
