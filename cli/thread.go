package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/agent"
)

// threadOptions are the flags that chat, run, continue and resume share: which
// thread to work on, who answers in it, how it is shown.
//
// A command calls flags once, then open with the thread to use if no flag picks
// one:
//
//	t, err := o.open(ctx, j, projectThread, face{program: "skein chat", …})
//	defer func() { err = errors.Join(err, t.close(ctx, "done")) }()
//	outcome, err := t.say(ctx, "what the person typed, with @paths in it")
//
// A thread that has not begun costs nothing: it has an ID, but no row.
type threadOptions struct {
	newest   bool // -c
	name     string
	key      string
	user     string
	agent    string
	model    string
	cwd      string
	allow    []string
	fork     bool
	takeOver bool
	noHint   bool

	start  start // set by the command; it overrides the start that open is passed
	takeUp bool  // when a conversation is opened, first answer a prompt that has no answer yet

	full     bool // --full-history
	none     bool // --no-history
	thinking bool // --show-thinking
	replay   bool
	speed    float64 // --replay-speed
}

// pickFlags adds to c the flags that pick a thread.
func (o *threadOptions) pickFlags(c *cobra.Command) {
	g := c.Flags()
	g.BoolVarP(&o.newest, "continue", "c", false, "continue the newest session of the command line, preferably of this project")
	g.StringVarP(&o.name, "resume", "r", "", "continue the session with this `NAME`")
	g.StringVarP(&o.name, "session", "s", "", "the same as --resume `NAME`")
	g.StringVar(&o.key, "key", "", "continue the session with this `KEY`, or begin it")
	hide(c, "session")
}

// flags adds to c the flags that say who works on the thread, where and how.
func (o *threadOptions) flags(c *cobra.Command) {
	g := c.Flags()
	g.StringVar(&o.user, "user", "", "work as this `USER`; by default local, or the owner of the session")
	g.StringVar(&o.agent, "agent", "", "use the agent with this `NAME`, or in this file")
	g.StringVar(&o.agent, "profile", "", "the same as --agent `NAME`")
	g.StringVar(&o.model, "model", "", "use this `MODEL`: anthropic:…, openai:…, ollama:…, echo, …")
	g.StringVar(&o.cwd, "cwd", "", "work in this `FOLDER`; by default, where the session began")
	g.StringArrayVar(&o.allow, "allow", nil, "allow this `TOOL` to run without asking, such as shell")
	g.BoolVar(&o.fork, "fork", false, "continue in a fork, and leave the session unchanged")
	g.BoolVar(&o.takeOver, "take-over", false, "end the turn of another program that is working on the session")
	g.BoolVar(&o.noHint, "no-resume-hint", false, "do not print how to continue at the end")
	hide(c, "profile")
	flagWords(c, map[string]string{"session-name": "key", "user-email": "user"})
}

// showFlags adds to c the flags that say what is shown of a resumed thread.
func (o *threadOptions) showFlags(c *cobra.Command) {
	g := c.Flags()
	g.BoolVar(&o.full, "full-history", false, "show all earlier messages, not only the last ones")
	g.BoolVar(&o.none, "no-history", false, "show no earlier messages")
	g.BoolVar(&o.thinking, "show-thinking", false, "show the models' reasoning")
	g.BoolVar(&o.replay, "replay", false, "replay earlier messages at their own pace")
	g.Float64Var(&o.speed, "replay-speed", 2, "how many `times` as fast")
}

// hide hides an alias of a flag from the help.
func hide(c *cobra.Command, flag string) {
	if err := c.Flags().MarkHidden(flag); err != nil {
		panic(err) // the flag does not exist
	}
}

// picks returns how many flags pick a thread.
func (o *threadOptions) picks() (n int) {
	for _, given := range []bool{o.newest, o.name != "", o.key != ""} {
		if given {
			n++
		}
	}
	return n
}

// check returns an error if the flags contradict each other.
func (o *threadOptions) check() error {
	switch {
	case o.picks() > 1:
		return usagef("--continue, --resume and --key: want one of them")
	case o.full && o.none:
		return usagef("--full-history and --no-history: want one of them")
	case !(o.speed > 0) && o.replay:
		return usagef("--replay-speed %v: want a number above 0", o.speed)
	}
	return nil
}

// open opens the thread that the flags pick; without such a flag, the one that
// start means.
//
// The error wraps skein.ErrNotFound, skein.ErrAmbiguous, skein.ErrLocked, or says
// what is wrong with agent, model or folder.
func (o *threadOptions) open(ctx context.Context, j *job, start start, f face) (*thread, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.start != projectThread {
		start = o.start
	}
	at, err := o.pick(ctx, j, start)
	if err != nil {
		return nil, err
	}
	if at.isNew() && o.key == "" {
		tell := f.tell
		if tell == nil {
			tell = j.say
		}
		if err := j.hintMoved(ctx, at.user(), at.project(), tell); err != nil {
			return nil, err
		}
	}
	t, err := o.openAt(ctx, j, at, f)
	if err == nil && !at.isNew() && o.elsewhere(j, at) {
		t.face.tell("session %s goes on in %s", shortID(t.ID()), j.tilde(t.cwd()))
	}
	return t, err
}

// A face is how a thread shows itself to a person or a program, and asks them.
type face struct {
	program string // the program that works on the thread, such as skein chat
	stays   bool   // opens the thread for each turn; see agent.Options.Stays

	// observe is called for what happens, as in agent.Options; nil: nobody looks.
	observe func(agent.Update)

	// ask asks the person a question; nil: there is nobody to ask.
	ask func(ctx context.Context, q question) (reply, error)

	// tell shows a note that is not part of an answer, such as the ID of a new session.
	tell func(format string, args ...any)
}

// A question is something that the person decides.
type question struct {
	text   string // one or several lines; whoever shows it cleans it
	always string // what "always" would mean, such as "in this project"; "" if there is no "always"
}

// A reply is a person's answer to a question.
type reply string

// The replies to a question.
const (
	yes    reply = "yes"    // this once
	always reply = "always" // from now on
	no     reply = "no"
)
