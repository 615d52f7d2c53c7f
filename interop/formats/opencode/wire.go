package opencode

import (
	"encoding/json"

	"github.com/skein-dev/skein"
)

// agentName is the program's agent that continues what is written.
const agentName = "build"

// What is written into the data columns, in the program's order.
type (
	modelRef struct {
		ID       string `json:"id"`
		Provider string `json:"providerID"`
	}
	userOut struct {
		Role  string   `json:"role"`
		Time  timeOut  `json:"time"`
		Agent string   `json:"agent"`
		Model *askedOf `json:"model,omitempty"`
	}
	timeOut struct {
		Created   int64 `json:"created"`
		Completed int64 `json:"completed,omitempty"`
	}
	answerOut struct {
		Parent   string    `json:"parentID"`
		Role     string    `json:"role"`
		Mode     string    `json:"mode"`
		Agent    string    `json:"agent"`
		Summary  bool      `json:"summary,omitempty"`
		Path     pathOut   `json:"path"`
		Cost     float64   `json:"cost"`
		Tokens   tokensOut `json:"tokens"`
		Model    string    `json:"modelID"`
		Provider string    `json:"providerID"`
		Time     timeOut   `json:"time"`
		Finish   string    `json:"finish,omitempty"`
		Error    *errorOut `json:"error,omitempty"`
	}
	pathOut struct {
		Cwd  string `json:"cwd"`
		Root string `json:"root"`
	}
	tokensOut struct {
		Total     int64 `json:"total"`
		Input     int64 `json:"input"`
		Output    int64 `json:"output"`
		Reasoning int64 `json:"reasoning"`
		Cache     struct {
			Write int64 `json:"write"`
			Read  int64 `json:"read"`
		} `json:"cache"`
	}
	errorOut struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	}

	markOut struct { // step-start
		Type string `json:"type"`
	}
	finishOut struct {
		Reason string    `json:"reason"`
		Type   string    `json:"type"`
		Tokens tokensOut `json:"tokens"`
		Cost   float64   `json:"cost"`
	}
	textOut struct {
		Type      string     `json:"type"`
		Text      skein.Text `json:"text"`
		Synthetic bool       `json:"synthetic,omitempty"`
		Time      *spanOut   `json:"time,omitempty"`
	}
	spanOut struct {
		Start int64 `json:"start"`
		End   int64 `json:"end"`
	}
	fileOut struct {
		ID      string `json:"id,omitempty"`
		Session string `json:"sessionID,omitempty"`
		Message string `json:"messageID,omitempty"`
		Type    string `json:"type"`
		Mime    string `json:"mime"`
		Name    string `json:"filename,omitempty"`
		URL     string `json:"url"`
	}
	agentOut struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}
	compactionOut struct {
		Type string `json:"type"`
		Auto bool   `json:"auto"`
	}
	toolOut struct {
		Type  string   `json:"type"`
		Tool  string   `json:"tool"`
		Call  string   `json:"callID"`
		State stateOut `json:"state"`
	}
	stateOut struct {
		Status   string          `json:"status"`
		Input    json.RawMessage `json:"input"`
		Output   *skein.Text     `json:"output,omitempty"`
		Error    *skein.Text     `json:"error,omitempty"`
		Metadata json.RawMessage `json:"metadata,omitempty"`
		Title    *string         `json:"title,omitempty"`
		Time     spanOut         `json:"time"`
		Files    []fileOut       `json:"attachments,omitempty"`
	}
)

// tokensOf returns a request's usage, as the program counts it.
func tokensOf(u skein.Usage) (t tokensOut) {
	t.Input, t.Output, t.Reasoning = u.Input, max(0, u.Output-u.Reasoning), u.Reasoning
	t.Cache.Read, t.Cache.Write = u.CacheRead, u.CacheWrite
	t.Total = u.Tokens()
	return t
}

// askedOf is the model that the user asked.
type askedOf struct {
	Provider string `json:"providerID"`
	Model    string `json:"modelID"`
}
