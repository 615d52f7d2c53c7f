package agent

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/llm"
)

// An Agent is what answers in a thread.
type Agent struct {
	Name     string // "" for the nameless default
	Profile  string // what sessions keep to find it again: the path of its file; "" for none
	System   string // what the model reads before all else; "" for nothing
	Model    llm.Provider
	Tools    []tool.Tool
	MaxSteps int             // model requests in one turn; 0 is 50
	Timeout  time.Duration   // of a turn; 0 for none
	Config   json.RawMessage // what it may do, as new sessions keep it in their own config; nil for nothing

	Newest       int   // messages that the model is shown at most; 0 is 200
	Window       int64 // tokens that the model can read; 0 if not known
	CompactAfter int   // items that are not the user's since the last compaction; 0 is 40, below 0 never
}

// Options say how to open a thread.
type Options struct {
	Store    skein.Store
	Session  skein.SessionID // to go on with; "" begins a new one with the first message
	Created  skein.Created   // of a new one; Agent, Provider and Model are filled in
	TakeOver bool            // end the lease of whoever holds it
	Program  string          // who asks, for people: skein chat
	Version  string          // of the program
	Host     string
	Agent    Agent

	// Stays is for a program, such as a server, that opens a Thread for each of
	// many turns: Close does not say that the work ended, and the next Thread of
	// the same program not that it was resumed.
	Stays bool

	// Observe is told what happens, in order, by the goroutine that calls the
	// Thread. Nil where nobody looks.
	Observe func(Update)

	// Approve asks a person whether a tool may run that wants to be asked
	// about. Nil denies all of them. Errors end the turn.
	Approve func(ctx context.Context, t tool.Tool, c tool.Call, question string) (Approval, error)

	Now      func() time.Time                                 // nil is time.Now
	Wait     func(ctx context.Context, d time.Duration) error // between two tries of a request; nil waits
	Attempts int                                              // of one request; 0 is 5
}

// An Approval is a person's answer about a tool.
type Approval struct {
	Yes    bool
	Reason string // for the model, if it is no; "" for the usual words
}

// An UpdateKind says what happened.
type UpdateKind string

// The kinds of update, and the fields of Update that they set.
const (
	Stored     UpdateKind = "stored"     // Events: they are on the disk, with their seqs
	Asking     UpdateKind = "asking"     // Attempt: a model request starts
	Text       UpdateKind = "text"       // Text: a piece of the answer
	Reasoning  UpdateKind = "reasoning"  // Text: a piece of the model's reasoning
	Calling    UpdateKind = "calling"    // Text: the name of a tool whose call begins to come
	Waiting    UpdateKind = "waiting"    // Err, Attempt, Wait: a request failed and will be tried again after Wait
	Answered   UpdateKind = "answered"   // Message: an answer is whole and stored
	Running    UpdateKind = "running"    // Call, Text (its title): a tool starts
	Output     UpdateKind = "output"     // Call, Text: a piece of a tool's output, before its end
	Ran        UpdateKind = "ran"        // Call, Result, Wait (how long it took): a tool has ended, and that is stored
	Compacting UpdateKind = "compacting" // the older part is being summed up
	Compacted  UpdateKind = "compacted"  // Err if it did not work
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
	Child   skein.SessionID // that it happened in, if a delegate works; "" for the thread itself
}

// A Stop says why a turn ended.
type Stop string

// The ends of a turn.
const (
	Done        Stop = "done"        // the model has no more to say
	MaxSteps    Stop = "max_steps"   // it came to Agent.MaxSteps
	Timeout     Stop = "timeout"     // it came to Agent.Timeout
	Interrupted Stop = "interrupted" // ctx ended
	Error       Stop = "error"       // the error says why
)

// An Outcome is what a turn came to.
type Outcome struct {
	Text  string // words of the last answer
	Stop  Stop
	Steps int         // model requests
	Usage skein.Usage // of this turn, compactions and titles included, delegates not
	Last  skein.Seq   // of the session now
}
