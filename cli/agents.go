package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/cli/thread"
	"github.com/skein-dev/skein/internal/repository"
	"github.com/skein-dev/skein/render"
)

type agentsOptions struct{ json bool }

func newAgents(f *job.Frame) *cobra.Command {
	var o agentsOptions
	c := &cobra.Command{
		Use:   "agents [flags]",
		Short: "list the agents that you can talk to",
		Long: `List the agents of this project (.skein/agents) and your own (the folder agents
in skein's config folder). An agent is a Markdown file that begins with YAML: a
name, a system prompt, tools and a model. To talk to an agent, use skein chat
--agent NAME, or the path of any such file or of an AgentUse file.`,
		Args: job.Words(0, 0, ""),
		RunE: f.Plain(o.run),
	}
	f.WideFlag(c)
	job.JSONFlag(c, &o.json)
	return c
}

// An agentLine is an agent in JSON.
type agentLine struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Model       string   `json:"model,omitempty"` // "" for the default one
	Tools       []string `json:"tools,omitempty"` // as in the file; none means the default ones
	Path        string   `json:"path"`
}

func (o *agentsOptions) run(_ context.Context, j *job.Job, _ []string) error {
	cwd, err := j.Getwd()
	if err != nil {
		return err
	}
	all, bad, err := thread.Roster(j, nil, cwd).Definitions()
	if err != nil {
		return err
	}
	for _, b := range bad {
		j.Say("%v", b)
	}
	if o.json {
		for _, d := range all {
			if err := job.WriteJSON(j.Stdout, agentLine{d.Name, d.Description, d.Model, d.Tools, d.Path}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		j.Say("no agents in %s", strings.Join([]string{j.Tilde(repository.Project(cwd)) + "/.skein/agents", j.Tilde(j.Dirs.Config) + "/agents"}, " and "))
		return nil
	}
	return j.Table(j.Stdout, agentTable(j, all, cwd))
}

func agentTable(j *job.Job, all []roster.Definition, cwd string) *terminal.Table {
	t := &terminal.Table{Columns: []terminal.Column{
		{Title: "AGENT", Rank: 0, Paint: j.Paint.Cyan},
		{Title: "DESCRIPTION", Rank: 1, Min: 20},
		{Title: "MODEL", Rank: 2},
		{Title: "FILE", Rank: 3, Min: 20, Left: true, Paint: j.Paint.Dim},
	}}
	for _, d := range all {
		t.Rows = append(t.Rows, []string{render.Line(d.Name), render.Line(d.Description), render.Line(d.Model), render.Line(j.Near(cwd, d.Path))})
	}
	return t
}
