package talk

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/screen"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/cli/thread"
	"github.com/skein-dev/skein/render"
)

// showContext is /context.
func showContext(ctx context.Context, c *chat, _ string) error {
	rows, err := thread.ContextRows(ctx, c.thread)
	if err == nil {
		c.print(c.pairs(rows))
	}
	return err
}

// A slash is a command in a conversation, such as /undo 2.
type slash struct {
	name  string
	also  []string // aliases
	args  string   // as shown in the help
	doc   string
	run   func(ctx context.Context, c *chat, args string) error
	words func(ctx context.Context, c *chat, typed string) []screen.Word // completions of args; nil for none
}

// slashes returns every command, in the order of the help.
func slashes() []slash {
	return []slash{
		{"new", nil, "", "begin a new session; this one stays listed", beginFresh, nil},
		{"resume", nil, "NAME", "continue another session", resumeOther, sessionWords},
		{"fork", nil, "[TURN] [TITLE]", "continue in a fork of this session, up to the end of a turn", forkHere, nil},
		{"undo", nil, "[N] [--files]", "take back the last N turns; you can edit and resend the first of them. With --files, also what they did to files of the repository here", undoTurns, nil},
		{"redo", nil, "", "bring back what /undo or /clear took away", redoTurns, nil},
		{"retry", nil, "", "ask again if the last prompt has no answer", askAgain, nil},
		{"clear", nil, "", "clear the context; no message is deleted", clearThread, nil},
		{"compact", nil, "", "let the model summarize older messages", compactThread, nil},
		{"rename", []string{"title"}, "TITLE", "give this session a title", renameThread, nil},
		{"personality", []string{"agent"}, "NAME", "let another agent answer in this session", changeAgent, agentWords},
		{"model", nil, "NAME", "let another model answer", changeModel, modelWords},
		{"tools", nil, "[N]", "list the tools, or show the N-th last call whole (Ctrl-O: the last)", showTools, nil},
		{"context", nil, "", "what the model is told before the conversation, and from which files", showContext, nil},
		{"history", nil, "[N|all]", "show the last N messages", showHistory, nil},
		{"sessions", nil, "[all]", "list this project's sessions", listSessions, nil},
		{"search", nil, "WORDS", "search all sessions", searchAll, nil},
		{"usage", nil, "", "what this session used and cost", showUsage, nil},
		{"export", nil, "FORMAT [FILE]", "write this session as md, html, json or skein", exportThread, formatWords},
		{"help", nil, "", "list the commands", showHelp, nil},
		{"exit", []string{"quit"}, "", "leave, like Ctrl-D", func(context.Context, *chat, string) error { return errLeave }, nil},
	}
}

// slashed splits a command. A path such as /usr/bin is not a command.
func slashed(text string) (name, args string, ok bool) {
	m := regexp.MustCompile(`^/([a-zA-Z]+|\?)(?:\s+(.*))?$`).FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	return strings.ToLower(m[1]), strings.TrimSpace(m[2]), true
}

// command runs the command with this name.
func (c *chat) command(ctx context.Context, name, args string) error {
	if name == "?" {
		name = "help"
	}
	for _, s := range slashes() {
		if s.name != name && !slices.Contains(s.also, name) {
			continue
		}
		if s.args == "" && args != "" {
			return fault.Usage("/%s takes no %q", name, args)
		}
		return s.run(ctx, c, args)
	}
	err := fault.Usage("there is no command /%s", name)
	if near := nearestSlash(name); near != "" {
		return fault.Advise(err, "did you mean /%s? /help lists all", near)
	}
	return fault.Advise(err, "/help lists the commands")
}

// nearestSlash returns the command with the name nearest to name; "" if none is
// near.
func nearestSlash(name string) (best string) {
	least := len(name)/3 + 2 // fewer wrong letters than this
	for _, s := range slashes() {
		for _, n := range append([]string{s.name}, s.also...) {
			d := terminal.Distance(name, n)
			if strings.HasPrefix(n, name) {
				d = 0
			}
			if d < least {
				best, least = n, d
			}
		}
	}
	return best
}

// showHelp lists the commands and keys.
func showHelp(_ context.Context, c *chat, _ string) error {
	var rows [][2]string
	for _, s := range slashes() {
		name := "/" + s.name
		for _, a := range s.also {
			name += ", /" + a
		}
		rows = append(rows, [2]string{strings.TrimSpace(name + " " + s.args), s.doc})
	}
	rows = append(rows, [][2]string{
		{"@PATH, @PATH:10-20", "attach a file, or lines of it"},
		{"Alt-Enter, Ctrl-J", "begin a new line; so does a backslash before Enter"},
		{"Tab", "complete a command, a name, a path"},
		{"Up, Down, Ctrl-R", "earlier prompts; search them"},
		{"Ctrl-O", "show the last tool call whole; again: the one before"},
		{"Ctrl-C", "stop the answer; twice: leave, like Ctrl-D"},
	}...)
	c.print(c.pairs(rows))
	return nil
}

// changeAgent is /personality NAME.
func changeAgent(ctx context.Context, c *chat, name string) error {
	if name == "" {
		return listAgents(c)
	}
	t := c.thread
	d, err := t.Roster.Definition(name, t.Cwd())
	switch {
	case thread.IsNotFound(err) && name == thread.Nameless:
		d = roster.Default()
	case thread.IsNotFound(err):
		return fault.Advise(fault.Missing("there is no agent %q", name), "list the agents: /personality")
	case err != nil:
		return err
	}
	model := ""
	if d.Model == "" {
		model = t.Agent().Model.About().String()
	}
	if err := thread.AnswerBy(ctx, c.thread, d, model); err != nil {
		return err
	}
	c.done("%s answers from now on, by %s", thread.AgentName(t.Agent()), t.Agent().Model.About())
	return nil
}

// listAgents lists the agents that can answer.
func listAgents(c *chat) error {
	found, bad, err := c.thread.Roster.Definitions()
	if err != nil {
		return err
	}
	rows := [][2]string{{thread.Nameless, "the default assistant"}}
	for _, d := range found {
		rows = append(rows, [2]string{render.Line(d.Name), render.Line(d.Description)})
	}
	c.print(c.pairs(rows))
	for _, err := range bad {
		c.done("%v", err)
	}
	c.done("%s answers now", thread.AgentName(c.thread.Agent()))
	return nil
}

// changeModel is /model NAME.
func changeModel(ctx context.Context, c *chat, name string) error {
	t := c.thread
	if name == "" {
		c.done("%s answers; /model PROVIDER:MODEL chooses another", t.Agent().Model.About())
		return nil
	}
	if err := thread.AnswerBy(ctx, t, t.Team.Definition, name); err != nil {
		return err
	}
	c.done("%s answers now", t.Agent().Model.About())
	return nil
}
