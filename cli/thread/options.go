package thread

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/agent/tool/files"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
)

// Options are the flags that chat, run, continue and resume share: which
// thread to work on, who answers in it, how it is shown.
//
// A command calls Flags once, then Open with the thread to use if no flag picks
// one:
//
//	t, err := o.Open(ctx, j, ProjectThread, Face{Program: "skein chat", …})
//	defer func() { err = errors.Join(err, t.End(ctx, "done")) }()
//	outcome, err := t.Say(ctx, "what the person typed, with @paths in it")
//
// A thread that has not begun costs nothing: it has an ID, but no row.
type Options struct {
	Newest     bool // -c
	Name       string
	Key        string
	User       string
	Agent      string
	Model      string
	Effort     string // how much the model thinks; "" as in the settings
	Cwd        string // folder to work in; "" for where the session began
	here       bool
	Allow      []string
	Fork       bool
	TakeOver   bool
	OverBudget bool // go on though a budget is used up
	NoHint     bool

	Mode    WorkMode        // what the agent may do without asking; see [SetMode]
	Editor  files.Buffers   // in which the person has files open; may be nil
	Servers []roster.Server // MCP servers that the person's program brings

	Start  Start // set by the command; it overrides the start that open is passed
	TakeUp bool  // when a conversation is opened, first answer a prompt that has no answer yet

	Show ShownMessages
}

// ShownMessages says which earlier messages a command shows, and how it shows messages.
type ShownMessages struct {
	Full     bool    // --full-history: all of them, not only the last ones
	None     bool    // --no-history
	Thinking bool    // --show-thinking
	Replay   bool    // at their own pace
	Speed    float64 // --replay-speed: how many times as fast
}

// PickFlags adds to c the flags that pick a thread.
func (o *Options) PickFlags(c *cobra.Command) {
	g := c.Flags()
	g.BoolVarP(&o.Newest, "continue", "c", false, "continue the newest session of the command line, preferably of this project")
	g.StringVarP(&o.Name, "resume", "r", "", "continue the session with this `NAME`")
	g.StringVarP(&o.Name, "session", "s", "", "the same as --resume `NAME`")
	g.StringVar(&o.Key, "key", "", "continue the session with this `KEY`, or begin it")
	job.Hide(c, "session")
}

// Flags adds to c the flags that say who works on the thread, where and how.
func (o *Options) Flags(c *cobra.Command) {
	g := c.Flags()
	g.StringVar(&o.User, "user", "", "work as this `USER`; by default local, or the owner of the session")
	g.StringVar(&o.Agent, "agent", "", "use the agent with this `NAME`, or in this file")
	g.StringVar(&o.Agent, "profile", "", "the same as --agent `NAME`")
	g.StringVar(&o.Model, "model", "", "use this `MODEL`: anthropic:…, openai:…, ollama:…, echo, …")
	g.StringVar(&o.Cwd, "cwd", "", "work in this `FOLDER`; by default, where the session began")
	g.BoolVar(&o.here, "here", false, "keep to the thread of this folder, not that of another clone of its repository")
	g.StringArrayVar(&o.Allow, "allow", nil, "allow this `TOOL` to run without asking, such as shell")
	g.BoolVar(&o.Fork, "fork", false, "continue in a fork, and leave the session unchanged")
	g.BoolVar(&o.TakeOver, "take-over", false, "end the turn of another program that is working on the session")
	g.BoolVar(&o.OverBudget, "over-budget", false, "go on although a budget is used up")
	g.BoolVar(&o.NoHint, "no-resume-hint", false, "do not print how to continue at the end")
	job.Hide(c, "profile")
	job.FlagWords(c, map[string]string{"session-name": "key", "user-email": "user"})
}

// ShowFlags adds to c the flags that say what is shown of a resumed thread.
func (o *Options) ShowFlags(c *cobra.Command) {
	g := c.Flags()
	g.BoolVar(&o.Show.Full, "full-history", false, "show all earlier messages, not only the last ones")
	g.BoolVar(&o.Show.None, "no-history", false, "show no earlier messages")
	g.BoolVar(&o.Show.Thinking, "show-thinking", false, "show the models' reasoning")
	g.BoolVar(&o.Show.Replay, "replay", false, "replay earlier messages at their own pace")
	g.Float64Var(&o.Show.Speed, "replay-speed", 2, "how many `times` as fast")
}

// Picks returns how many flags pick a thread.
func (o *Options) Picks() (n int) {
	for _, given := range []bool{o.Newest, o.Name != "", o.Key != ""} {
		if given {
			n++
		}
	}
	return n
}

