package serve

import (
	"cmp"
	"context"
	"slices"

	"github.com/skein-dev/skein/cli/thread"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/server/acp/own"
)

// usualEffort stands for no setting of the effort, and askMode for the usual mode: in the
// protocol, every value has a name.
const (
	usualEffort = "default"
	askMode     = "ask"
)

// known returns the models to choose from: the one that answers, and those that can.
func (t *editorThread) known(ctx context.Context) []string {
	now := t.Agent().Model.About().String()
	agents, _, _ := t.Roster.Definitions() //nolint:errcheck // what can be read of them
	all := modelChoices(ctx, t.Roster, t.Store, agents, now, t.job.Settings.Text("model"))
	all = slices.DeleteFunc(all, func(model string) bool {
		_, err := t.Roster.Model(ctx, model)
		return err != nil || model == now // without a key, it answered elsewhere
	})
	return append([]string{now}, all...)
}

// Settings implements own.Thread.
func (t *editorThread) Settings(context.Context) ([]own.SessionOption, error) {
	a := t.Agent()
	models := []own.OptionValue{}
	for _, m := range t.models {
		models = append(models, own.OptionValue{Value: m, Name: m})
	}
	agents := []own.OptionValue{{Value: thread.Nameless, Name: "skein", Doc: "the default assistant"}}
	defined, _, err := t.Roster.Definitions()
	if err != nil {
		return nil, err
	}
	for _, d := range defined {
		agents = append(agents, own.OptionValue{Value: d.Name, Name: d.Name, Doc: d.Description})
	}
	answers := cmp.Or(a.Name, thread.Nameless)
	if !slices.ContainsFunc(agents, func(c own.OptionValue) bool { return c.Value == answers }) {
		agents = append(agents, own.OptionValue{Value: answers, Name: answers}) // from a file elsewhere
	}
	return []own.SessionOption{
		{ID: "mode", Name: "Mode", Category: "mode", Type: "select", Value: cmp.Or(string(t.options.Mode), askMode), Values: []own.OptionValue{
			{Value: askMode, Name: "Ask", Doc: "tools that may do harm ask first, unless you allowed them"},
			{Value: string(thread.Auto), Name: "Auto", Doc: "tools run without asking"},
			{Value: string(thread.Plan), Name: "Plan", Doc: "look and plan only; there are no tools that change something"},
		}},
		{ID: "model", Name: "Model", Category: "model", Type: "select", Value: a.Model.About().String(), Values: models},
		{ID: "effort", Name: "Effort", Category: "thought_level", Type: "select", Value: cmp.Or(string(t.Roster.Effort), usualEffort), Values: []own.OptionValue{
			{Value: usualEffort, Name: "Default", Doc: "as the model does by itself"},
			{Value: string(llm.Low), Name: "Low"},
			{Value: string(llm.Medium), Name: "Medium"},
			{Value: string(llm.High), Name: "High"},
		}},
		{ID: "agent", Name: "Agent", Category: "other", Type: "select", Value: answers, Values: agents},
	}, nil
}

// Set implements own.Thread.
func (t *editorThread) Set(ctx context.Context, id, value string) error {
	switch id {
	case "mode":
		return thread.SetMode(ctx, t.Thread, workMode(value))
	case "model":
		return t.answerBy(ctx, t.Team.Definition, value)
	case "effort":
		if value == usualEffort {
			value = ""
		}
		was := t.Roster.Effort
		t.Roster.Effort = llm.Effort(value)
		err := t.answerBy(ctx, t.Team.Definition, t.Agent().Model.About().String())
		if err != nil {
			t.Roster.Effort = was
		}
		return err
	}
	return t.setAgent(ctx, value)
}

// Heed implements own.Thread.
func (t *editorThread) Heed(mode string) { thread.HeedMode(t.Thread, workMode(mode)) }

func workMode(value string) thread.WorkMode {
	if value == askMode {
		return thread.Ask
	}
	return thread.WorkMode(value)
}
