package own

import (
	"context"
	"io"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/agent/tool/files"
	"github.com/skein-dev/skein/server/acp/live"
)

// Options say who answers, and whom.
type Options struct {
	Store skein.Store
	User  skein.User
	Now   func() time.Time

	Version string // of skein
	Dir     string // the working directory
	In      io.Reader
	Out     io.Writer

	// Checkout returns what a folder is a checkout of, and its project; may be nil.
	Checkout func(dir string) (skein.Checkout, string)

	Live live.Sockets // where other programs attach; zero: none can

	// Open opens the thread of a session. Its error says why nobody can answer in it.
	Open func(ctx context.Context, o Opening) (Thread, error)

	// Explain returns an error as a text for the person in front of the editor.
	Explain func(err error) string
}

// An Opening says which thread to open, and what the editor has for it.
type Opening struct {
	Session  skein.SessionID // to continue or to fork; "" for a new one
	ForkAt   skein.Seq       // where a fork of Session branches off; 0 to continue it
	Cwd      string          // folder that the editor works in; "" for the session's own
	TakeOver bool            // end the lease of whoever holds it
	Servers  []roster.Server // that the editor brings
	Editor   files.Buffers   // nil if the editor reads and writes no files

	Observe func(agent.Update)
	Tell    func(text string) // shows a note that is not part of an answer
	Ask     func(ctx context.Context, q Question) (Permission, error)
}

// A Question is something that a person decides.
type Question struct {
	Text   string
	Always string // what "always" would mean, such as "in this project"; "" if there is no "always"
	Call   string // ID of the tool call that it is about; "" if it is about none
}

// An Permission is the answer to a question.
type Permission struct{ Yes, Always bool }

// A Thread is a session that the agent works on. Its methods are called one at a time.
type Thread interface {
	ID() skein.SessionID

	// Say sends the person's message to the agent. Errors are those of
	// agent.Thread.Turn.
	Say(ctx context.Context, m skein.Message, blobs []skein.Blob) (agent.Outcome, error)

	// Commands returns what a person can type after a slash. Command runs one; it
	// returns false if there is no such command.
	Commands() []SlashCommand
	Command(ctx context.Context, name, args string) (answer string, known bool, err error)

	// Settings returns what a person can choose; that of ID "mode" is among them. Set
	// chooses; its error says why it cannot be. Heed can be called at any time: from then
	// on, the mode that was chosen decides whether tools ask first. Set follows.
	Settings(ctx context.Context) ([]SessionOption, error)
	Set(ctx context.Context, id, value string) error
	Heed(mode string)

	// Window returns how many tokens the model can read, 0 if unknown; Cost returns
	// what the session cost so far in US dollars, 0 if unknown.
	Window() int64
	Cost(ctx context.Context) (float64, error)

	// End ends the work on the session: done, interrupted or error.
	End(ctx context.Context, how string) error
}

// A SlashCommand is what a person can type after a slash.
type SlashCommand struct {
	Name string
	Doc  string
	Args string // what may follow it, for people; "" for nothing
}

// A SessionOption is something that a person can choose in a session.
type SessionOption struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Category string        `json:"category"` // a word of the protocol: mode, model, thought_level, other
	Type     string        `json:"type"`     // select
	Value    string        `json:"currentValue"`
	Values   []OptionValue `json:"options"`
}

// A OptionValue is one of the values of a SessionOption.
type OptionValue struct {
	Value string `json:"value"`
	Name  string `json:"name"`
	Doc   string `json:"description,omitempty"`
}
