package agentuse

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
)

type sessionFile struct {
	ID      string         `json:"id"`
	Parent  string         `json:"parentSessionID"`
	Agent   jsontext.Value `json:"agent"` // agentFile
	Model   string         `json:"model"` // PROVIDER:MODEL
	Version string         `json:"version"`
	Config  jsontext.Value `json:"config"`
	Project struct {
		Root string `json:"root"`
		Cwd  string `json:"cwd"`
	} `json:"project"`
	Status  string     `json:"status"`  // since 0.8
	Trigger string     `json:"trigger"` // since 0.14
	Error   *errorFile `json:"error"`   // since 0.7
	Time    struct {
		Created jsontext.Value `json:"created"`
		Updated jsontext.Value `json:"updated"`
	} `json:"time"`
}

type agentFile struct {
	ID   string `json:"id"` // since 0.8
	Name string `json:"name"`
}

type errorFile struct {
	Code    string         `json:"code"`
	Type    string         `json:"type"`
	Message string         `json:"message"`
	Detail  string         `json:"detail"`
	Status  jsontext.Value `json:"statusCode"`
	Time    jsontext.Value `json:"time"`
}

type messageFile struct {
	ID   string `json:"id"`
	Time struct {
		Created   jsontext.Value `json:"created"`
		Completed jsontext.Value `json:"completed"`
	} `json:"time"`
	User struct {
		Prompt struct {
			Task skein.Text `json:"task"`
			User skein.Text `json:"user"`
		} `json:"prompt"`
	} `json:"user"`
	Assistant struct {
		System   []skein.Text   `json:"system"`
		Model    string         `json:"modelID"` // PROVIDER:MODEL
		Provider string         `json:"providerID"`
		Tokens   tokens         `json:"tokens"`
		Cost     jsontext.Value `json:"cost"` // in dollars; 0 if it was not computed
		Error    *errorFile     `json:"error"`
	} `json:"assistant"`
}

// tokens are those of a whole exchange, or of a step of it. Input includes the cached ones.
type tokens struct {
	Input     jsontext.Value `json:"input"`
	Output    jsontext.Value `json:"output"`
	Reasoning jsontext.Value `json:"reasoning"`
	Cache     struct {
		Read  jsontext.Value `json:"read"`
		Write jsontext.Value `json:"write"`
	} `json:"cache"`
}

type partFile struct {
	ID         string         `json:"id"`
	Message    string         `json:"messageID"`
	Superseded bool           `json:"superseded"` // of an attempt that was rewound
	Type       string         `json:"type"`
	Text       skein.Text     `json:"text"`
	Role       string         `json:"role"`
	Synthetic  bool           `json:"synthetic"`
	Metadata   jsontext.Value `json:"metadata"`
	Time       span           `json:"time"`

	Call  string `json:"callID"`
	Outer string `json:"parentCallID"`
	Tool  string `json:"tool"`
	State state  `json:"state"`

	Level string `json:"level"` // log

	Tokens tokens         `json:"tokens"` // step-finish
	Cost   jsontext.Value `json:"cost"`

	Mime     string `json:"mime"` // file
	FileName string `json:"filename"`
	URL      string `json:"url"`
	Name     string `json:"name"` // agent
}

// A state is the state of a tool: pending, running, completed, error.
type state struct {
	Status    string         `json:"status"`
	Input     jsontext.Value `json:"input"`
	Output    jsontext.Value `json:"output"`
	Error     skein.Text     `json:"error"`
	Title     string         `json:"title"`
	Metadata  jsontext.Value `json:"metadata"`
	Time      span           `json:"time"`
	Suspended jsontext.Value `json:"suspendedAt"`
	Resume    jsontext.Value `json:"resumePayload"`
}

type span struct {
	Start jsontext.Value `json:"start"`
	End   jsontext.Value `json:"end"`
}

// An artifact is a tool's output in a file of its own.
type artifact struct {
	Kind string `json:"kind"` // tool-output
	Path string `json:"path"`
}