// check returns an error if the flags contradict each other.
func (o *Options) check() error {
	switch {
	case o.Picks() > 1:
		return fault.Usage("--continue, --resume and --key: want one of them")
	case o.Show.Full && o.Show.None:
		return fault.Usage("--full-history and --no-history: want one of them")
	case o.Show.Replay:
		return job.CheckSpeed("replay-speed", o.Show.Speed)
	}
	return nil
}

// Open opens the thread that the flags pick; without such a flag, the one that
// start means.
//
// The error wraps skein.ErrNotFound, skein.ErrAmbiguous, skein.ErrLocked, or says
// what is wrong with agent, model or folder.
func (o *Options) Open(ctx context.Context, j *job.Job, start Start, f Face) (*Thread, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Start != ProjectThread {
		start = o.Start
	}
	at, err := o.pick(ctx, j, start)
	if err != nil {
		return nil, err
	}
	if at.IsNew() && o.Key == "" {
		moved, err := o.followed(ctx, j, at, f)
		if moved && err == nil {
			at, err = o.pick(ctx, j, start)
		}
		if err != nil {
			return nil, err
		}
	}
	t, err := o.OpenAt(ctx, j, at, f)
	if err == nil && !at.IsNew() && o.elsewhere(j, at) {
		t.face.Tell("session %s continues in %s", sessions.ShortID(t.ID()), j.Tilde(t.Cwd()))
	}
	return t, err
}

// A Face is how a thread shows itself to a person or a program, and asks them.
type Face struct {
	Program string // the program that works on the thread, such as skein chat
	Stays   bool   // opens the thread for each turn; see agent.Options.Stays

	// Observe is called for what happens, as in agent.Options; nil: nobody looks.
	Observe func(agent.Update)

	// Ask asks the person a question; nil: there is nobody to ask.
	Ask func(ctx context.Context, q job.Question) (job.Decision, error)

	// Tell shows a note that is not part of an answer, such as the ID of a new session.
	Tell func(format string, args ...any)
}

// CompleteFlags adds completion for the flags of Options.
func CompleteFlags(f *job.Frame, c *cobra.Command) {
	for flag, by := range map[string]sessions.Completer{
		"resume":  sessions.Names(f),
		"session": sessions.Names(f),
		"key":     sessions.SeenIn(f, func(s *skein.Session) []string { return []string{s.Key} }),
		"user":    sessions.SeenIn(f, func(s *skein.Session) []string { return []string{string(s.User)} }),
		"allow":   func(context.Context, string) []string { return roster.New(roster.Options{}).ToolNames() },
	} {
		if c.Flags().Lookup(flag) != nil {
			sessions.CompleteFlag(f, c, flag, by)
		}
	}
	for flag, of := range map[string]func(ctx context.Context, typed string) ([]string, cobra.ShellCompDirective){
		"agent": func(ctx context.Context, typed string) ([]string, cobra.ShellCompDirective) {
			return agents(ctx, f, typed)
		},
		"profile": func(ctx context.Context, typed string) ([]string, cobra.ShellCompDirective) {
			return agents(ctx, f, typed)
		},
		"model": func(ctx context.Context, typed string) ([]string, cobra.ShellCompDirective) {
			return models(ctx, f, typed)
		},
		"cwd": func(context.Context, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	} {
		job.MustComplete(c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return of(c.Context(), typed)
		}))
	}
}

// agents completes the name of an agent, or a file.
func agents(_ context.Context, f *job.Frame, typed string) (words []string, then cobra.ShellCompDirective) {
	j, err := f.NewJob()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	cwd, err := j.Getwd()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	all, _, err := Roster(j, nil, cwd).Definitions()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	for _, d := range all {
		if strings.HasPrefix(d.Name, typed) {
			words = append(words, d.Name+"\t"+d.Description)
		}
	}
	return words, cobra.ShellCompDirectiveDefault
}

// models completes the name of a model: one that answered before, or a provider.
func models(ctx context.Context, f *job.Frame, typed string) (words []string, then cobra.ShellCompDirective) {
	words = sessions.SeenIn(f, func(s *skein.Session) []string { return []string{OwnModel(s)} })(ctx, typed)
	j, err := f.NewJob()
	if err != nil {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	cwd, err := j.Getwd()
	if err != nil {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	if strings.HasPrefix("echo", typed) {
		words = append(words, "echo\trepeats what it is told")
	}
	for _, p := range append(Roster(j, nil, cwd).Providers(), "replay") {
		if strings.HasPrefix(p, typed) {
			words = append(words, p+":")
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
