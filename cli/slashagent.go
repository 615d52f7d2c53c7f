package cli

import (
	"context"
	"errors"

	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/render"
)

// personality is /personality NAME.
func (c *chat) personality(ctx context.Context, name string) error {
	if name == "" {
		return c.agents()
	}
	t := c.thread
	d, err := t.roster.Definition(name, t.cwd())
	switch {
	case isNotFound(err) && name == nameless:
		d = roster.Default()
	case isNotFound(err):
		return advise(missing("there is no agent %q", name), "see what there is: /personality")
	case err != nil:
		return err
	}
	model := ""
	if d.Model == "" {
		model = t.Agent().Model.About().String()
	}
	if err := c.answerBy(ctx, d, model); err != nil {
		return err
	}
	c.done("%s answers now, by %s; the thread goes on", agentName(t.Agent()), t.Agent().Model.About())
	return nil
}

// agents lists the agents that can answer.
func (c *chat) agents() error {
	found, bad, err := c.thread.roster.Definitions()
	if err != nil {
		return err
	}
	rows := [][2]string{{nameless, "the nameless assistant"}}
	for _, d := range found {
		rows = append(rows, [2]string{render.Line(d.Name), render.Line(d.Description)})
	}
	c.print(c.pairs(rows))
	for _, err := range bad {
		c.done("%v", err)
	}
	c.done("%s answers now", agentName(c.thread.Agent()))
	return nil
}

func agentName(a agent.Agent) string {
	if a.Name == "" {
		return "the nameless assistant"
	}
	return a.Name
}

// model is /model NAME.
func (c *chat) model(ctx context.Context, name string) error {
	t := c.thread
	if name == "" {
		c.done("%s answers now; /model PROVIDER:MODEL lets another", t.Agent().Model.About())
		return nil
	}
	if err := c.answerBy(ctx, t.team.Definition, name); err != nil {
		return err
	}
	c.done("%s answers now", t.Agent().Model.About())
	return nil
}

// answerBy makes the agent d answer from now on, with this model ("" for its own).
func (c *chat) answerBy(ctx context.Context, d roster.Definition, model string) error {
	t := c.thread
	team, err := t.ready(ctx, d, model)
	if err != nil {
		return err
	}
	if err := t.SetAgent(ctx, team.Agent); err != nil {
		return errors.Join(err, team.Close())
	}
	old := t.team
	t.team = team
	return old.Close()
}
