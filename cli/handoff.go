package cli

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/interop"
)

type handoffOptions struct {
	to        string
	run, json bool
}

func newHandoff(f *frame) *cobra.Command {
	var o handoffOptions
	c := &cobra.Command{
		Use:   "handoff NAME --to FORMAT [flags]",
		Short: "let another agent go on with a session",
		Long: `Write a session where another agent looks for its own, and print the command
with which that agent goes on with it, or run it. The agent's model sees the
same conversation; what the agent cannot hold is named. Nothing that is there
is overwritten.`,
		Example: `skein handoff last --to codex
	skein handoff 4f1d22a0 --to claude-code --run`,
		Args: words(1, 1, "the NAME of a session"),
		RunE: f.withStore(o.do),
	}
	g := c.Flags()
	g.StringVar(&o.to, "to", "", "the agent's `format`: "+strings.Join(agentFormats(), ", "))
	g.BoolVar(&o.run, "run", false, "run the agent")
	jsonFlag(c, &o.json)
	fixed(c, "to", agentFormats()...)
	return c
}

// A handedOff is what a handoff did, in JSON.
type handedOff struct {
	interop.Exported
	Command []string `json:"command,omitempty"`
	Dir     string   `json:"dir,omitempty"`
}

func (o *handoffOptions) do(ctx context.Context, j *job, args []string) error {
	if o.to == "" {
		return usagef("handoff needs --to: %s", strings.Join(agentFormats(), ", "))
	}
	f, err := formatNamed("--to", o.to)
	if err != nil {
		return err
	}
	s, err := j.session(ctx, args[0])
	if err != nil {
		return err
	}
	home := interop.HomeOf(f, j.home())
	if home == "" {
		return usagef("--to %s: it has no usual place", o.to)
	}
	done, err := interop.Export(ctx, j.store, f, s.ID, home, interop.Exports{Now: j.Now()})
	if err != nil {
		return adviseExport(err, f)
	}
	var command []string
	dir := s.Cwd
	if f.Resume != nil {
		command, dir = f.Resume(done[0].Spot, s)
	}
	if o.json {
		return writeJSON(j.Stdout, handedOff{done[0], command, dir})
	}
	if err := tellExported(j, f, home, done, false); err != nil {
		return err
	}
	return o.goOn(ctx, j, f, command, dir)
}

// goOn prints the command that goes on with the session, or runs it.
func (o *handoffOptions) goOn(ctx context.Context, j *job, f interop.Format, command []string, dir string) error {
	if len(command) == 0 {
		j.say("%s has no command for that; it finds the session by itself", f.Name)
		return nil
	}
	if !o.run {
		line := strings.Join(command, " ")
		if dir != "" {
			line = "cd " + shellWord(dir) + " && " + line
		}
		_, err := fmt.Fprintln(j.Stdout, line)
		return err
	}
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = dir, j.Stdin, j.Stdout, j.Stderr
	return c.Run()
}

// shellWord returns s as one word of a shell's command line.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("/._-+:@%", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
