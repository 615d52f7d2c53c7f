package agentuse

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
)

// session.json and message.json as they are written, in the program's order.
type (
	sessionOut struct {
		Parent  string    `json:"parentSessionID,omitempty"`
		Agent   agentOut  `json:"agent"`
		Model   string    `json:"model"`
		Version string    `json:"version"`
		Config  configOut `json:"config"`
		Project placeOut  `json:"project"`
		ID      string    `json:"id"`
		Status  string    `json:"status"`
		Trigger string    `json:"trigger"`
		Error   *errorOut `json:"error,omitempty"`
		Time    struct {
			Created int64 `json:"created"`
			Updated int64 `json:"updated"`
		} `json:"time"`
	}
	errorOut struct {
		Code    string     `json:"code,omitempty"`
		Message skein.Text `json:"message"`
		Time    int64      `json:"time"`
		Status  int        `json:"statusCode,omitempty"`
	}
	agentOut struct {
		ID          string     `json:"id"`
		Name        string     `json:"name"`
		Description skein.Text `json:"description,omitempty"`
		File        skein.Text `json:"filePath,omitempty"`
		Sub         bool       `json:"isSubAgent"`
	}
	configOut struct {
		Timeout  int64        `json:"timeout,omitempty"` // seconds
		MaxSteps int          `json:"maxSteps,omitempty"`
		Servers  []skein.Text `json:"mcpServers,omitempty"`
		Helpers  []helperOut  `json:"subagents,omitempty"`
	}
	helperOut struct {
		Path skein.Text `json:"path"`
		Name skein.Text `json:"name,omitempty"`
	}
	placeOut struct {
		Root string `json:"root"`
		Cwd  string `json:"cwd"`
	}
	messageOut struct {
		ID      string   `json:"id"`
		Session string   `json:"sessionID"`
		Time    timesOut `json:"time"`
		User    struct {
			Prompt struct {
				Task skein.Text `json:"task"`
				User skein.Text `json:"user,omitempty"`
			} `json:"prompt"`
		} `json:"user"`
		Assistant assistantOut `json:"assistant"`
	}
	timesOut struct {
		Created   int64 `json:"created"`
		Completed int64 `json:"completed"`
	}
	assistantOut struct {
		System   []skein.Text `json:"system"`
		Model    string       `json:"modelID"`
		Provider string       `json:"providerID"`
		Mode     string       `json:"mode"`
		Path     struct {
			Cwd  string `json:"cwd"`
			Root string `json:"root"`
		} `json:"path"`
		Cost   float64 `json:"cost"`
		Tokens struct {
			Input     int64 `json:"input"`
			Output    int64 `json:"output"`
			Reasoning int64 `json:"reasoning"`
			Cache     struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
	}
)

// session makes session.json.
func (w *writer) session() sessionOut {
	s := &w.d.Session
	out := sessionOut{
		Agent: agentOut{ID: w.agent(), Name: cmp.Or(s.Agent, "skein")},
		Model: modelOf(s), Version: version,
		Project: placeOut{cmp.Or(s.Project, s.Cwd), cmp.Or(s.Cwd, s.Project)}, ID: w.id, Status: w.status(), Trigger: "manual",
	}
	w.allowed(&out)
	if p := s.Parent; p != nil && p.Why == skein.Child {
		if spot, ok := w.d.Other(p.Session); ok {
			out.Parent, out.Agent.Sub = spot.ID, true
		}
	}
	if w.failed != nil {
		out.Error = &errorOut{w.failed.Kind, skein.Text(w.failed.Message), int64(max(s.Updated, s.Created)), w.failed.Status}
	}
	out.Time.Created, out.Time.Updated = int64(s.Created), max(int64(s.Updated), int64(s.Created))
	return out
}

// allowed writes what the agent of one of skein's own sessions was allowed, as far as
// the program has a place for it.
func (w *writer) allowed(out *sessionOut) {
	for _, e := range w.d.Events {
		if e.Kind != skein.KindCreated {
			continue
		}
		c, err := skein.Decode[skein.Created](e)
		if err != nil || c.Origin != nil || len(c.Config) == 0 {
			continue
		}
		var in struct {
			File        skein.Text                  `json:"agent_file"`
			Description skein.Text                  `json:"description"`
			Timeout     int64                       `json:"timeout_ms"`
			MaxSteps    int                         `json:"max_steps"`
			Servers     []struct{ Name skein.Text } `json:"mcp_servers"`
			Subagents   []helper                    `json:"subagents"`
		}
		if json.Unmarshal(c.Config, &in) != nil {
			continue // another program keeps other things there
		}
		out.Agent.Description, out.Agent.File = in.Description, in.File
		out.Config = configOut{Timeout: in.Timeout / 1000, MaxSteps: in.MaxSteps}
		for _, s := range in.Servers {
			out.Config.Servers = append(out.Config.Servers, s.Name)
		}
		for _, h := range in.Subagents {
			out.Config.Helpers = append(out.Config.Helpers, helperOut{cmp.Or(h.File, h.Name), h.Name})
		}
	}
}

// A helper is an agent to which another may delegate: a name or, in newer versions, a
// name and a file.
type helper struct {
	Name skein.Text `json:"name"`
	File skein.Text `json:"agent_file"`
}

func (h *helper) UnmarshalJSON(data []byte) error {
	type plain helper
	if json.Unmarshal(data, &h.Name) == nil {
		return nil
	}
	return json.Unmarshal(data, (*plain)(h))
}

// status returns the session's status.
func (w *writer) status() string {
	if w.failed != nil {
		return "error"
	}
	return "completed"
}

// failed returns the error that the conversation ended with; nil if it did not
// end with one.
func failed(entries []skein.Entry) *skein.ErrorInfo {
	for _, e := range slices.Backward(entries) {
		if e.Message.Role != skein.RoleSystem && !e.Rewound {
			return e.Message.Error
		}
	}
	return nil
}

// modelOf returns PROVIDER:MODEL.
func modelOf(s *skein.Session) string {
	return cmp.Or(s.Provider, "unknown") + ":" + cmp.Or(s.Model, "unknown")
}

// assistant makes the answer's part of message.json.
func (w *writer) assistant() (a assistantOut) {
	s := &w.d.Session
	a.System = w.system
	if len(a.System) == 0 {
		a.System = w.prompt()
	}
	a.Model, a.Provider, a.Mode = modelOf(s), cmp.Or(s.Provider, "unknown"), "build"
	a.Path.Cwd, a.Path.Root = cmp.Or(s.Cwd, s.Project), cmp.Or(s.Project, s.Cwd)
	u, t := s.Usage, &a.Tokens
	a.Cost = float64(u.Reported) / 1e9
	t.Input, t.Output, t.Reasoning = u.Prompt(), u.Output, u.Reasoning
	t.Cache.Read, t.Cache.Write = u.CacheRead, u.CacheWrite
	return a
}

// prompt returns the system prompt of the session's first request, if skein kept it.
func (w *writer) prompt() []skein.Text {
	for _, e := range w.d.Events {
		if e.Kind != skein.KindStep {
			continue
		}
		s, err := skein.Decode[skein.Step](e)
		if err != nil || !s.Kept || s.Prompt == "" {
			continue
		}
		if text, err := w.d.Blob(skein.Hash(s.Prompt)); err == nil {
			return []skein.Text{skein.Text(text)}
		}
	}
	return []skein.Text{}
}

// set returns data with the number at an existing JSON pointer replaced, and
// everything else unchanged.
func set(data []byte, pointer jsontext.Pointer, n int64) ([]byte, bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		if tok.Kind() != '0' || dec.StackPointer() != pointer {
			continue
		}
		end := dec.InputOffset()
		begin := end - int64(len(tok.String()))
		out := append([]byte{}, data[:begin]...)
		return append(strconv.AppendInt(out, n, 10), data[end:]...), true
	}
}
