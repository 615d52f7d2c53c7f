package setup

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/internal/hooknews"
)

// Limits of what an agent may tell its hook, so that no agent waits for it.
const (
	maxPayload = 16 << 20 // bytes
	tellTime   = 2 * time.Second
)

// NewHook returns the command hook, which agents run. It prints nothing but what the
// agent wants to read, and its exit code is 0 whatever happens: to some agents, others
// mean that the person's work is to be stopped.
func NewHook(f *job.Frame) *cobra.Command {
	return &cobra.Command{
		Use:    "hook AGENT [EVENT] [flags]",
		Short:  "keep what an agent tells its hook",
		Hidden: true,
		Long: `Keep what an agent tells its hook on stdin: what its session does, and which file
it is in. skein setup enters this command in the settings of agents. If nothing
watches the agent's files, they are imported at once, by a process of its own.`,
		DisableFlagParsing: true, // a wrong flag must not end with another exit code
		Run:                func(_ *cobra.Command, args []string) { hear(f.Env, args) },
	}
}

// hear keeps what an agent tells: args are AGENT, [EVENT], flags for the import, and
// the JSON if the agent gives it as an argument.
func hear(env *config.Env, args []string) {
	h, ok := readHook(env, args)
	if !ok {
		return
	}
	if h.agent == "cursor" {
		_, _ = io.WriteString(env.Stdout, "{}\n")
	}
	n, err := hooknews.Parse(h.agent, h.event, h.payload, env.Now())
	if err != nil || h.board.Put(n) != nil || h.board.Watched() || env.Detach == nil {
		return
	}
	_ = env.Detach(config.Detached{Args: append([]string{"import", "--told"}, h.flags...)})
}

// A hookCall is a call of the command hook.
type hookCall struct {
	agent, event string
	flags        []string // for the import: --store and --hooks
	payload      []byte
	board        hooknews.Board
}

func readHook(env *config.Env, args []string) (h hookCall, ok bool) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case strings.HasPrefix(a, "{"):
			h.payload = []byte(a)
		case (a == "--store" || a == "--hooks") && i+1 < len(args):
			i++
			h.flags = append(h.flags, a, args[i])
			if a == "--hooks" {
				h.board = hooknews.Board(args[i])
			}
		case strings.HasPrefix(a, "-"):
		case h.agent == "":
			h.agent = a
		case h.event == "":
			h.event = a
		}
	}
	if h.board == "" {
		d, err := config.FindDirs(env)
		if err != nil {
			return h, false
		}
		h.board = hooknews.At(d.State)
	}
	if h.payload == nil {
		h.payload = job.ReadPayload(env.Stdin, maxPayload, tellTime)
	}
	return h, h.agent != "" && !strings.ContainsAny(h.agent, `/\.`) && len(h.payload) > 0
}
