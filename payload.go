package skein

import "encoding/json"

// Created is the payload of a session's own first event.
type Created struct {
	Key      string          `json:"key,omitempty"` // natural name; "" for none; never set on a fork
	Title    string          `json:"title,omitempty"`
	User     User            `json:"user,omitempty"`    // "" is Local, or the user of the Store's view
	Surface  string          `json:"surface,omitempty"` // cli, telegram, api, import, …
	Project  string          `json:"project,omitempty"` // absolute path of the git root, else the directory
	Cwd      string          `json:"cwd,omitempty"`     // absolute path
	Agent    string          `json:"agent,omitempty"`   // program or agent definition that answers: claude-code, codex, reviewer
	Profile  string          `json:"profile,omitempty"`
	Provider string          `json:"provider,omitempty"`
	Model    string          `json:"model,omitempty"`
	Parent   *Parent         `json:"parent,omitempty"`
	Origin   *Origin         `json:"origin,omitempty"` // nil if it was born here
	Config   json.RawMessage `json:"config,omitempty"`
	Program  string          `json:"program,omitempty"` // what wrote it: skein, claude-code
	Version  string          `json:"version,omitempty"` // of that program
}

// Why says how a session hangs on its parent.
type Why string

// The reasons for a parent. Only a Fork shows the parent's events as its own.
const (
	Fork         Why = "fork"
	Child        Why = "child"
	Continuation Why = "continuation"
)

// A Parent is where a session came from.
type Parent struct {
	Session SessionID `json:"session"`
	Seq     Seq       `json:"seq,omitempty"` // Fork: the last event of the parent that is shown, 1 or more; else where it began, 0 if not known
	Why     Why       `json:"why"`
	Call    string    `json:"call,omitempty"` // Child: ID of the parent's tool call; "" if not known
}

// IsFork reports whether p, which may be nil, is that of a fork.
func (p *Parent) IsFork() bool { return p != nil && p.Why == Fork }

// An Origin is the program and file that an imported session came from.
type Origin struct {
	Format  string `json:"format"`            // claude-code, codex, …: the name of an interop format
	Path    string `json:"path,omitempty"`    // file it was read from
	ID      string `json:"id,omitempty"`      // session's ID in that program
	Version string `json:"version,omitempty"` // of that program
}

// CallState is how far a tool call has come.
type CallState string

// The states of a tool call. Uncertain: it was running when its program died,
// so nobody knows whether it took effect.
const (
	Pending   CallState = "pending"
	Running   CallState = "running"
	Completed CallState = "completed"
	Failed    CallState = "error"
	Uncertain CallState = "uncertain"
)

// ToolState is the payload of a tool event. The call's input stands once, in
// its Call part, and its output once, in its Result part.
type ToolState struct {
	Call  string          `json:"call"` // ID of the Call part
	State CallState       `json:"state"`
	Title string          `json:"title,omitempty"`
	Start Time            `json:"start,omitzero"`
	End   Time            `json:"end,omitzero"`
	Child SessionID       `json:"child,omitempty"` // session that the call started
	Safe  bool            `json:"safe,omitempty"`  // it may be run again without harm
	Meta  json.RawMessage `json:"meta,omitempty"`
}

// A Step is the payload of a step event: the start or finish of one model
// request.
type Step struct {
	Phase    string     `json:"phase"` // start or finish
	Mode     string     `json:"mode,omitempty"`
	Prompt   string     `json:"prompt,omitempty"`  // SHA-256 of the system prompt, hexadecimal
	Tools    string     `json:"tools,omitempty"`   // SHA-256 of the tool list, hexadecimal
	Config   string     `json:"config,omitempty"`  // SHA-256 of what the agent was allowed, as in Created, which may be edited between two starts
	Kept     bool       `json:"kept,omitempty"`    // Prompt, Tools and Config are blobs of the store
	Request  string     `json:"request,omitempty"` // provider request ID: usage with the same one is counted once
	Provider string     `json:"provider,omitempty"`
	Model    string     `json:"model,omitempty"`
	Tier     string     `json:"tier,omitempty"` // as [ServiceTier]; "" for the usual one
	Usage    *Usage     `json:"usage,omitempty"`
	Several  bool       `json:"several,omitempty"` // Usage is of several requests, of whose prompts nothing is known
	Stop     string     `json:"stop,omitempty"`
	Error    *ErrorInfo `json:"error,omitempty"`
	Attempt  int        `json:"attempt,omitempty"` // 1 for the first
}

// By says who gave a title. A title holds until one of the same or a higher
// rank comes: person above model above source.
type By string

// Who can give a title.
const (
	ByPerson By = "person"
	ByModel  By = "model"
	BySource By = "source" // a summary or first words that another program stored
)

// Titled is the payload of a titled event.
type Titled struct {
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	By          By     `json:"by"`
}

// Changed is the payload of a changed event: what was set, to what. A nil
// field was not touched.
type Changed struct {
	Key      *string   `json:"key,omitempty"` // "" takes the key away
	Model    *string   `json:"model,omitempty"`
	Provider *string   `json:"provider,omitempty"`
	Agent    *string   `json:"agent,omitempty"`
	Profile  *string   `json:"profile,omitempty"`
	Project  *string   `json:"project,omitempty"`
	Cwd      *string   `json:"cwd,omitempty"`
	Pinned   *bool     `json:"pinned,omitempty"`
	Status   *string   `json:"status,omitempty"`
	Tags     *[]string `json:"tags,omitempty"` // all of them

	Config *json.RawMessage `json:"config,omitempty"` // as in Created, of the agent that answers from now on
}

// Compacted is the payload of a compacted event.
type Compacted struct {
	To      Seq             `json:"to"`                // covers the events up to this seq
	Summary string          `json:"summary,omitempty"` // what stands in their place
	Keep    []Seq           `json:"keep,omitempty"`    // messages of the user's among those events that stand word for word before the summary: the place of each one's first event
	Opaque  json.RawMessage `json:"opaque,omitempty"`  // a provider's own item in place of a summary
	Before  int64           `json:"before,omitempty"`  // tokens before; 0 if not known
	After   int64           `json:"after,omitempty"`   // tokens after; 0 if not known
	Trigger string          `json:"trigger,omitempty"` // auto, manual
	Failed  bool            `json:"failed,omitempty"`  // the attempt gave no summary; it covers nothing
}

// Rewound is the payload of a rewound event. The context is then exactly what
// it was right after To; a To later than the event rewound over is a redo.
type Rewound struct {
	To Seq `json:"to"` // 0 for the empty context
}

// Program is the payload of resumed and ended events.
type Program struct {
	Program string `json:"program,omitempty"`
	Version string `json:"version,omitempty"`
	Host    string `json:"host,omitempty"`
	How     string `json:"how,omitempty"` // how it ended: done, interrupted, error, …
}

// Amended is the payload of an amended event: a source record that its own
// program changed or removed after it was read.
type Amended struct {
	Seq       Seq             `json:"seq"`                 // the event that it is about
	Withdrawn bool            `json:"withdrawn,omitempty"` // it is gone
	Payload   json.RawMessage `json:"payload,omitempty"`   // what stands there now, of the same kind
}

// Noted is the payload of a noted event: anything else, kept whole.
type Noted struct {
	Name  string          `json:"name"`            // such as claude-code:progress, log, hook
	Level string          `json:"level,omitempty"` // debug, info, warning, error
	Data  json.RawMessage `json:"data,omitempty"`
}
