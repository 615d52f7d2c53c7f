package atif

import (
	"encoding/json"

	"github.com/skein-dev/skein"
)

// Version is the format's version that documents are written with.
const Version = "ATIF-v1.7"

// The shapes that are written; members are in the order of the specification.
type headOut struct {
	Version string    `json:"schema_version"`
	Session string    `json:"session_id"`
	ID      string    `json:"trajectory_id"`
	Agent   agentOut  `json:"agent"`
	Extra   *extraOut `json:"extra,omitempty"`
}

type agentOut struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Model   string `json:"model_name,omitempty"`
}

// An extraOut is skein's own part of an extra member.
type extraOut struct {
	Skein any `json:"skein,omitempty"`

	Context *contextOut `json:"context_management,omitempty"`
	Failed  bool        `json:"is_error,omitempty"`
}

type sessionOut struct {
	Title    string          `json:"title,omitempty"`
	Cwd      string          `json:"cwd,omitempty"`
	Project  string          `json:"project,omitempty"`
	Checkout *skein.Checkout `json:"checkout,omitempty"`
	Provider string          `json:"provider,omitempty"`
	Parent   string          `json:"parent,omitempty"`
	Call     string          `json:"call,omitempty"`
}

type saidOut struct {
	Role        string           `json:"role,omitempty"`
	Provider    string           `json:"provider,omitempty"`
	Stop        string           `json:"stop,omitempty"`
	Synthetic   bool             `json:"synthetic,omitempty"`
	Interrupted bool             `json:"interrupted,omitempty"`
	Error       *skein.ErrorInfo `json:"error,omitempty"`
}

type contextOut struct {
	Type     string `json:"type"`
	Boundary string `json:"boundary"`
	Before   int64  `json:"tokens_before,omitempty"`
	After    int64  `json:"tokens_after,omitempty"`
	Trigger  string `json:"trigger,omitempty"`
}

type stepOut struct {
	ID          int             `json:"step_id"`
	Time        string          `json:"timestamp,omitempty"`
	Source      string          `json:"source"`
	Model       string          `json:"model_name,omitempty"`
	Message     any             `json:"message"`
	Reasoning   skein.Text      `json:"reasoning_content,omitempty"`
	Calls       []callOut       `json:"tool_calls,omitempty"`
	Observation *observationOut `json:"observation,omitempty"`
	Metrics     *metricsOut     `json:"metrics,omitempty"`
	Copied      bool            `json:"is_copied_context,omitempty"`
	Extra       *extraOut       `json:"extra,omitempty"`
}

type callOut struct {
	ID        string          `json:"tool_call_id"`
	Name      string          `json:"function_name"`
	Arguments json.RawMessage `json:"arguments"`
}

type observationOut struct {
	Results []resultOut `json:"results"`
}

type resultOut struct {
	Call    string    `json:"source_call_id,omitempty"`
	Content any       `json:"content,omitempty"`
	Refs    []refOut  `json:"subagent_trajectory_ref,omitempty"`
	Extra   *extraOut `json:"extra,omitempty"`
}

type refOut struct {
	Session string `json:"session_id,omitempty"`
	Path    string `json:"trajectory_path"`
}

type partOut struct {
	Type   string      `json:"type"`
	Text   *skein.Text `json:"text,omitempty"`
	Source *sourceOut  `json:"source,omitempty"`
}

type sourceOut struct {
	Media string `json:"media_type"`
	Path  string `json:"path"`
}

type metricsOut struct {
	Prompt     int64           `json:"prompt_tokens"`
	Completion int64           `json:"completion_tokens"`
	Cached     int64           `json:"cached_tokens,omitempty"`
	Cost       float64         `json:"cost_usd,omitempty"`
	Extra      *metricExtraOut `json:"extra,omitempty"`
}

type metricExtraOut struct {
	Wrote     int64 `json:"cache_creation_input_tokens,omitempty"`
	Reasoning int64 `json:"reasoning_tokens,omitempty"`
}

type finalOut struct {
	Prompt     int64          `json:"total_prompt_tokens,omitempty"`
	Completion int64          `json:"total_completion_tokens,omitempty"`
	Cached     int64          `json:"total_cached_tokens,omitempty"`
	Cost       float64        `json:"total_cost_usd,omitempty"`
	Steps      int            `json:"total_steps"`
	Extra      *finalExtraOut `json:"extra,omitempty"`
}

type finalExtraOut struct {
	Wrote int64 `json:"total_cache_creation_input_tokens,omitempty"`
}

func metricsOf(u skein.Usage) *metricsOut {
	m := &metricsOut{Prompt: u.Prompt(), Completion: u.Output, Cached: u.CacheRead, Cost: float64(u.Reported) / 1e9}
	if u.CacheWrite != 0 || u.Reasoning != 0 {
		m.Extra = &metricExtraOut{u.CacheWrite, u.Reasoning}
	}
	return m
}

func finalOf(u skein.Usage, steps int) finalOut {
	m := finalOut{Prompt: u.Prompt(), Completion: u.Output, Cached: u.CacheRead, Cost: float64(u.Reported) / 1e9, Steps: steps}
	if u.CacheWrite != 0 {
		m.Extra = &finalExtraOut{u.CacheWrite}
	}
	return m
}
