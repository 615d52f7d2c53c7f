package serve

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/exchange"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/server/acp"
)

// NewACP returns the command acp.
func NewACP(f *job.Frame) *cobra.Command {
	return &cobra.Command{
		Use:   "acp -- AGENT…",
		Short: "keep what an agent and an editor say over the Agent Client Protocol",
		Long: `Start an agent that speaks the Agent Client Protocol over stdin and stdout, and
stand between it and the editor that starts this program. Everything they say
passes; what is said in a session is stored as it is said: prompts before the
agent sees them, and the whole of a turn before the editor sees its end.

The editor can list, load, resume, fork and delete the sessions of the folder's
repository, of all agents. A session that this agent does not have is written for
it, as skein handoff does, or told to it as text before the next prompt.

The editor's configuration names this command in place of the agent's:

  {"agent_servers": {"OpenCode": {"command": "skein", "args": ["acp", "--", "opencode", "acp"]}}}

AGENT is the agent's own command with its arguments. The agent has the editor's
environment.`,
		Example: `skein acp -- opencode acp
	skein acp -- goose acp`,
		Args: job.Words(1, 1000, "the command of an AGENT"),
		RunE: f.WithStore(func(ctx context.Context, j *job.Job, args []string) error {
			at, err := exec.LookPath(args[0])
			if err != nil {
				return fault.Advise(fault.Missing("there is no program %s on the PATH", args[0]), "install it, or name its path")
			}
			dir, err := j.Getwd()
			if err != nil {
				return err
			}
			host, _ := os.Hostname() //nolint:errcheck // only for people; may be empty
			return acp.Serve(ctx, acp.Options{
				Store: j.Store, User: j.Owner(), Now: j.Now,
				Program: "skein", Version: j.Version, Host: host,
				Command: append([]string{at}, args[1:]...), Env: os.Environ(),
				In: j.Stdin, Out: unclosed{j.Stdout}, Errs: j.Stderr,
				Checkout: j.Here, Write: writeFor(j), Dir: dir,
			})
		}),
	}
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
