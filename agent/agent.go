package agent

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/llm"
)

// An Agent is a model with its instructions and tools, which answers in a
// thread.
type Agent struct {
	Name     string // "" for the nameless default
	Profile  string // path of the agent's file, which sessions keep to find it again; "" if it has none
	System   string // system prompt; "" for none
	Model    llm.Provider
	Tools    []tool.Tool
	MaxSteps int             // model requests in one turn; 0 means 50
	Timeout  time.Duration   // of a turn; 0 means no limit
	Config   json.RawMessage // what the agent may do, stored in the config of new sessions; may be nil

	Newest       int   // maximum number of messages that the model is shown; 0 means 200
	Window       int64 // tokens that the model can read; 0 if unknown
	CompactAfter int   // compact after this many items not from the user since the last compaction; 0 means 40, negative never
}

// Options say how to open a thread.
type Options struct {
	Store    skein.Store
	Session  skein.SessionID // session to continue; "" starts a new one with the first message
	Created  skein.Created   // of a new session; Agent, Provider and Model are filled in
	TakeOver bool            // end the lease of whoever holds it
	Program  string          // name of the calling program, for people: skein chat
	Version  string          // of the program
	Host     string
	Agent    Agent

	// Stays is for a program, such as a server, that opens a Thread for each of
	// many turns: Close does not store that the work ended, and the next Thread
	// of the same program does not store that it was resumed.
	Stays bool

	// Observe receives what happens, in order, on the goroutine that calls the
	// Thread. It may be nil.
	Observe func(Update)

	// Decides answers for a person whether a tool that requires approval may run, and
	// reports whether it could: if not, it is stored that the call waits for a person,
	// and Approve is called. It may be nil.
	Decides func(t tool.Tool) (Approval, bool)

	// Approve asks a person whether a tool that requires approval may run. Nil
	// denies every such call. An error ends the turn.
	Approve func(ctx context.Context, t tool.Tool, c tool.Call, question string) (Approval, error)

	Now      func() time.Time                                 // nil means time.Now
	Wait     func(ctx context.Context, d time.Duration) error // between two attempts of a request; nil waits for d
	Attempts int                                              // per request; 0 means 5
}

// An Approval is a person's answer about a tool.
type Approval struct {
	Yes    bool
	Reason string // for the model, if the answer is no; "" for the default text
}

// An UpdateKind says what happened.
type UpdateKind string

// The kinds of update, and the fields of Update that each one sets.
const (
	Stored     UpdateKind = "stored"     // Events: they are on disk, with their seqs
	Asking     UpdateKind = "asking"     // Attempt: a model request starts
	Text       UpdateKind = "text"       // Text: a piece of the answer
	Reasoning  UpdateKind = "reasoning"  // Text: a piece of the model's reasoning
	Calling    UpdateKind = "calling"    // Text: the name of a tool; the model has begun to write a call of it
	Waiting    UpdateKind = "waiting"    // Err, Attempt, Wait: a request failed and will be retried after Wait
	Answered   UpdateKind = "answered"   // Message: an answer is complete and stored
	Running    UpdateKind = "running"    // Call, Text (its title): a tool starts
	Output     UpdateKind = "output"     // Call, Text: a piece of a tool's output, before its end
	Ran        UpdateKind = "ran"        // Call, Result, Wait (how long it took): a tool has ended, and its outcome is stored
	Compacting UpdateKind = "compacting" // older messages are being summarized
	Compacted  UpdateKind = "compacted"  // Err if it failed
)

// An Update is something that happened in a thread.
type Update struct {
	Kind    UpdateKind
	Text    string
	Events  []skein.Event
	Message *skein.Message
	Call    *skein.Call
	Result  *skein.Result
	Attempt int
	Wait    time.Duration
	Err     error
	Child   skein.SessionID // the child session in which it happened, if a delegate works; "" for the thread itself
}

// A Stop says why a turn ended.
type Stop string

// The ends of a turn.
const (
	Done        Stop = "done"        // the model called no more tools
	MaxSteps    Stop = "max_steps"   // Agent.MaxSteps was reached
	Timeout     Stop = "timeout"     // Agent.Timeout was reached
	Interrupted Stop = "interrupted" // ctx ended
	Error       Stop = "error"       // the returned error says why
)

// An Outcome is the result of a turn.
type Outcome struct {
	Text  string // text of the last answer
	Stop  Stop
	Steps int         // model requests
	Usage skein.Usage // of this turn, including compactions and titles but not delegates
	Last  skein.Seq   // of the session now
}
