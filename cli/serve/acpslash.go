package serve

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/thread"
	"github.com/skein-dev/skein/cli/trace"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/acp/own"
)

// An editorCommand is what a person can type after a slash.
type editorCommand struct {
	own.SlashCommand
	run func(ctx context.Context, t *editorThread, args string) (string, error)
}

// editorCommands are those of skein chat that make sense in an editor.
func editorCommands() []editorCommand {
	return []editorCommand{
		{own.SlashCommand{Name: "compact", Doc: "let the model summarize older messages"}, compactHere},
		{own.SlashCommand{Name: "undo", Doc: "take back the last turn, or the last N turns; with --files, also what they did to files, if you allow it", Args: "N --files"}, undoHere},
		{own.SlashCommand{Name: "redo", Doc: "bring back what /undo or /clear took away"}, redoHere},
		{own.SlashCommand{Name: "clear", Doc: "clear the context; no message is deleted"}, clearHere},
		{own.SlashCommand{Name: "rename", Doc: "give this session a title", Args: "title"}, renameHere},
		{own.SlashCommand{Name: "model", Doc: "let another model answer", Args: "PROVIDER:MODEL"}, modelHere},
		{own.SlashCommand{Name: "agent", Doc: "let another agent answer in this session", Args: "name"}, agentHere},
		{own.SlashCommand{Name: "context", Doc: "what the model is told before the conversation, and from which files"}, contextHere},
		{own.SlashCommand{Name: "tools", Doc: "list the tools"}, toolsHere},
	}
}

// Commands implements own.Thread.
func (t *editorThread) Commands() (all []own.SlashCommand) {
	for _, c := range editorCommands() {
		all = append(all, c.SlashCommand)
	}
	return all
}

// Command implements own.Thread.
func (t *editorThread) Command(ctx context.Context, name, args string) (string, bool, error) {
	all := editorCommands()
	i := slices.IndexFunc(all, func(c editorCommand) bool { return c.Name == name })
	if i < 0 {
		return "", false, nil
	}
	if all[i].Args == "" && args != "" {
		return "", true, fault.Usage("/%s takes no %q", name, args)
	}
	text, err := all[i].run(ctx, t, args)
	return text, true, err
}

func compactHere(ctx context.Context, t *editorThread, _ string) (string, error) {
	return "Older messages are summarized.", t.Compact(ctx)
}

func undoHere(ctx context.Context, t *editorThread, args string) (string, error) {
	u, err := trace.ParseUndo(args)
	if err != nil {
		return "", err
	}
	if u.Files {
		if done, err := t.undoFiles(ctx, u); err != nil || !done {
			return "Nothing was taken back.", err
		}
	}
	text, err := t.Undo(ctx, u.Turns)
	return fmt.Sprintf("Taken back, although the editor still shows it; /redo brings it back. You had said:\n\n%s", text), err
}

// undoFiles takes back what the last turns did to files, if the person in front of the
// editor allows it. It reports whether nothing of it is left.
func (t *editorThread) undoFiles(ctx context.Context, u trace.UndoRequest) (bool, error) {
	turn, err := t.UndoneTurn(ctx, u.Turns)
	if err != nil {
		return false, err
	}
	s, err := t.Session(ctx)
	if err != nil {
		return false, err
	}
	return trace.RewindFiles(ctx, t.job, &s, trace.FileRewind{Dir: t.at.Cwd, Turn: turn, Whole: u.Whole, Agree: func(question string) (bool, error) {
		d, err := t.ask(ctx, job.Question{Text: question})
		return d == job.Yes, err
	}})
}

func redoHere(ctx context.Context, t *editorThread, _ string) (string, error) {
	return "Brought back what was taken away.", t.Redo(ctx)
}

func clearHere(ctx context.Context, t *editorThread, _ string) (string, error) {
	return "The model no longer sees what was said before; /redo brings it back.", t.Clear(ctx)
}

func renameHere(ctx context.Context, t *editorThread, args string) (string, error) {
	title := strings.Join(strings.Fields(args), " ")
	if title == "" {
		return "", fault.Usage("/rename needs a title")
	}
	return fmt.Sprintf("This session is now %q.", title), t.Rename(ctx, title)
}

func modelHere(ctx context.Context, t *editorThread, args string) (string, error) {
	if args == "" {
		return fmt.Sprintf("%s answers.", t.Agent().Model.About()), nil
	}
	return args + " answers from now on.", t.answerBy(ctx, t.Team.Definition, args)
}

func agentHere(ctx context.Context, t *editorThread, args string) (string, error) {
	if args == "" {
		return thread.AgentName(t.Agent()) + " answers.", nil
	}
	if err := t.setAgent(ctx, args); err != nil {
		return "", err
	}
	return thread.AgentName(t.Agent()) + " answers from now on.", nil
}

func contextHere(ctx context.Context, t *editorThread, _ string) (string, error) {
	rows, err := thread.ContextRows(ctx, t.Thread)
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "- %s: %s\n", strings.TrimSpace(r[0]), r[1])
	}
	return b.String(), err
}

func toolsHere(_ context.Context, t *editorThread, _ string) (string, error) {
	var b strings.Builder
	for _, tl := range t.Agent().Tools {
		doc, _, _ := strings.Cut(render.Line(tl.Spec.Doc), ". ")
		fmt.Fprintf(&b, "- %s: %s\n", tl.Spec.Name, strings.TrimSuffix(doc, "."))
	}
	if b.Len() == 0 {
		return "This agent has no tools.", nil
	}
	return b.String(), nil
}

// answerBy lets an agent answer by a model from now on.
func (t *editorThread) answerBy(ctx context.Context, d roster.Definition, model string) error {
	if err := thread.AnswerBy(ctx, t.Thread, d, model); err != nil {
		return thread.NoModel(err)
	}
	if model = t.Agent().Model.About().String(); !slices.Contains(t.models, model) {
		t.models = append(t.models, model)
	}
	return nil
}

// setAgent lets the agent with a name answer from now on, by the same model unless it
// names its own.
func (t *editorThread) setAgent(ctx context.Context, name string) error {
	d, err := t.Roster.Definition(name, t.Cwd())
	switch {
	case thread.IsNotFound(err) && name == thread.Nameless:
		d = roster.Default()
	case thread.IsNotFound(err):
		return fault.Advise(fault.Missing("there is no agent %q", name), "the editor's options list the agents, and so does skein agents")
	case err != nil:
		return err
	}
	model := ""
	if d.Model == "" {
		model = t.Agent().Model.About().String()
	}
	return t.answerBy(ctx, d, model)
}
