package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/render"
)

type agentsOptions struct{ json bool }

func newAgents(f *frame) *cobra.Command {
	var o agentsOptions
	c := &cobra.Command{
		Use:   "agents [flags]",
		Short: "list the agents that you can talk to",
		Long: `List the agents of this project (.skein/agents) and your own (the folder agents
in skein's config folder). An agent is a Markdown file that begins with YAML: a
name, a system prompt, tools and a model. To talk to an agent, use skein chat
--agent NAME, or the path of any such file or of an AgentUse file.`,
		Args: words(0, 0, ""),
		RunE: f.plain(o.run),
	}
	f.wideFlag(c)
	jsonFlag(c, &o.json)
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

func (o *agentsOptions) run(_ context.Context, j *job, _ []string) error {
	cwd, err := j.Getwd()
	if err != nil {
		return err
	}
	all, bad, err := j.roster(nil, cwd).Definitions()
	if err != nil {
		return err
	}
	for _, b := range bad {
		j.say("%v", b)
	}
	if o.json {
		for _, d := range all {
			if err := writeJSON(j.Stdout, agentLine{d.Name, d.Description, d.Model, d.Tools, d.Path}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		j.say("no agents in %s", strings.Join([]string{j.tilde(projectRoot(cwd)) + "/.skein/agents", j.tilde(j.dirs.Config) + "/agents"}, " and "))
		return nil
	}
	return j.table(j.Stdout, j.agentTable(all, cwd))
}

func (j *job) agentTable(all []roster.Definition, cwd string) *table {
	t := &table{columns: []column{
		{title: "AGENT", rank: 0, paint: j.paint.Cyan},
		{title: "DESCRIPTION", rank: 1, min: 20},
		{title: "MODEL", rank: 2},
		{title: "FILE", rank: 3, min: 20, left: true, paint: j.paint.Dim},
	}}
	for _, d := range all {
		t.rows = append(t.rows, []string{render.Line(d.Name), render.Line(d.Description), render.Line(d.Model), render.Line(j.near(cwd, d.Path))})
	}
	return t
}
